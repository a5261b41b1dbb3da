package yamlfile

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
)

// A short file cannot make the parser fill the memory or the stack.
func TestNestedFiles(t *testing.T) {
	deeper := func(line string, levels int) string {
		var b strings.Builder
		for i := range levels {
			fmt.Fprintf(&b, "%s%s\n", strings.Repeat(" ", i), line)
		}
		return b.String()
	}
	const deep, long = "nested too deeply", "too much below long keys"
	for name, c := range map[string]struct{ src, want string }{
		"brackets":                {"a: " + strings.Repeat("[", 100), "f:1:67: " + deep},
		"braces":                  {"a: " + strings.Repeat("{b: ", 100), "f:1:256: " + deep},
		"entries in one line":     {strings.Repeat("- ", 100000), "f:1:129: " + deep},
		"keys in one line":        {strings.Repeat("? ", 1000), "f:1:129: " + deep},
		"entries in lines":        {deeper("-", 300), "f:65:65: " + deep},
		"keys in lines":           {deeper("a:", 300), "f:65:65: " + deep},
		"tags":                    {"a: " + strings.Repeat("!b ", 1000) + "c", "f:1:132: " + deep},
		"anchors":                 {"a: " + strings.Repeat("&b ", 1000) + "c", deep},
		"long keys":               {strings.Repeat("k", 1000) + ": [" + strings.Repeat("1,", 100000) + "1]", long},
		"long keys above entries": {deeper(strings.Repeat("k", 1000)+":", 60) + strings.Repeat(strings.Repeat(" ", 60)+"- 1\n", 2000), long},
		"brackets in a text":      {"a: \"" + strings.Repeat("[", 1000) + "\"", ""},
		"many shallow ones":       {strings.Repeat("- [{a: [1, 2]}, {b: {c: d}}]\n- {e: f}\n", 1000), ""},
		"a text of steps":         {"a: |\n" + deeper("- b:", 100)[1:], ""},
		"sixty levels":            {deeper("a:", 60), ""},
	} {
		_, _, err := Open("f", []byte(c.src), Format{Noun: "test"})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	many := strings.Repeat("- 1\n", mostMarks/2+1)
	var wrong *Error
	if _, _, err := Open("f", []byte(many), OpenAPI()); !errors.As(err, &wrong) || !strings.HasPrefix(wrong.What, "more than 8388608") {
		t.Errorf("many entries: %v", err)
	}
}

// paths counts the bytes of the paths of a tree.
type paths int

func (p *paths) Visit(n ast.Node) ast.Visitor {
	*p += paths(len(n.GetPath()))
	return p
}

// What is counted before the parser sees a document is at least what it makes of it.
func TestPathsAreCounted(t *testing.T) {
	pieces := []string{"- ", "- ", "? ", "a: ", "bb: ", "'c d': ", "[", "]", "{", "}", ", ", "\n", "\n", "\n ", "\n  ", "\n    ", "&x ", "!t ", "*x", "1", "text", ": ", "---\n"}
	read := 0
	for seed := range uint64(20000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		src := ""
		for range 1 + rng.IntN(40) {
			src += pieces[rng.IntN(len(pieces))]
		}
		tokens := lexer.Tokenize(src)
		var n nesting
		for i := range tokens {
			n.take(tokens, i)
		}
		file, err := parser.Parse(tokens, 0)
		if err != nil {
			continue
		}
		var made paths
		for _, d := range file.Docs {
			if d.Body != nil {
				ast.Walk(&made, d.Body)
			}
		}
		if read++; int(made) > 3*n.paths+64 {
			t.Fatalf("%q: paths of %d bytes, %d are counted", src, made, n.paths)
		}
	}
	t.Logf("%d documents could be read", read)
}
