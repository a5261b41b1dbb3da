package traffic

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// boundedReader fails after limit bytes, unless refill is called before the next entry. So it bounds
// the memory for a document of any length.
type boundedReader struct {
	r           io.Reader
	limit, left int   // bytes for an entry, and those left of them
	lines       int   // newlines read so far
	failed      error // error of r other than io.EOF
}

// refill allows limit further bytes.
func (p *boundedReader) refill() { p.left = p.limit }

// Read reads at most p.left bytes.
func (p *boundedReader) Read(b []byte) (int, error) {
	if p.left == 0 {
		return 0, fmt.Errorf("longer than %d bytes", p.limit)
	}
	n, err := p.r.Read(b[:min(len(b), p.left)])
	p.left -= n
	p.lines += bytes.Count(b[:n], []byte("\n"))
	if err != nil && err != io.EOF {
		p.failed = err
	}
	return n, err
}

// enterFields advances dec to the value of a field of nested objects: names log and entries for the
// list in {"log": {"entries": […]}}. In the error, what names the kind of document.
func enterFields(dec *json.Decoder, what string, names ...string) error {
	missing := fmt.Errorf("not %s: no %s", what, strings.Join(names, "."))
	for _, name := range names {
		if t, err := dec.Token(); err != nil || t != json.Delim('{') {
			return missing
		}
		for {
			if !dec.More() {
				return missing
			}
			t, err := dec.Token()
			if err != nil {
				return err
			}
			if t == name {
				break
			}
			var skipped json.RawMessage
			if err := dec.Decode(&skipped); err != nil {
				return err
			}
		}
	}
	return nil
}

// leaveFields reads the rest of a document. A repeated field or a further document is an error. A
// missing end is not, as the value has been read.
func leaveFields(dec *json.Decoder, in *boundedReader, names ...string) error {
	line := func() int {
		rest, _ := io.ReadAll(dec.Buffered()) // it cannot fail
		return 1 + in.lines - bytes.Count(rest, []byte("\n"))
	}
	failed := func(err error) error { // nil for an early end
		if in.failed == nil && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
			return nil
		}
		return cmp.Or(in.failed, fmt.Errorf("line %d: %w", line(), err))
	}
	for depth := len(names); depth > 0; depth-- {
		in.refill()
		for dec.More() {
			name, err := dec.Token()
			if err == nil && name == names[depth-1] {
				return fmt.Errorf("line %d: a second %s", line(), strings.Join(names[:depth], "."))
			}
			if err == nil {
				err = skipValue(dec, in)
			}
			if err != nil {
				return failed(err)
			}
			in.refill()
		}
		if _, err := dec.Token(); err != nil {
			return failed(err)
		}
	}
	n := line()
	for rest := bufio.NewReader(io.MultiReader(dec.Buffered(), in)); ; in.refill() {
		switch c, err := rest.ReadByte(); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case c == '\n':
			n++
		case c != ' ' && c != '\t' && c != '\r':
			return fmt.Errorf("line %d: something follows the document, which is one a file", n)
		}
	}
}

// skipValue reads a value of any length.
func skipValue(dec *json.Decoder, in *boundedReader) error {
	for depth := 0; ; {
		in.refill()
		t, err := dec.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// plainError returns err without the names of Go's types: "request.headers.value is an array, not
// text".
func plainError(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	want := "a number"
	switch wrong.Type.Kind() {
	case reflect.String:
		want = "text"
	case reflect.Bool:
		want = "true or false"
	case reflect.Slice, reflect.Array:
		want = "an array"
	case reflect.Struct, reflect.Map, reflect.Pointer:
		want = "an object"
	}
	got := map[string]string{"array": "an array", "object": "an object", "string": "text", "bool": "true or false"}[wrong.Value]
	return fmt.Errorf("%s is %s, not %s", cmp.Or(wrong.Field, "it"), cmp.Or(got, "a number"), want) // Value of a number has its digits
}
