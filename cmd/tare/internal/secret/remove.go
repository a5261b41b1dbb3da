package secret

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/url"
	"strings"
)

// RemoveFromQuery removes the parameters with secret names, such as token, from the query of a path or URL,
// and returns their number. The rest stays unchanged.
func RemoveFromQuery(target string) (string, int) {
	path, query, ok := strings.Cut(target, "?")
	if !ok {
		return target, 0
	}
	query, fragment, hasFragment := strings.Cut(query, "#")
	var kept []string
	n := 0
	for pair := range strings.FieldsFuncSeq(query, isSeparator) {
		if isSecretPair(pair) {
			n++
			continue
		}
		kept = append(kept, pair)
	}
	if n == 0 {
		return target, 0
	}
	if len(kept) > 0 {
		path += "?" + strings.Join(kept, "&")
	}
	if hasFragment {
		path += "#" + fragment
	}
	return path, n
}

func isSeparator(r rune) bool { return r == '&' || r == ';' }

// isSecretPair reports whether name=value, percent-encoded, has a secret name.
func isSecretPair(pair string) bool {
	name, _, _ := strings.Cut(pair, "=")
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	return IsName(name)
}

// EmptyInBody empties the values of fields with secret names in a form (URL-encoded or
// multipart) and in JSON, and returns their number. kind is the content type, which may be wrong: a
// body that looks like JSON or a form is treated as such. Other bodies stay unchanged.
func EmptyInBody(kind string, body []byte) ([]byte, int) {
	media, params, err := mime.ParseMediaType(kind)
	switch {
	case err == nil && media == "multipart/form-data" && params["boundary"] != "":
		return emptyInMultipart(params["boundary"], body)
	case isJSON(body):
		return emptyInJSON(body)
	case err == nil && media == "application/x-www-form-urlencoded", isForm(body):
		return emptyInForm(body)
	}
	return body, 0
}

// isJSON reports whether body begins like a JSON object or array.
func isJSON(body []byte) bool {
	start := bytes.TrimSpace(body)
	return len(start) > 0 && (start[0] == '{' || start[0] == '[')
}

// isForm reports whether body is name=value pairs without white space, like forms.
func isForm(body []byte) bool {
	return bytes.IndexByte(body, '=') > 0 && !bytes.ContainsAny(body, " \t\r\n<>\"{}\x00")
}

func emptyInForm(body []byte) ([]byte, int) {
	n := 0
	pairs := strings.Split(string(body), "&")
	for i, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		if value != "" && isSecretPair(pair) {
			pairs[i], n = name+"=", n+1
		}
	}
	if n == 0 {
		return body, 0
	}
	return []byte(strings.Join(pairs, "&")), n
}

// emptyInMultipart empties the parts with secret names. It changes no other bytes.
func emptyInMultipart(boundary string, body []byte) ([]byte, int) {
	n := 0
	parts := bytes.Split(body, []byte("--"+boundary))
	for i, part := range parts {
		head, value, ok := bytes.Cut(part, []byte("\r\n\r\n"))
		if !ok || !isSecretPart(head) {
			continue
		}
		if value = bytes.TrimSuffix(value, []byte("\r\n")); len(value) > 0 {
			const emptyValue = "\r\n\r\n" + "\r\n" // end of the head, end of the value
			parts[i], n = append(bytes.Clone(head), emptyValue...), n+1
		}
	}
	if n == 0 {
		return body, 0
	}
	return bytes.Join(parts, []byte("--"+boundary)), n
}

// isSecretPart reports whether the head of a part names a secret field.
func isSecretPart(head []byte) bool {
	for line := range strings.SplitSeq(string(head), "\r\n") {
		name, value, _ := strings.Cut(line, ":")
		if !strings.EqualFold(name, "Content-Disposition") {
			continue
		}
		_, params, err := mime.ParseMediaType(value)
		return err == nil && IsName(params["name"])
	}
	return false
}

// emptyInJSON replaces the value of each member with a secret name by "", at any depth. All
// other bytes stay unchanged, including those after a syntax error.
func emptyInJSON(body []byte) ([]byte, int) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber() // otherwise 1e999 would be an error
	type level struct {
		object  bool // this is an object; otherwise an array
		atValue bool // the name of a member was read, and its value is next
	}
	var levels []level // objects and arrays around the current token
	var out []byte     // body[:done] with the values replaced
	n, done := 0, 0
	for {
		token, err := dec.Token()
		if err != nil {
			break
		}
		if d, ok := token.(json.Delim); ok {
			if d == '{' || d == '[' {
				levels = append(levels, level{object: d == '{'})
				continue
			}
			levels = levels[:len(levels)-1]
		}
		if len(levels) == 0 {
			continue
		}
		top := &levels[len(levels)-1]
		if !top.object {
			continue
		}
		if _, isEnd := token.(json.Delim); isEnd || top.atValue { // the value of a member is complete
			top.atValue = false
			continue
		}
		name, _ := token.(string)
		if top.atValue = true; !IsName(name) {
			continue
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			break
		}
		top.atValue = false
		if text := string(value); text == `""` || text == "null" {
			continue
		}
		end := int(dec.InputOffset())
		out = append(append(out, body[done:end-len(value)]...), `""`...)
		n, done = n+1, end
	}
	if n == 0 {
		return body, 0
	}
	return append(out, body[done:]...), n
}
