package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// fault says in one line what is wrong with a body that a decoder did not accept:
// the record, its field, and what is expected there. It is the same whoever the
// decoder was, since the body is decoded once more here. Only what is refused pays
// for that.
func fault(h Head, body []byte) string {
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
		return fmt.Sprintf("the body is %s; expected is an array of records", noun(kind.Value))
	case err != nil:
		return whole
	}
	for i, raw := range records {
		var r Record
		if err := json.Unmarshal(raw, &r); err != nil {
			return fmt.Sprintf("record %d of %d: %s", i+1, len(records), recordFault(err))
		}
	}
	return "the body is an array of records, which this server's decoder does not accept: look for a key that occurs twice, or text that is not UTF-8"
}

// recordFault says what is wrong with a record.
func recordFault(err error) string {
	var kind *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &kind): // the only other type that decodes itself
		return "timestamp is no date and time; expected is a text such as 2026-03-01T12:00:00Z (RFC 3339)"
	case kind.Field == "":
		return fmt.Sprintf("it is %s; expected is an object", noun(kind.Value))
	}
	return fmt.Sprintf("%s is %s; expected is %s", kind.Field, noun(kind.Value), expected(kind.Type))
}

// noun is a kind of value in the words of encoding/json, with its article.
func noun(value string) string {
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

// expected is what JSON has to be for a Go type.
func expected(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "a date and time"
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
