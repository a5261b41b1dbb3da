package routestudy

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A few aliases of one large mapping stand for any number of fields: they are counted.
func TestMergedFieldsAreBounded(t *testing.T) {
	var large strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&large, "  x-%d: {}\n", i)
	}
	for aliases, want := range map[int]string{
		10:  "",
		600: "api.yaml:2004:17: more than 1000000 fields are merged; merge fewer, or write them out",
	} {
		src := "openapi: 3.0.0\nlarge: &a\n" + large.String() +
			"paths:\n  /a: {get: {}, <<: [*a" + strings.Repeat(" , *a", aliases-1) + " ]}\n"
		_, err := Read("api.yaml", []byte(src))
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%d aliases: %v, want %s", aliases, err, want)
		}
	}
}

// A mapping that many aliases or references lead to is read once, and a server's path,
// which stands before each route, is short: what a small document takes is small.
func TestSmallDocumentsTakeLittle(t *testing.T) {
	lines := func(line string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, line, i)
		}
		return b.String()
	}
	const head = "openapi: 3.0.0\n"
	long := strings.Repeat("x", 1<<20)
	for name, c := range map[string]struct{ src, want string }{
		"aliases":    {head + "large: &a {get: {}, " + lines("x-%d: 1, ", 20000) + "}\npaths: {" + lines("/%d: *a , ", 5000) + "}\n", "5000 GET /0"},
		"references": {head + "components: {pathItems: {" + lines("p%d: {get: {}}, ", 5000) + "}}\npaths: {" + lines("/%[1]d: {$ref: '#/components/pathItems/p%[1]d'}, ", 5000) + "}\n", "5000 GET /0"},
		"variables that lead to others": {
			head + "servers:\n- url: /{v0}\n  variables:\n" + lines("    v%[1]d: {default: '{w%[1]d}'}\n", 50) + "paths: {/a: {get: {}}}\n", "1 GET /{w0}/a"},
		"variable without a default": {head + "servers: [{url: '/{v}', variables: {v: {}}}]\npaths: {/a: {get: {}}}\n", "1 GET /{v}/a"},
		"variables":                  {head + "servers:\n- url: '/" + strings.Repeat("{v}", 1000) + "'\n  variables: {v: {default: " + long + "}}\npaths: {/a: {get: {}}}\n", "f:2:1: the path of the server has more than 1024 bytes"},
		"server":                     {head + "servers: [{url: /" + long + "}]\npaths: {/a: {get: {}}}\n", "f:2:1: the path of the server has more than 1024 bytes; write a shorter one"},
		"base path":                  {"swagger: '2.0'\nbasePath: /" + long + "\npaths: {/a: {get: {}}}\n", "f:2:1: the path of the server has more than 1024 bytes; write a shorter one"},
		"routes":                     {head + "large: &a {" + lines("%d: 1, ", 1) + "get: {}, put: {}, post: {}, delete: {}, patch: {}, head: {}, options: {}, trace: {}, query: {}}\npaths: {" + lines("/%d: *a ,\n", 25000) + "}\n", "f:22225:1: more than 200000 routes; write those that differ"},
		"pointers in a circle":       {head + "x: &a {a: *a , $ref: &r '#/x" + strings.Repeat("/a", 2000) + "'}\npaths: {/ok: {get: {}}, " + lines("/%d: *a , ", 1000) + "}\n", "1 GET /ok"},
		"one server many times":      {head + "servers: [&s {url: '/" + strings.Repeat("{v}", 2000) + "'}, " + strings.Repeat("*s , ", 20000) + "]\npaths: {/a: {get: {}}}\n", "f:2:1: the path of the server has more than 1024 bytes"},
		"long pointers":              {head + "long: &l " + long + "\npaths:\n  /a: {get: {}}\n" + lines("  /a%d: {$ref: *l}\n", 2000), "1 GET /a"},
	} {
		began := time.Now()
		d, err := Read("f", []byte(c.src))
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = fmt.Sprintf("%d %s %s", len(d.Table.Routes), d.Table.From[0].Method, d.Table.From[0].Path)
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %.200s, want %.200s", name, got, c.want)
		}
		t.Log(name, time.Since(began))
	}
}
