package cli_test

import (
	"os"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// TestOpenAPI: tare routes and tare load read one document alike, and send what it states.
func TestOpenAPI(t *testing.T) {
	const file = "../openapi/testdata/api.yaml"
	if c, want := callTare(t, "", "routes", file, "--list"), "GET /api/v2/list/{ids}\nPOST /api/v2/login\nGET /api/v2/users/{id}\nPOST /api/v2/xml\nPOST /other/pets\n"; c.code != cmdenv.ExitOK || c.out != want || c.errors != "" {
		t.Errorf("exit code %d\n%s%s", c.code, c.out, c.errors)
	}
	const want = `GET /api/v2/users/42?ids=1&ids=2&filter%5Bage%5D=5&filter%5Bname%5D=ada&since=2026-01-02&big=12345678901234567890&ratio=1000000.0&zip=01234
  X-Ids: a,b
POST /api/v2/login
  Content-Type: application/x-www-form-urlencoded

  user=ada&pass=a%26b
POST /other/pets
  Content-Type: application/json

  {"name":"Rex","age":3}
GET /api/v2/list/a,b%20c
`
	says := file + " is an OpenAPI document\n" + file + ":33: POST /api/v2/xml: the example of application/xml: it is a mapping, and not the text of a body; left out\n"
	c := callTare(t, "", "load", "--feed", file, "--dry-run", ":1")
	if c.code != cmdenv.ExitOK || c.out != want || !strings.HasPrefix(c.errors, says) || !strings.Contains(c.errors, "1 value of headers, parameters and fields that hold secrets") {
		t.Errorf("exit code %d\n%s\nwant\n%s\n%s\nwant %s", c.code, c.out, want, c.errors, says)
	}
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c = callTare(t, string(src), "load", "--feed", "-", "--dry-run", "--with-secrets", ":1")
	if withCookie := strings.Replace(want, "  X-Ids: a,b\n", "  X-Ids: a,b\n  Cookie: sid=c00kie\n", 1); c.code != cmdenv.ExitOK || c.out != withCookie {
		t.Errorf("exit code %d\n%s\nwant\n%s\n%s", c.code, c.out, withCookie, c.errors)
	}
	if c = callTare(t, "openapi: 3.0.0\npaths: {/a: {get: {parameters: [{name: q, in: query, required: true}]}}, /b: {$ref: b.yaml}}\n", "load", "--feed", "-", "--dry-run", ":1"); c.code != cmdenv.ExitUsage || c.errors != "tare: --feed holds no request that can be sent: stdin:2: /b: its $ref (b.yaml) is in another document, and only this one is read\n" {
		t.Errorf("exit code %d: %s", c.code, c.errors)
	}
}
