package jsonstudy

import (
	"fmt"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/internal/atomicfile"
)

// fakeGenerator stands in for easyjson's: it fails where the environment says so, and on
// types with certain fields.
const fakeGenerator = `package main

import (
	"os"
	"strings"
)

func main() {
	text, err := os.ReadFile("user.go")
	if err != nil || os.Getenv("GENERATOR") == "fails" || strings.Contains(string(text), "Refused") {
		println("no code for it")
		os.Exit(1)
	}
	made := "package user\n"
	if strings.Contains(string(text), "Broken") {
		made += "var _ = missing\n"
	}
	if os.WriteFile("user_easyjson.go", []byte(made), 0o644) != nil {
		os.Exit(1)
	}
}
`

// A bench is kept without a codec if its generator refuses the type. If the machine is
// the reason that there is no code, the next run tries again.
func TestOnlyARefusalIsKept(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	made := own(t, map[string]string{"go.mod": "module github.com/mailru/easyjson\n\ngo 1.25\n", "easyjson/main.go": fakeGenerator})
	from, err := catalog.Open(own(t, map[string]string{
		"go.mod": "module github.com/tarebench/tare\n\ngo 1.25\n",
		"contenders/codec/encoding-json/contender.json": `{"id":"encoding-json","kind":"codec","why":"x"}`,
		"contenders/codec/encoding-json/go.mod":         "module github.com/tarebench/tare/contenders/codec/encoding-json\n\ngo 1.25\n",
		"contenders/codec/easyjson/contender.json":      `{"id":"easyjson","kind":"codec","why":"x"}`,
		"contenders/codec/easyjson/go.mod": fmt.Sprintf("module github.com/tarebench/tare/contenders/codec/easyjson\n\ngo 1.25\n\n"+
			"require github.com/mailru/easyjson v0.9.2\n\nreplace github.com/mailru/easyjson => %q\n", filepath.ToSlash(made)),
	}))
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	b := Bench{Cache: t.TempDir(), Log: func(string) { ran++ }}
	bench := func(field string) (why string) {
		t.Helper()
		typ := Type{Root: "struct", Source: "// Document is.\ntype Document struct{ " + field + " int }\n"}
		c, left, err := b.Catalog(t.Context(), from, typ, nil, func(string) bool { return true })
		if err != nil || len(c.Leaves()) != 2-len(left) || len(left) > 1 {
			t.Fatalf("%d leaves, left %v, %v", len(c.Leaves()), left, err)
		}
		for _, l := range left {
			why = l.Why
		}
		if sealed := atomicfile.Sealed(filepath.Dir(c.Dir)); sealed == strings.HasSuffix(why, "; the next run tries again") {
			t.Errorf("kept %v: %q", sealed, why)
		}
		return why
	}
	t.Setenv("GENERATOR", "fails")
	for range 2 {
		if why := bench("A"); why != "its generator fails: no code for it; the next run tries again" {
			t.Errorf("where the generator does not work: %q", why)
		}
	}
	t.Setenv("GENERATOR", "")
	if why := bench("A"); why != "" || ran != 3 {
		t.Errorf("where it works again: %q after %d runs", why, ran)
	}
	for field, want := range map[string]string{
		"Refused": "its generator fails: no code for it",
		"Broken":  "what its generator makes of the type does not compile: ",
	} {
		t.Setenv("GENERATOR", "")
		ran = 0
		first := bench(field)
		t.Setenv("GENERATOR", "fails")
		if again := bench(field); !strings.HasPrefix(first, want) || again != first || ran != 1 {
			t.Errorf("%s: %q, then %q, after %d runs", field, first, again, ran)
		}
	}
}

// The file that gives a leaf the type imports the leaf's copies of it and nothing else.
func TestUserMainImportsTheType(t *testing.T) {
	for _, g := range generators(map[string]bool{"easyjson": true, "ffjson": true}) {
		text, why := g.newFile(Type{Root: "struct"})
		f, err := parser.ParseFile(token.NewFileSet(), "user.go", text, 0)
		if why != "" || err != nil {
			t.Fatalf("%s: %q, %v in\n%s", g.name, why, err, text)
		}
		want := []string{g.contenderPath("user")}
		if g.addsMethods {
			want = []string{"unsafe", g.contenderPath("user/plain"), g.contenderPath("user")}
		}
		for i, imported := range f.Imports {
			if i >= len(want) || strings.TrimPrefix(strings.Trim(imported.Path.Value, `"`), sdkPath+"/") != want[i] {
				t.Errorf("%s imports %s, want %q", g.name, imported.Path.Value, want)
			}
		}
	}
}
