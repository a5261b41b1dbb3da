package openapi

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Bounds of a request in bytes.
const (
	maxPath    = 1 << 20
	maxRequest = 64 << 20
)

// Request is a request that an operation describes.
type Request struct {
	Method string
	Path   string // escaped, with the query
	Header [][2]string
	Body   []byte
}

// Requests builds the requests of a document from its examples. If something is missing, it returns an
// error and never guesses.
type Requests struct {
	doc      *Document
	cost     int                     // work so far, in bytes of examples that take as long to read
	examples map[*node]schemaExample // composed examples by schema
}

// NewRequests returns a builder of the requests of d.
func NewRequests(d *Document) *Requests {
	return &Requests{doc: d, examples: map[*node]schemaExample{}}
}

// IsSpent reports whether the examples read so far exceed the bound of a document.
func (r *Requests) IsSpent() bool { return r.cost > maxExamples }

// Make returns the request of an operation, with its parameters and its body.
func (r *Requests) Make(op Operation) (Request, error) {
	q := Request{Method: op.Method}
	body, why := r.resolve(op.body)
	switch {
	case why != "":
		return q, errors.New(why)
	case body.kind != mapping && body.kind != null:
		return q, fmt.Errorf("the operation is %s, not a mapping", body.kind)
	}
	op.body = body
	list, err := r.readParameters(op)
	if err != nil {
		return q, err
	}
	if q.Path, err = r.fillPath(op.Path, list); err != nil {
		return q, err
	}
	if err := r.addParameters(&q, list); err != nil {
		return q, err
	}
	err = r.addBody(&q, op, list)
	return q, err
}

// addParameters adds the parameters of the query, the headers and the cookies. It omits optional ones
// without an example.
func (r *Requests) addParameters(q *Request, list []parameter) error {
	query, cookies := output{max: maxRequest}, output{max: maxRequest}
	for _, p := range list {
		if p.in == "path" || p.in == "body" || p.in == "formData" || r.isIgnored(p) {
			continue
		}
		v, err := r.findExample(p.node, p.schema, p.name)
		if isMissing(err) && !p.required {
			continue
		}
		if err != nil {
			return err
		}
		pairs, err := p.expand(v)
		if err != nil {
			return err
		}
		header := output{max: maxRequest}
		switch p.in {
		case "query":
			query.addPairs(pairs, "&")
		case "cookie":
			cookies.addPairs(pairs, "; ")
		default:
			header.addPairs(pairs, "")
			q.Header = append(q.Header, [2]string{p.name, string(header.text)})
		}
		if query.isFull || cookies.isFull || header.isFull {
			return fmt.Errorf("the example of %s makes a request of more than %d bytes", p.name, maxRequest)
		}
	}
	if len(query.text) > 0 {
		separator := "?"
		if strings.Contains(q.Path, "?") {
			separator = "&"
		}
		q.Path += separator + string(query.text)
	}
	if len(cookies.text) > 0 {
		q.Header = append(q.Header, [2]string{"Cookie", string(cookies.text)})
	}
	return nil
}

// isIgnored reports whether OpenAPI 3 describes the header elsewhere (Parameter Object), e.g. by the
// content types of the body.
func (r *Requests) isIgnored(p parameter) bool {
	switch strings.ToLower(p.name) {
	case "accept", "content-type", "authorization":
		return p.in == "header" && !r.doc.swagger
	}
	return false
}

type parameter struct {
	node     *node // description, which may have examples
	schema   *node // may be nil
	name     string
	in       string // path, query, header or cookie; in OpenAPI 2 also body and formData
	required bool
	style    string // how the value is written, e.g. form, simple or deepObject; see expand
	explode  bool   // each item of a list or mapping is written separately
	reserved bool   // reserved characters are not escaped

	contentType string  // format of the value, e.g. application/json; "" if style applies
	types       typeSet // types of the value, if contentType is not ""
}

// readParameters returns the parameters of the operation, which replace those of the path.
func (r *Requests) readParameters(op Operation) (list []parameter, err error) {
	indices := map[[2]string]int{}                                                 // indices in list, by name and place
	for _, owner := range slices.Backward(append([]*node{op.body}, op.items...)) { // the operation comes last
		parameters, err := owner.listField("parameters")
		if err != nil {
			return nil, err
		}
		for _, f := range parameters {
			r.cost += costOfNode
			n, why := r.resolve(f.value)
			if why != "" {
				return nil, errors.New("a parameter: " + why)
			}
			p, err := r.readParameter(n)
			if err != nil {
				return nil, fmt.Errorf("parameter %s: %w", p.name, err)
			}
			if err := r.checkPlace(p); err != nil {
				return nil, err
			}
			if i, ok := indices[[2]string{p.name, p.in}]; ok {
				list[i] = p
				continue
			}
			indices[[2]string{p.name, p.in}] = len(list)
			list = append(list, p)
		}
	}
	return list, nil
}

