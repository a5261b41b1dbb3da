package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// describeFault describes in one line a fault of a body that a decoder did not accept: the record,
// its field, the value, the expected one, and where the record begins. It does not depend on the
// decoder, since it decodes the body again. Only rejected bodies cost that.
func (s *Service) describeFault(h Head, body []byte) string {
	const whole = "the body is not a batch of records"
	format, ok := mediaType(h.ContentType)
	switch {
	case !ok || body == nil:
		return whole
	case format != JSON:
		return whole + " as " + string(format)
	}
	if len(bytes.TrimLeft(body, " \t\r\n")) == 0 {
		return "the body is empty; expected is an array of records"
	}
	var records []json.RawMessage
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch err := json.Unmarshal(body, &records); {
	case errors.As(err, &syntax):
		return fmt.Sprintf("the body is not JSON: %v, at byte %d", syntax, syntax.Offset)
	case errors.As(err, &kind):
		return fmt.Sprintf("the body is %s; expected is an array of records", nounPhrase(kind.Value))
	case err != nil:
		return whole
	}
	for i, raw := range records {
		if text := s.recordFault(raw); text != "" {
			return fmt.Sprintf("record %d of %d: %s; the record begins at byte %d", i+1, len(records), text, elementStart(body, i))
		}
	}
	return "the body is an array of records, which this server's decoder does not accept: look for a key that occurs twice, or text that is not UTF-8"
}

// elementStart returns where an element of an array begins, in bytes from 1.
func elementStart(array []byte, i int) int64 {
	d := json.NewDecoder(bytes.NewReader(array))
	_, err := d.Token()
	for range i {
		var raw json.RawMessage
		err = errors.Join(err, d.Decode(&raw))
	}
	if err != nil {
		return 0
	}
	at := d.InputOffset()
	return at + int64(len(array[at:])-len(bytes.TrimLeft(array[at:], ", \t\r\n"))) + 1
}

// recordFault returns what is wrong with a record; "" if nothing.
func (s *Service) recordFault(raw []byte) string {
	var kind *json.UnmarshalTypeError
	var r struct {
		ID        string          `json:"id"`
		Timestamp json.RawMessage `json:"timestamp"`
		Metadata  json.RawMessage `json:"metadata"`
	}
	switch err := json.Unmarshal(raw, &r); {
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Sprintf("it is %s; expected is an object", nounPhrase(kind.Value))
	case errors.As(err, &kind):
		return fmt.Sprintf("%s is %s; expected is %s", kind.Field, nounPhrase(kind.Value), expectedNoun(kind.Type))
	}
	if len(r.Timestamp) > 0 && new(Time).UnmarshalJSON(r.Timestamp) != nil {
		return fmt.Sprintf("timestamp is %s; expected is a number of seconds since 1970, e.g. 1460616245, or a text of RFC 3339, e.g. 2016-04-14T06:44:05Z", quoteValue(r.Timestamp))
	}
	if len(r.Metadata) == 0 {
		return ""
	}
	if !s.typed {
		if new(Raw).UnmarshalJSON(r.Metadata) != nil {
			return fmt.Sprintf("metadata is %s; expected is an object", quoteValue(r.Metadata))
		}
		return ""
	}
	err := json.Unmarshal(r.Metadata, new(Metadata))
	if !errors.As(err, &kind) {
		return ""
	}
	field := "metadata"
	if kind.Field != "" {
		field += "." + kind.Field
	}
	return fmt.Sprintf("%s is %s; expected is %s", field, nounPhrase(kind.Value), expectedNoun(kind.Type))
}

// quoteValue returns a value as it was sent if it is short, and else its kind.
func quoteValue(raw []byte) string {
	const longest = 40
	if len(raw) <= longest && !bytes.ContainsAny(raw, "\r\n") {
		return string(raw)
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a long text"
	}
	return "a long number"
}

// nounPhrase returns a kind of value of encoding/json with its article.
func nounPhrase(value string) string {
	const longest = 40 // of a number that is quoted
	switch number, is := strings.CutPrefix(value, "number "); {
	case is && len(number) <= longest:
		return "the number " + number
	case is:
		return "the number " + number[:longest] + "…"
	}
	switch value {
	case "array", "object":
		return "an " + value
	case "bool":
		return "true or false"
	case "string":
		return "a text"
	}
	return "a " + value
}

// expectedNoun returns the JSON value for a Go type, in words.
func expectedNoun(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.String:
		return "a text"
	case t.Kind() == reflect.Int:
		return "a whole number"
	case t.Kind() == reflect.Float64:
		return "a number"
	case t.Kind() == reflect.Bool:
		return "true or false"
	}
	return "an object"
}
