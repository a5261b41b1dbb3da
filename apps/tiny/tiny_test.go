package tiny_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"testing"

	"github.com/tarebench/tare/apps/tiny"
)

func Example() {
	status, contentType, body := tiny.Answer("GET", "/v1/id/7")
	fmt.Println(status, contentType, len(body))
	fmt.Printf("%s", body)
	status, _, _ = tiny.Answer("POST", "/v1/id/7")
	fmt.Println(status)
	// Output:
	// 200 application/json 11
	// {"id":"7"}
	// 405
}

func TestAnswer(t *testing.T) {
	for _, c := range []struct {
		method, path string
		status       int
		body         string
	}{
		{"GET", "/health", 200, "ok\n"},
		{"GET", "/health?verbose=1", 200, "ok\n"},
		{"GET", "/v1/id/42", 200, "{\"id\":\"42\"}\n"},
		{"GET", "/v1/id/42?x=/y", 200, "{\"id\":\"42\"}\n"},
		{"GET", "/v1/id/a%20b", 200, "{\"id\":\"a b\"}\n"},
		{"GET", "/v1/id/a+b", 200, "{\"id\":\"a+b\"}\n"},
		{"GET", "/v1/id/%25", 200, "{\"id\":\"%\"}\n"},
		{"GET", "/v1/id/%22%5C", 200, `{"id":"\"\\"}` + "\n"},
		{"GET", "/v1/id/%C3%A9", 200, "{\"id\":\"é\"}\n"},
		{"GET", "/v1/id/a%2Fb", 200, "{\"id\":\"a/b\"}\n"},
		{"GET", "/v1/%69d/7", 200, "{\"id\":\"7\"}\n"},
		{"GET", "/v1/id/%2525", 200, "{\"id\":\"%25\"}\n"},
		{"GET", "/v1/id/%zz", 400, ""},
		{"GET", "v1/id/7", 404, ""},
		{"GET", "/v1/id/", 404, ""},
		{"GET", "/v1/id", 404, ""},
		{"GET", "/v1/id/a/b", 404, ""},
		{"GET", "/v1/id/a/", 404, ""},
		{"GET", "/v2/id/a", 404, ""},
		{"GET", "/", 404, ""},
		{"GET", "/healthy", 404, ""},
		{"POST", "/v1/id/7", 405, ""},
		{"DELETE", "/v1/id/7", 405, ""},
		{"POST", "/health", 405, ""},
		{"POST", "/v1/id/", 404, ""},
		{"POST", "/v1/id/a/b", 404, ""},
	} {
		status, contentType, body := tiny.Answer(c.method, c.path)
		if status != c.status || string(body) != c.body {
			t.Errorf("%s %s: %d %q, want %d %q", c.method, c.path, status, body, c.status, c.body)
		}
		if want := map[bool]string{true: "", false: contentType}[status != 200]; contentType != want || status == 200 && contentType == "" {
			t.Errorf("%s %s: content type %q with %d", c.method, c.path, contentType, status)
		}
	}
}

// Whatever an id is, it comes back.
func FuzzAnswer(f *testing.F) {
	f.Add("7")
	f.Add("a/b")
	f.Add("\x00\u2028<&>\"")
	f.Fuzz(func(t *testing.T, id string) {
		status, _, body := tiny.Answer("GET", tiny.Prefix+url.PathEscape(id))
		if id == "" {
			if status != 404 {
				t.Fatalf("no id: %d", status)
			}
			return
		}
		var got struct{ ID string }
		if err := json.Unmarshal(body, &got); status != 200 || err != nil || body[len(body)-1] != '\n' {
			t.Fatalf("%q: %d %q, %v", id, status, body, err)
		}
		if want := string([]rune(id)); got.ID != want { // what is not UTF-8 is replaced
			t.Errorf("%q came back as %q", id, got.ID)
		}
	})
}
