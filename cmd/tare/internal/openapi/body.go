package openapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
)

const (
	urlencoded = "application/x-www-form-urlencoded"
	multiparts = "multipart/form-data"
)

// content is a content type of an operation's body.
type content struct {
	contentType string // e.g. application/json; charset=utf-8
	description *node  // may have examples; nil for a form of OpenAPI 2, whose fields are parameters
	schema      *node  // may be nil
}

// addBody adds the body in the first content type that has an example. Without any, it returns a
// *missing if the body is required.
func (r *Requests) addBody(q *Request, op Operation, list []parameter) error {
	contents, required, err := r.bodyContents(op, list)
	if err != nil {
		return err
	}
	var firstErr error // the first error that is not a *missing, else the last error
	for _, c := range contents {
		err := r.writeContent(q, c, list)
		if err == nil {
			return nil
		}
		if firstErr == nil || isMissing(firstErr) {
			firstErr = err
		}
	}
	switch {
	case firstErr == nil && required:
		return &missing{subject: "the body"}
	case isMissing(firstErr) && !required:
		return nil
	}
	return firstErr
}

// bodyContents returns the content types in the order of the document.
func (r *Requests) bodyContents(op Operation, list []parameter) (out []content, required bool, err error) {
	if r.doc.swagger {
		return r.swaggerContents(op, list)
	}
	body := op.body.get("requestBody")
	if body == nil {
		return nil, false, nil
	}
	body, why := r.resolve(body)
	if why != "" {
		return nil, false, &missing{subject: "the body", why: why}
	}
	if required, err = body.boolField("required", false); err != nil {
		return nil, false, fmt.Errorf("the body: %w", err)
	}
	types := body.get("content")
	if !types.isNull() && types.kind != mapping {
		return nil, false, fmt.Errorf("the body: content is %s, not a mapping", types.kind)
	}
	if types != nil {
		for _, f := range types.fields {
			r.cost += costOfNode
			out = append(out, content{contentType: f.name, description: f.value, schema: f.value.get("schema")})
		}
	}
	return out, required, nil
}

// swaggerContents is bodyContents for OpenAPI 2, whose bodies and fields of forms are parameters. A
// form with a file is always multipart.
func (r *Requests) swaggerContents(op Operation, list []parameter) (out []content, required bool, err error) {
	var body *parameter
	isForm, hasFile := false, false
	for i, p := range list {
		switch p.in {
		case "body":
			body, required = &list[i], p.required
		case "formData":
			isForm, required = true, required || p.required
			hasFile = hasFile || p.node.get("type").scalar() == "file"
		}
	}
	if body == nil && !isForm {
		return nil, false, nil
	}
	owner := op.body
	if owner.get("consumes") == nil {
		owner = r.doc.root
	}
	consumes, err := owner.listField("consumes")
	if err != nil {
		return nil, required, err
	}
	for _, f := range consumes {
		contentType := f.value.scalar()
		media := mediaType(contentType)
		switch {
		case body != nil:
			out = append(out, content{contentType: contentType, description: body.node, schema: body.schema})
		case media == multiparts, media == urlencoded && !hasFile:
			out = append(out, content{contentType: contentType})
		}
	}
	if len(out) > 0 {
		return out, required, nil
	}
	// No content type fits. That matters only if the body is required or has an example.
	for _, p := range list {
		if p.in != "body" && p.in != "formData" {
			continue
		}
		_, err := r.findExample(p.node, p.schema, p.name)
		hasExample := !isMissing(err)
		if required || hasExample {
			return nil, required, errors.New("consumes names no content type of the body")
		}
	}
	return nil, required, nil
}

func (r *Requests) writeContent(q *Request, c content, list []parameter) error {
	media, sentType := mediaType(c.contentType), c.contentType
	if strings.Contains(media, "*") {
		return fmt.Errorf("the body has the content type %s, which cannot be sent", c.contentType)
	}
	var body []byte
	var err error
	if c.description == nil {
		body, sentType, err = r.writeFields(c.contentType, list)
	} else {
		var v *node
		if v, err = r.findExample(c.description, c.schema, "the body"); err != nil {
			return err
		}
		isForm := media == urlencoded || media == multiparts
		if isForm && v.kind == mapping {
			body, sentType, err = r.writeForm(v, c)
		} else {
			body, err = writeBody(c.contentType, v, r.typesOf(c.schema))
		}
	}
	if err != nil && !isMissing(err) {
		err = fmt.Errorf("the example of %s: %w", c.contentType, err)
	}
	if err != nil {
		return err
	}
	q.Body = body
	q.Header = slices.DeleteFunc(q.Header, func(h [2]string) bool { return strings.EqualFold(h[0], "Content-Type") })
	q.Header = append(q.Header, [2]string{"Content-Type", sentType})
	return nil
}

