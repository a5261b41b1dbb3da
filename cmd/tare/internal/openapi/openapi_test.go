package openapi

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// describe returns the requests of a document in words, one a line, and why there is none
// of an operation.
func describe(t *testing.T, name, src string) string {
	t.Helper()
	d, err := Read(name, []byte(src))
	if err != nil {
		t.Fatalf("%.200s: %v", src, err)
	}
	var out []string
	r := NewRequests(d)
	for _, op := range d.Operations {
		q, err := r.Make(op)
		if err != nil {
			out = append(out, fmt.Sprintf("%s %s: %v", op.Method, op.Path, err))
			continue
		}
		line := q.Method + " " + q.Path
		for _, h := range q.Header {
			line += " " + h[0] + "=" + h[1]
		}
		if len(q.Body) > 0 {
			line += " " + string(q.Body)
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func TestCase(t *testing.T) {
	src, err := os.ReadFile("testdata/api.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := `GET /api/v2/users/42?ids=1&ids=2&filter%5Bage%5D=5&filter%5Bname%5D=ada&since=2026-01-02&big=12345678901234567890&ratio=1000000.0&zip=01234 X-Ids=a,b Cookie=sid=c00kie
POST /api/v2/login Content-Type=application/x-www-form-urlencoded user=ada&pass=a%26b
POST /api/v2/xml: the example of application/xml: it is a mapping, and not the text of a body
POST /other/pets Content-Type=application/json {"name":"Rex","age":3}
GET /api/v2/list/a,b%20c`
	if got := describe(t, "api.yaml", string(src)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
