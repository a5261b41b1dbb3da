package openapi

import (
	"bytes"
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

// content is a body in a content type.
type content struct {
	kind          string
	media, schema *node // of a form of OpenAPI 2, media is nil
}

// addBody adds the body of an operation to its request: in the first of its content
// types in which there is an example.
func (r *Requests) addBody(q *Request, op Operation, list []parameter) error {
	contents, required, err := r.bodyContents(op, list)
	if err != nil {
		return err
	}
	var first error
	for _, c := range contents {
		err := r.writeContent(q, c, list)
		if err == nil {
			return nil
		}
		if first == nil || isMissing(first) {
			first = err
		}
	}
	switch {
	case first == nil && required:
		return &missing{of: "the body"}
	case isMissing(first) && !required:
		return nil
	}
	return first
}

// bodyContents returns the content types that the body of an operation can have, in the order
// of the document, and whether a body is required.
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
		return nil, false, &missing{"the body", why}
	}
	if kinds := body.get("content"); kinds != nil && kinds.kind == mapping {
		for _, f := range kinds.fields {
			r.cost += costOfNode
			out = append(out, content{f.name, f.value, f.value.get("schema")})
		}
	}
	return out, body.get("required").isTrue(), nil
}

// swaggerContents is bodyContents for OpenAPI 2, whose bodies and forms are parameters.
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
	consumes := op.body.get("consumes")
	if consumes == nil {
		consumes = r.doc.root.get("consumes")
	}
	for _, f := range consumes.items() {
		kind := f.value.scalar()
		media := mediaOf(kind)
		switch {
		case body != nil:
			out = append(out, content{kind, body.node, body.schema})
		case media == multiparts, media == urlencoded && !hasFile:
			out = append(out, content{kind: kind})
		}
	}
	if len(out) == 0 && required {
		return nil, required, errors.New("consumes names no content type of the body")
	}
	return out, required, nil
}

// writeContent writes the body in one content type.
func (r *Requests) writeContent(q *Request, c content, list []parameter) error {
	media, kind := mediaOf(c.kind), c.kind
	if strings.Contains(media, "*") {
		return fmt.Errorf("the body has the content type %s, which is none that can be sent", c.kind)
	}
	var body []byte
	var err error
	if c.media == nil {
		body, kind, err = r.writeFields(c.kind, list)
	} else {
		var v *node
		if v, err = r.findExample(c.media, c.schema, "the body"); err != nil {
			return err
		}
		switch {
		case media == urlencoded && v.kind == mapping, media == multiparts && v.kind == mapping:
			body, kind, err = r.writeForm(c.kind, v, c)
		default:
			body, err = writeBody(c.kind, v, r.typesOf(c.schema))
		}
	}
	if err != nil && !isMissing(err) {
		err = fmt.Errorf("the example of %s: %w", c.kind, err)
	}
	if err != nil {
		return err
	}
	q.Body = body
	q.Header = slices.DeleteFunc(q.Header, func(h [2]string) bool { return strings.EqualFold(h[0], "Content-Type") })
	q.Header = append(q.Header, [2]string{"Content-Type", kind})
	return nil
}

// writeBody writes an example as a body of a content type: JSON, or the text as written.
func writeBody(kind string, v *node, t typeSet) ([]byte, error) {
	if !isJSON(kind) {
		if v.kind == list || v.kind == mapping || v.kind == null {
			return nil, fmt.Errorf("it is %s, and not the text of a body", v.kind)
		}
		return []byte(v.text), nil
	}
	if v.kind == text && !t.isString() {
		// OpenAPI 3.0, Media Type Object: a body that is JSON may be written as its text.
		if b := bytes.TrimSpace([]byte(v.text)); len(b) > 0 && (b[0] == '{' || b[0] == '[') && json.Valid(b) {
			return []byte(v.text), nil
		} else if t.isCollection() {
			return nil, errors.New("it is text, and not JSON")
		}
	}
	var out bytes.Buffer
	err := writeJSON(&out, v, t)
	return out.Bytes(), err
}

// writeJSON writes a value as JSON: with the digits that it has in the document, and
// texts if the schema says so.
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
		return writeAll(out, v, t)
	}
	return nil
}

// writeAll writes a list or a mapping.
func writeAll(out *bytes.Buffer, v *node, t typeSet) error {
	ends := "[]"
	if v.kind == mapping {
		ends = "{}"
	}
	out.WriteByte(ends[0])
	for i, f := range v.fields {
		if i > 0 {
			out.WriteByte(',')
		}
		of := t.items
		if v.kind == mapping {
			out.Write(quoteJSON(f.name))
			out.WriteByte(':')
			of = func() typeSet { return t.property(f.name) }
		}
		if err := writeJSON(out, f.value, of()); err != nil {
			return err
		}
	}
	out.WriteByte(ends[1])
	return nil
}

