package rpcstudy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"
)

// Limits of a file of messages.
const (
	MostData    = 64 << 20 // bytes
	maxRequests = 10_000   // values
)

// example is one value of a file of messages:
//
//	{"method": "Get", "request": {"id": "7"}, "response": {"name": "Ada"}}
type example struct {
	Method   string          `json:"method"`
	Request  json.RawMessage `json:"request"`
	Response json.RawMessage `json:"response"`
}

// Fill reads messages of methods from src, a file of JSON values (see example). Methods that are not in
// the file use generated messages. The argument name is the file's name in errors.
func (d *Document) Fill(name string, src []byte) error {
	position := func(offset int64) string {
		before := src[:min(max(offset, 0), int64(len(src)))]
		return fmt.Sprintf("%s:%d:%d", name, 1+bytes.Count(before, []byte("\n")), len(before)-bytes.LastIndexByte(before, '\n'))
	}
	if len(src) > MostData {
		return fmt.Errorf("%s: more than %d MB", name, MostData>>20)
	}
	hasResponse := map[*Method]bool{} // methods with a response in the file
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.DisallowUnknownFields()
	for n := 0; ; n++ {
		start := dec.InputOffset()
		start += int64(len(src[start:]) - len(bytes.TrimLeft(src[start:], " \t\r\n"))) // after white space
		var e example
		err := dec.Decode(&e)
		switch {
		case errors.Is(err, io.EOF) && n == 0:
			return fmt.Errorf(`%s:1:1: there is nothing in it; a line is e.g. {"method": "Get", "request": {"id": "7"}}`, name)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", position(errorOffset(err, start, int64(len(src)))), trimJSONError(err))
		case n == maxRequests:
			return fmt.Errorf("%s: more than %d values", position(start), maxRequests)
		}
		m, err := d.findMethod(e.Method)
		if err == nil {
			err = m.addExample(e, hasResponse)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", position(start), err)
		}
	}
}

func errorOffset(err error, start, end int64) int64 {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return max(syntax.Offset-1, 0)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return end
	}
	return start
}

func trimJSONError(err error) error {
	var typed *json.UnmarshalTypeError
	switch {
	case errors.As(err, &typed):
		return fmt.Errorf("a value is an object with method, request and response, not %s", typed.Value)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the file ends too early")
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

// findMethod returns the method with a name: its id, or pkg.Service/Method.
func (d *Document) findMethod(name string) (*Method, error) {
	var ids []string
	for _, m := range d.Methods {
		isPath := strings.TrimPrefix(name, "/") == strings.TrimPrefix(m.Path(), "/")
		if name == m.ID || isPath {
			return m, nil
		}
		ids = append(ids, m.ID)
	}
	if name == "" {
		return nil, errors.New("the value names no method; it has " + strings.Join(ids, ", "))
	}
	return nil, fmt.Errorf("no method %q is measured; these are: %s", name, strings.Join(ids, ", "))
}

// addExample adds the messages of an example. A second response must be equal, as the server gives one.
func (m *Method) addExample(e example, hasResponse map[*Method]bool) error {
	if e.Request == nil && e.Response == nil {
		return errors.New("the value has neither request nor response")
	}
	if e.Request != nil {
		q := dynamicpb.NewMessage(m.desc.Input())
		if err := parseMessage(e.Request, q); err != nil {
			return fmt.Errorf("request: %w", err)
		}
		if _, _, err := m.rule.encode(q); err != nil { // the gateway must be able to send it
			return fmt.Errorf("request: %s %s of the gateway: %w", m.rule.method, m.rule.template, err)
		}
		if !m.userRequests { // the first of the user's requests replaces the generated one
			m.requests = nil
		}
		m.requests, m.userRequests = append(m.requests, q), true
	}
	if e.Response == nil {
		return nil
	}
	response := dynamicpb.NewMessage(m.desc.Output())
	if err := parseMessage(e.Response, response); err != nil {
		return fmt.Errorf("response: %w", err)
	}
	if hasResponse[m] && !proto.Equal(response, m.answer) {
		return fmt.Errorf("%s has another response already, and answers each request with the same", m.ID)
	}
	m.answer, hasResponse[m] = response, true
	return nil
}

// parseMessage parses JSON. Positions in errors count from the start of the value.
func parseMessage(text []byte, m *dynamicpb.Message) error {
	if err := protojson.Unmarshal(text, m); err != nil {
		fault := strings.ReplaceAll(err.Error(), "\u00a0", " ")
		return fmt.Errorf("not a %s: %s", m.Descriptor().FullName(), strings.TrimPrefix(fault, "proto: "))
	}
	_, err := marshalMessage(m)
	return err
}