// writeBody returns an example as JSON or as text.
func writeBody(contentType string, v *node, t typeSet) ([]byte, error) {
	if !isJSON(contentType) {
		if isCollection(v) || v.kind == null {
			return nil, fmt.Errorf("it is %s, and not the text of a body", v.kind)
		}
		return []byte(v.text), nil
	}
	if v.kind == text && !t.isString() {
		// OpenAPI 3.0, Media Type Object: a body that is JSON may be written as its text.
		b := bytes.TrimSpace([]byte(v.text))
		if len(b) > 0 && (b[0] == '{' || b[0] == '[') && json.Valid(b) {
			return []byte(v.text), nil
		}
		if t.isCollection() {
			return nil, errors.New("it is text, and not JSON")
		}
	}
	var out bytes.Buffer
	err := writeJSON(&out, v, t)
	return out.Bytes(), err
}

// writeJSON writes a value as JSON. Numbers keep the digits that they have in the document. Numbers and
// booleans become texts if the schema has type string.
func writeJSON(out *bytes.Buffer, v *node, t typeSet) error {
	switch v.kind {
	case null:
		out.WriteString("null")
	case text:
		out.Write(quoteJSON(v.text))
	case boolean:
		if t.isString() {
			out.Write(quoteJSON(v.text))
		} else {
			out.WriteString(strings.ToLower(v.text))
		}
	case number:
		if digits, ok := jsonNumber(v.text, t.isNumber()); ok && !t.isString() {
			out.WriteString(digits)
		} else if t.isNumber() {
			return fmt.Errorf("%s is no number of JSON", v.text)
		} else {
			out.Write(quoteJSON(v.text))
		}
	case list, mapping:
		return writeCollection(out, v, t)
	}
	return nil
}

func writeCollection(out *bytes.Buffer, v *node, t typeSet) error {
	brackets := "[]"
	if v.kind == mapping {
		brackets = "{}"
	}
	out.WriteByte(brackets[0])
	for i, f := range v.fields {
		if i > 0 {
			out.WriteByte(',')
		}
		var types typeSet
		if v.kind == mapping {
			out.Write(quoteJSON(f.name))
			out.WriteByte(':')
			types = t.property(f.name)
		} else {
			types = t.items()
		}
		if err := writeJSON(out, f.value, types); err != nil {
			return err
		}
	}
	out.WriteByte(brackets[1])
	return nil
}

func quoteJSON(s string) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string and a buffer: it cannot fail
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// jsonNumber returns a number of YAML as a number of JSON: 0x1f becomes 31, and .5 becomes 0.5. It
// returns false for other texts. Numbers that begin with a zero are texts in most documents (0123 is 83
// in YAML 1.1, and 123 in 1.2). They are numbers only if isNumber is set, for a schema whose type is a
// number.
func jsonNumber(s string, isNumber bool) (string, bool) {
	sign, digits := "", strings.TrimPrefix(s, "+")
	if d, ok := strings.CutPrefix(digits, "-"); ok {
		sign, digits = "-", d
	}
	isDecimal := strings.Trim(digits, "0123456789") == ""
	if len(digits) > 1 && isDecimal && digits[0] == '0' {
		digits = cmp.Or(strings.TrimLeft(digits, "0"), "0")
		return sign + digits, isNumber
	}
	hasBase := len(digits) > 2 && strings.IndexByte("xobXOB", digits[1]) >= 0 // 0x1f, 0o17, 0b11
	if n, err := strconv.ParseInt(digits, 0, 64); err == nil && hasBase {
		return sign + strconv.FormatInt(n, 10), true
	}
	if strings.HasPrefix(digits, ".") {
		digits = "0" + digits
	}
	integer, fraction, ok := strings.Cut(digits, ".")
	if ok && strings.TrimLeft(fraction, "0123456789") == fraction { // 1. and 1.e3: no digit after the point
		digits = integer + fraction
	}
	return sign + digits, json.Valid([]byte(sign + digits))
}

// writeForm returns a form and its content type, with the boundary of a multipart form.
func (r *Requests) writeForm(v *node, c content) (body []byte, sentType string, err error) {
	form := newForm(c.contentType)
	t := r.typesOf(c.schema)
	encoding := c.description.get("encoding")
	for _, f := range v.fields {
		if f.value.kind == null {
			continue
		}
		settings := encoding.get(f.name)
		p := parameter{name: f.name, in: "query", node: settings} // a form is written like a query
		if p.style, p.explode, p.reserved, err = styleOf(settings, "query"); err != nil {
			return nil, "", fmt.Errorf("%s: %w", f.name, err)
		}
		isStyled := settings.get("style") != nil || settings.get("explode") != nil || settings.get("allowReserved") != nil
		if err := form.addField(p, f.value, t.property(f.name), settings.get("contentType").scalar(), isStyled); err != nil {
			return nil, "", err
		}
	}
	return form.finish()
}

