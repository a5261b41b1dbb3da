package rpcstudy

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
)

// List returns a text with the requests of each method, in every encoding, and its response.
func (d *Document) List() (string, error) {
	var b strings.Builder
	for _, m := range d.Methods {
		for i, q := range m.requests {
			path, body, err := m.rule.encode(q)
			if err != nil {
				return "", fmt.Errorf("%s: %w", m.ID, err)
			}
			text, err := toJSON(q)
			if err != nil {
				return "", fmt.Errorf("%s: %w", m.ID, err)
			}
			if i > 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "%s\n  grpc, connect  POST %s, %d B, as JSON %s\n  gateway        %s %s", m.ID, m.Path(), proto.Size(q), text, m.rule.method, path)
			if body != nil {
				fmt.Fprintf(&b, ", %s", body)
			}
			b.WriteByte('\n')
		}
		text, err := toJSON(m.answer)
		if err != nil {
			return "", fmt.Errorf("%s: %w", m.ID, err)
		}
		fmt.Fprintf(&b, "  answer         %d B, as JSON %s\n", proto.Size(m.answer), text)
	}
	return b.String(), nil
}
