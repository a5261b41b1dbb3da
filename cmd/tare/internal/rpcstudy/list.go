package rpcstudy

import (
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
)

// Call is a method with the messages that the study sends and receives.
type Call struct {
	Method   string    `json:"method"` // id in a study
	Path     string    `json:"path"`   // path in gRPC and Connect
	Requests []Request `json:"requests"`
	Answer   Message   `json:"answer"` // answer to every request
}

// Request is a request message in every encoding.
type Request struct {
	Message
	Gateway GatewayRequest `json:"gateway"`
}

// Message is a message in protocol buffers and in JSON.
type Message struct {
	Bytes int             `json:"bytes"` // size in protocol buffers
	JSON  json.RawMessage `json:"json"`
}

// GatewayRequest is a request to the gateway.
type GatewayRequest struct {
	Method string          `json:"method"`
	Path   string          `json:"path"` // path with the query
	Body   json.RawMessage `json:"body,omitempty"`
}

func newMessage(m proto.Message) (Message, error) {
	text, err := toJSON(m)
	return Message{Bytes: proto.Size(m), JSON: text}, err
}

// Calls returns the requests of each method, in every encoding, and its response.
func (d *Document) Calls() ([]Call, error) {
	var out []Call
	for _, m := range d.Methods {
		c := Call{Method: m.ID, Path: m.Path()}
		for _, q := range m.requests {
			message, err := newMessage(q)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.ID, err)
			}
			path, body, err := m.rule.encode(q)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.ID, err)
			}
			c.Requests = append(c.Requests, Request{message, GatewayRequest{m.rule.method, path, body}})
		}
		var err error
		if c.Answer, err = newMessage(m.answer); err != nil {
			return nil, fmt.Errorf("%s: %w", m.ID, err)
		}
		out = append(out, c)
	}
	return out, nil
}

// FormatCalls returns calls as text.
func FormatCalls(calls []Call) string {
	var b strings.Builder
	for _, c := range calls {
		for i, q := range c.Requests {
			if i > 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "%s\n  grpc, connect  POST %s, %d B, as JSON %s\n  gateway        %s %s", c.Method, c.Path, q.Bytes, q.JSON, q.Gateway.Method, q.Gateway.Path)
			if q.Gateway.Body != nil {
				fmt.Fprintf(&b, ", %s", q.Gateway.Body)
			}
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "  answer         %d B, as JSON %s\n", c.Answer.Bytes, c.Answer.JSON)
	}
	return b.String()
}
