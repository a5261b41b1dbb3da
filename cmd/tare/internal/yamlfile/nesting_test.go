package yamlfile

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

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
	keys := func(line string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, line, i)
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
		"tags above entries":      {strings.Repeat("- !t\n", 1000), "f:65:1: " + deep},
		"tags above keys":         {strings.Repeat("a: !t\nb: !t # c\n", 1000), "f:65:1: " + deep},
		"tags in a list of keys":  {strings.Repeat("- a: !t\n", 1000), "f:33:1: " + deep},
		"tags and comments":       {"a:\n" + strings.Repeat(" !t\n# c\n", 1000) + " b", deep},
		"tags in one line":        {"{" + strings.Repeat("a: !t ", 1000) + "b}", deep},
		"lists below keys":        {keys("k%d:\n- 1\n", 1000), ""},
		"lists below asked keys":  {keys("? k%d\n: - 1\nl%[1]d: 1\n", 1000), ""},
		"tagged values":           {keys("k%d: !t 1\nl%[1]d: !t\n  - 1\nm%[1]d: !t [1]\n", 1000), ""},
		"anchored lists":          {keys("k%d: &i%[1]d\n- a: 1\n  b: 2\nl%[1]d:\n- &j%[1]d\n  a: *i%[1]d\n- *j%[1]d\n", 1000), ""},
		"an empty entry":          {strings.Repeat("-\nb:\n", 1000), deep},
		"a comment before colons": {strings.Repeat("!t\n'q' # c\n: ", 1000), deep},
	} {
		_, _, err := Open("f", []byte(c.src), Format{Noun: "test"})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	for name, c := range map[string]struct{ src, want string }{
		"documents":                       {strings.Repeat("---\n", 200) + "b: y\n", "f:101:1: more than 100 documents in one file; write one study per file"},
		"keys":                            {keys("k%d:\n", 30000), "f:23171:1: too many keys in large mappings; write fewer keys in one mapping"},
		"explicit keys":                   {keys("? k%d\n: 1\n", 24000), "f:46341:1: too many keys in large mappings; write fewer keys in one mapping"},
		"keys of ten mappings":            {strings.Repeat("- b: 1\n  c:\n"+keys("    k%d: {a: 1}\n", 7400), 10), "f:73262:5: too many keys in large mappings; write fewer keys in one mapping"},
		"keys in brackets without commas": {"a: [\n" + keys("k%d: 1\n", 24000) + "]", "f:23172:1: too many keys in large mappings; write fewer keys in one mapping"},
		"keys in braces":                  {"{" + keys("k%d: {a: 1}, ", 24000) + "}", ""},
		"empty lines":                     {"a: |\n  x\n" + strings.Repeat("\n", 101) + "b: y\n", "f:104:1: more than 100 empty lines in a row; leave some out"},
		"lines of spaces":                 {"a: |\n  x\n" + strings.Repeat("  \t\r\n", 101) + "b: y\n", "f:104:1: more than 100 empty lines in a row; leave some out"},
		"empty begin":                     {strings.Repeat("\n", 101) + "b: y\n", "f:102:1: more than 100 empty lines in a row; leave some out"},
		"few empty lines":                 {strings.Repeat("\n", 100) + "a: |\n  x\n" + strings.Repeat("\n", 100) + "b: y\n", ""},
	} {
		_, _, err := Open("f", []byte(c.src), Format{Noun: "study", MaxBytes: 2 << 20})
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	_, _, err := Open("f", []byte("a: "+strings.Repeat("<", 60000)), Format{Noun: "study", MaxTime: time.Millisecond})
	if want := "f:1:1: parsing takes more than 1ms; describe less in one file"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	many := strings.Repeat("- 1\n", maxMarks/2+1)
	var wrong *Error
	if _, _, err := Open("f", []byte(many), Format{Noun: "test", MaxBytes: 32 << 20}); !errors.As(err, &wrong) || !strings.HasPrefix(wrong.What, "more than 8388608") {
		t.Errorf("many entries: %v", err)
	}
}

// tree adds up the paths of a tree, and finds how deep it is.
type tree struct {
	paths, deepest *int
	depth          int
}

func (t tree) Visit(n ast.Node) ast.Visitor {
	*t.paths += len(n.GetPath())
	*t.deepest = max(*t.deepest, t.depth)
	t.depth++
	return t
}

// What is counted before the parser sees a document is at least what it makes of it: a
// level is up to five nodes, e.g. a tag, an anchor, a mapping, its pair and the value.
func TestPathsAreCounted(t *testing.T) {
	pieces := []string{"- ", "- ", "-\n", "? ", "a: ", "bb: ", "b:\n", "'c d': ", "'q'", "<<: ", "[", "]", "{", "}", ", ", "\n", "\n", "\n ", "\n  ", "\n    ", "&x ", "&y\n", "!t ", "!t\n", "*x", "#c\n", "|\n", "1", "text", ": ", "---\n"}
	read := 0
	for seed := range uint64(15000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		some := func(most int) (src string) {
			for range 1 + rng.IntN(most) {
				src += pieces[rng.IntN(len(pieces))]
			}
			return src
		}
		src := some(40)
		if seed%3 == 0 { // what adds up
			src = some(2) + strings.Repeat(some(5), 30) + some(2)
		}
		tokens := lexer.Tokenize(src)
		var n nesting
		levels := 0
		for i := range tokens {
			n.addToken(tokens, i)
			levels = max(levels, n.depth, n.marks)
		}
		file, err := parser.Parse(tokens, 0)
		if err != nil {
			continue
		}
		made, deepest := 0, 0
		for _, d := range file.Docs {
			if d.Body != nil {
				ast.Walk(tree{&made, &deepest, 0}, d.Body)
			}
		}
		if read++; made > 4*n.paths+64 || deepest > 5*levels+10 {
			t.Errorf("%q: paths of %d bytes and %d nodes deep, %d and %d levels are counted", src, made, deepest, n.paths, levels)
		}
	}
	t.Logf("%d documents could be read", read)
}