// checkPlace rejects places that the document's version does not have.
func (r *Requests) checkPlace(p parameter) error {
	switch p.in {
	case "path", "query", "header":
		return nil
	case "cookie":
		if !r.doc.swagger {
			return nil
		}
	case "body", "formData":
		if r.doc.swagger {
			return nil
		}
	}
	return fmt.Errorf("parameter %s: in: %q is no place of a parameter", p.name, p.in)
}

// readParameter reads a parameter, with the defaults of its place.
func (r *Requests) readParameter(n *node) (p parameter, err error) {
	p = parameter{node: n, schema: n.get("schema"), name: n.get("name").scalar(), in: n.get("in").scalar()}
	if p.required, err = n.boolField("required", false); err != nil {
		return p, err
	}
	if r.doc.swagger {
		if p.in != "body" { // the parameter is its own schema
			p.schema = n
		}
		p.style, p.explode = styleOfCollection(n, p.in)
		return p, nil
	}
	if p.style, p.explode, p.reserved, err = styleOf(n, p.in); err != nil {
		return p, err
	}
	if content := n.get("content"); content != nil && content.kind == mapping && len(content.fields) > 0 {
		format := content.fields[0] // the only one
		p.contentType, p.node, p.schema = format.name, format.value, format.value.get("schema")
		p.types = r.typesOf(p.schema)
	}
	return p, nil
}

func (r *Requests) fillPath(path string, list []parameter) (string, error) {
	if strings.Contains(path, "#") {
		return "", errors.New("a path with # cannot be requested")
	}
	out := output{max: maxPath}
	for {
		literal, rest, isOpened := strings.Cut(path, "{")
		name, after, isClosed := strings.Cut(rest, "}")
		if !isOpened || !isClosed {
			break
		}
		path = after
		i := slices.IndexFunc(list, func(p parameter) bool { return p.in == "path" && p.name == name })
		if i < 0 {
			return "", &missing{subject: name}
		}
		v, err := r.findExample(list[i].node, list[i].schema, name)
		if err != nil {
			return "", err
		}
		pairs, err := list[i].expand(v)
		if err != nil {
			return "", err
		}
		out.addLiteral(literal)
		before := len(out.text)
		out.addPairs(pairs, "")
		switch {
		case out.isFull:
			return "", fmt.Errorf("the example of %s makes a path of more than %d bytes", name, maxPath)
		case len(out.text) == before:
			return "", fmt.Errorf("the example of %s is empty", name)
		}
	}
	out.addLiteral(path)
	if out.isFull {
		return "", fmt.Errorf("a path of more than %d bytes", maxPath)
	}
	return string(out.text), nil
}

// output is a buffer of at most max bytes.
type output struct {
	text   []byte
	max    int
	isFull bool // a text did not fit; it and all further ones are dropped
}

func (o *output) add(s string) {
	o.isFull = o.isFull || len(o.text)+len(s) > o.max
	if !o.isFull {
		o.text = append(o.text, s...)
	}
}

// addPairs adds pairs with a separator before all but the first text.
func (o *output) addPairs(pairs []pair, separator string) {
	for _, p := range pairs {
		if len(o.text) > 0 && separator != "" {
			o.add(separator)
		}
		p.write(o)
		if o.isFull {
			return
		}
	}
}

// addLiteral adds a part of a path, and escapes what a path cannot have.
func (o *output) addLiteral(s string) {
	o.addSafe(s, func(i int) bool {
		isEscape := s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2])
		return isEscape || isUnreserved(s[i]) || strings.IndexByte("!$&'()*+,;=:@/?", s[i]) >= 0
	})
}

// addEscaped adds a value with escapes. If reserved is set, it escapes only those reserved characters
// that have a meaning in a query.
func (o *output) addEscaped(s string, reserved bool) {
	o.addSafe(s, func(i int) bool {
		return isUnreserved(s[i]) || reserved && strings.IndexByte("!$'()*,;:@/?", s[i]) >= 0
	})
}

// addSafe adds s, and escapes the bytes at indices for which isSafe returns false.
func (o *output) addSafe(s string, isSafe func(i int) bool) {
	const digits = "0123456789ABCDEF"
	start := 0
	for i := range len(s) {
		if isSafe(i) {
			continue
		}
		o.add(s[start:i])
		o.add(string([]byte{'%', digits[s[i]>>4], digits[s[i]&15]}))
		if o.isFull {
			return
		}
		start = i + 1
	}
	o.add(s[start:])
}

// isHex reports whether c is a hexadecimal digit. c|0x20 is the lower case of a letter.
func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// isUnreserved returns true for characters that need no escape in a URL (RFC 3986, section 2.3).
func isUnreserved(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '-' || c == '.' || c == '_' || c == '~'
}

func mediaType(contentType string) string {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(media))
}

// isJSON reports whether a content type is JSON, also with a suffix as in application/problem+json.
func isJSON(contentType string) bool {
	media := mediaType(contentType)
	return media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json")
}