func quoteJSON(s string) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string and a buffer: it cannot fail
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// jsonNumber returns a number of YAML as one of JSON. Numbers that begin with a zero are
// texts in most documents (0123 is 83 in YAML 1.1, and 123 in 1.2): they are numbers only
// if the schema says so.
func jsonNumber(s string, isNumber bool) (string, bool) {
	plain := strings.TrimPrefix(s, "+")
	sign, digits := "", plain
	if d, ok := strings.CutPrefix(plain, "-"); ok {
		sign, digits = "-", d
	}
	if len(digits) > 1 && strings.Trim(digits, "0123456789") == "" && digits[0] == '0' {
		if digits = strings.TrimLeft(digits, "0"); digits == "" {
			digits = "0"
		}
		return sign + digits, isNumber
	}
	if n, err := strconv.ParseInt(digits, 0, 64); err == nil && len(digits) > 2 && strings.IndexByte("xob", digits[1]|0x20) >= 0 {
		return sign + strconv.FormatInt(n, 10), true
	}
	if strings.HasPrefix(digits, ".") {
		digits = "0" + digits
	}
	whole, fraction, ok := strings.Cut(digits, ".")
	if ok && strings.TrimLeft(fraction, "0123456789") == fraction { // 1. and 1.e3
		digits = whole + fraction
	}
	return sign + digits, json.Valid([]byte(sign + digits))
}

// writeForm writes the fields of a form, and returns its content type.
func (r *Requests) writeForm(kind string, v *node, c content) (body []byte, kindSent string, err error) {
	form := newForm(kind)
	t := r.typesOf(c.schema)
	encoding := c.media.get("encoding")
	for _, f := range v.fields {
		if f.value.kind == null {
			continue
		}
		e := encoding.get(f.name)
		p := parameter{name: f.name, in: "query", node: e}
		p.style, p.explode, p.reserved = styleOf(e, "query")
		isStyled := e.get("style") != nil || e.get("explode") != nil || e.get("allowReserved") != nil
		if err := form.addField(p, f.value, t.property(f.name), e.get("contentType").scalar(), isStyled); err != nil {
			return nil, "", err
		}
	}
	return form.finish()
}

// writeFields writes the form of an operation of OpenAPI 2.
func (r *Requests) writeFields(kind string, list []parameter) (body []byte, kindSent string, err error) {
	form, found := newForm(kind), false
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
		p.in = "query"
		if err := form.addField(p, v, r.typesOf(p.schema), "", true); err != nil {
			return nil, "", err
		}
	}
	if !found {
		return nil, "", &missing{of: "the body"}
	}
	return form.finish()
}

// form is a form being written: URL-encoded, or multipart if parts are not nil.
type form struct {
	kind  string
	out   output
	parts []part
}

// part is a field of a multipart form.
type part struct {
	name, kind string
	isFile     bool
	body       []byte
}

func newForm(kind string) *form {
	f := &form{kind: kind, out: output{max: maxRequest}}
	if mediaOf(kind) == multiparts {
		f.parts = []part{}
	}
	return f
}

// addField adds a field. kind is the content type of a part; "" selects one by the field's
// type.
func (f *form) addField(p parameter, v *node, t typeSet, kind string, isStyled bool) error {
	if f.parts != nil {
		return f.addParts(p.name, v, t, kind)
	}
	if v.kind == mapping && !isStyled {
		return fmt.Errorf("%s is a mapping, and no style says how a form has it", p.name)
	}
	pairs, err := p.expand(v)
	if err != nil {
		return err
	}
	if f.out.addPairs(pairs, "&"); f.out.isFull {
		return fmt.Errorf("longer than %d bytes", maxRequest)
	}
	return nil
}

// addParts adds a part, or one for each item of a list (OpenAPI 3.0, Special
// Considerations for multipart Content).
func (f *form) addParts(name string, v *node, t typeSet, kind string) error {
	if v.kind == list && !isJSON(kind) {
		for _, item := range v.fields {
			if err := f.addParts(name, item.value, t.items(), kind); err != nil {
				return err
			}
		}
		return nil
	}
	first, _, _ := strings.Cut(kind, ",")
	p := part{name: name, kind: strings.TrimSpace(first), isFile: t.isFile()}
	switch {
	case p.kind != "" && !strings.Contains(p.kind, "*"):
	case v.kind == mapping:
		p.kind = "application/json"
	case p.isFile:
		p.kind = "application/octet-stream"
	default:
		p.kind = "text/plain"
	}
	var err error
	if isJSON(p.kind) || v.kind == list || v.kind == mapping {
		p.body, err = writeBody(p.kind, v, t)
	} else {
		p.body = []byte(v.text)
	}
	f.parts = append(f.parts, p)
	return err
}

// finish returns the form and its content type.
func (f *form) finish() ([]byte, string, error) {
	if f.parts == nil {
		return f.out.text, f.kind, nil
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
		if p.isFile || p.kind != "text/plain" {
			head.Set("Content-Type", escape.Replace(p.kind))
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

// findBoundary returns a boundary that is in none of the parts. It is the same for the same
// form.
func (f *form) findBoundary() string {
	for i := 0; ; i++ {
		b := "tare-part-" + strconv.Itoa(i)
		found := false
		for _, p := range f.parts {
			found = found || bytes.Contains(p.body, []byte(b))
		}
		if !found {
			return b
		}
	}
}