// writeFields is writeForm for OpenAPI 2, whose fields are parameters.
func (r *Requests) writeFields(contentType string, list []parameter) (body []byte, sentType string, err error) {
	form, found := newForm(contentType), false
	for _, p := range list {
		if p.in != "formData" {
			continue
		}
		v, err := r.findExample(p.node, p.schema, p.name)
		if isMissing(err) && !p.required {
			continue
		}
		if err != nil {
			return nil, "", err
		}
		found = true
		p.in = "query" // a form is written like a query
		if err := form.addField(p, v, r.typesOf(p.schema), "", true); err != nil {
			return nil, "", err
		}
	}
	if !found {
		return nil, "", &missing{subject: "the body"}
	}
	return form.finish()
}

type form struct {
	contentType string
	out         output // text of a URL-encoded form
	parts       []part // parts of a multipart form; nil if the form is URL-encoded
}

// part is a field of a multipart form.
type part struct {
	name, contentType string
	isFile            bool
	body              []byte
}

func newForm(contentType string) *form {
	f := &form{contentType: contentType, out: output{max: maxRequest}}
	if mediaType(contentType) == multiparts {
		f.parts = []part{}
	}
	return f
}

// addField adds a field. It may become several parts of a multipart form. isStyled means that the
// document sets the style.
func (f *form) addField(p parameter, v *node, t typeSet, contentType string, isStyled bool) error {
	if f.parts != nil {
		return f.addParts(p.name, v, t, contentType)
	}
	if v.kind == mapping && !isStyled {
		return fmt.Errorf("%s is a mapping, and no style sets how a form has it", p.name)
	}
	pairs, err := p.expand(v)
	if err != nil {
		return err
	}
	f.out.addPairs(pairs, "&")
	if f.out.isFull {
		return fmt.Errorf("longer than %d bytes", maxRequest)
	}
	return nil
}

// addParts adds parts of a multipart form, one for each item of a list (OpenAPI 3.0, Special
// Considerations for multipart Content).
func (f *form) addParts(name string, v *node, t typeSet, contentType string) error {
	if v.kind == list && !isJSON(contentType) {
		for _, item := range v.fields {
			if err := f.addParts(name, item.value, t.items(), contentType); err != nil {
				return err
			}
		}
		return nil
	}
	firstType, _, _ := strings.Cut(contentType, ",") // the document can list several types
	p := part{name: name, contentType: strings.TrimSpace(firstType), isFile: t.isFile()}
	switch {
	case p.contentType != "" && !strings.Contains(p.contentType, "*"): // the document names one type
	case v.kind == mapping:
		p.contentType = "application/json"
	case p.isFile:
		p.contentType = "application/octet-stream"
	default:
		p.contentType = "text/plain"
	}
	var err error
	if isJSON(p.contentType) || isCollection(v) {
		p.body, err = writeBody(p.contentType, v, t)
	} else {
		p.body = []byte(v.text)
	}
	f.parts = append(f.parts, p)
	return err
}

func (f *form) finish() ([]byte, string, error) {
	if f.parts == nil {
		return f.out.text, f.contentType, nil
	}
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	if err := w.SetBoundary(f.findBoundary()); err != nil {
		return nil, "", err
	}
	escape := strings.NewReplacer(`"`, "%22", "\r", "%0D", "\n", "%0A")
	for _, p := range f.parts {
		head := textproto.MIMEHeader{}
		disposition := fmt.Sprintf(`form-data; name="%s"`, escape.Replace(p.name))
		if p.isFile {
			disposition += fmt.Sprintf(`; filename="%s"`, escape.Replace(p.name))
		}
		head.Set("Content-Disposition", disposition)
		if p.isFile || p.contentType != "text/plain" {
			head.Set("Content-Type", escape.Replace(p.contentType))
		}
		w, err := w.CreatePart(head)
		if err == nil {
			_, err = w.Write(p.body)
		}
		if err != nil {
			return nil, "", err
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	return out.Bytes(), w.FormDataContentType(), nil
}

// findBoundary returns a boundary that no part contains, the same for equal forms.
func (f *form) findBoundary() string {
	for i := 0; ; i++ {
		boundary := "tare-part-" + strconv.Itoa(i)
		if !slices.ContainsFunc(f.parts, func(p part) bool { return bytes.Contains(p.body, []byte(boundary)) }) {
			return boundary
		}
	}
}
