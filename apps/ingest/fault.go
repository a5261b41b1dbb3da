package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// describeFault says in one line why a decoder rejected a body: record, field, value, expected value and
// position. It uses encoding/json, so that the text is the same for every decoder. body may be nil.
func (s *Service) describeFault(h Head, body []byte) string {
	const noBatch = "the body is not a batch of records" // default text
	format, ok := mediaType(h.ContentType)
	switch {
	case !ok || body == nil:
		return noBatch
	case format != JSON:
		return noBatch + " as " + string(format)
	}
	if len(bytes.TrimLeft(body, " \t\r\n")) == 0 {
		return "the body is empty; expected is an array of records"
	}
	var records []json.RawMessage
	var syntax *json.SyntaxError
	var wrongType *json.UnmarshalTypeError
	switch err := json.Unmarshal(body, &records); {
	case errors.As(err, &syntax):
		return fmt.Sprintf("the body is not JSON: %v, at byte %d", syntax, syntax.Offset)
	case errors.As(err, &wrongType):
		return fmt.Sprintf("the body is %s; expected is an array of records", nounPhrase(wrongType.Value))
	case err != nil:
		return noBatch
	}
	for i, raw := range records {
		if text := s.recordFault(raw); text != "" {
			return fmt.Sprintf("record %d of %d: %s; the record begins at byte %d", i+1, len(records), text, elementStart(body, i))
		}
	}
	return "the body is an array of records, which this server's decoder does not accept: look for a key that occurs twice, or text that is not UTF-8"
}

// elementStart returns the position, from 1, at which element i of a JSON array begins. It returns 0 for an
// invalid array.
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
	offset := d.InputOffset()
	rest := array[offset:]
	separator := len(rest) - len(bytes.TrimLeft(rest, ", \t\r\n"))
	return offset + int64(separator) + 1
}

func (s *Service) recordFault(raw []byte) string {
	var wrongType *json.UnmarshalTypeError
	var r struct {
		ID        string          `json:"id"`
		Timestamp json.RawMessage `json:"timestamp"`
		Metadata  json.RawMessage `json:"metadata"`
	}
	switch err := json.Unmarshal(raw, &r); {
	case errors.As(err, &wrongType) && wrongType.Field == "":
		return fmt.Sprintf("it is %s; expected is an object", nounPhrase(wrongType.Value))
	case errors.As(err, &wrongType):
		return fmt.Sprintf("%s is %s; expected is %s", wrongType.Field, nounPhrase(wrongType.Value), expectedNoun(wrongType.Type))
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
	if !errors.As(err, &wrongType) {
		return ""
	}
	field := "metadata"
	if wrongType.Field != "" {
		field += "." + wrongType.Field
	}
	return fmt.Sprintf("%s is %s; expected is %s", field, nounPhrase(wrongType.Value), expectedNoun(wrongType.Type))
}

func quoteValue(raw []byte) string {
	const maxQuoted = 40
	if len(raw) <= maxQuoted && !bytes.ContainsAny(raw, "\r\n") {
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

// nounPhrase puts a value of [json.UnmarshalTypeError] into words.
func nounPhrase(value string) string {
	const maxQuoted = 40
	if number, ok := strings.CutPrefix(value, "number "); ok {
		if len(number) > maxQuoted {
			number = number[:maxQuoted] + "…"
		}
		return "the number " + number
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

func expectedNoun(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.String:
		return "a text"
	case t.Kind() == reflect.Int:
		return "an integer"
	case t.Kind() == reflect.Float64:
		return "a number"
	case t.Kind() == reflect.Bool:
		return "true or false"
	}
	return "an object"
}
