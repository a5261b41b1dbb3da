package catalog

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/build"
)

// pinned is a catalog of two contenders, of which only one requires a module.
func pinned(t *testing.T) (s *Sources, dir string, ran *[]string) {
	t.Helper()
	dir = t.TempDir()
	write(t, dir, map[string]string{
		"catalog/uses/contender.json":  `{"id":"uses","kind":"codec","variants":["a","b"],"modules":["example.com/dep@v1.0.0"],"unmaintained":"for a test"}`,
		"catalog/uses/go.mod":          "module example.com/uses\n\ngo 1.25\n\nrequire example.com/dep v1.0.0\n\nreplace example.com/dep => ../../dep\n",
		"catalog/uses/main.go":         "package main\n\nimport \"example.com/dep\"\n\nfunc main() { dep.Do() }\n",
		"catalog/plain/contender.json": `{"id":"plain","kind":"codec"}`,
		"catalog/plain/go.mod":         "module example.com/plain\n\ngo 1.25\n",
		"catalog/plain/main.go":        "package main\n\nfunc main() {}\n",
		"dep/go.mod":                   "module example.com/dep\n", "dep/dep.go": "package dep\n\nfunc Do() { println(1) }\n",
		"studies/fork/go.mod": "module example.com/dep\n", "studies/fork/dep.go": "package dep\n\nfunc Do() { println(2) }\n",
		"here/fork/go.mod": "module example.com/dep\n", "here/fork/dep.go": "package dep\n\nfunc Do() { println(3) }\n",
	})
	c, err := Find(filepath.Join(dir, "catalog"))
	if err != nil {
		t.Fatal(err)
	}
	ran = new([]string)
	env := append(os.Environ(), "GOPROXY=off")
	return &Sources{Catalog: c, Builder: &build.Builder{Cache: t.TempDir(), Env: env, Log: func(line string) { *ran = append(*ran, line) }}}, dir, ran
}

func TestSourcesPin(t *testing.T) {
	s, dir, ran := pinned(t)
	studies := filepath.Join(dir, "studies")
	t.Chdir(filepath.Join(dir, "here"))
	program := func(e tare.Entry) build.Program {
		t.Helper()
		p, err := s.Program(t.Context(), "codec", studies, e)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	linked := func(p build.Program) string {
		if len(p.Contender.Modules) != 1 || len(p.Contender.Identity.MissingModules) != 0 {
			t.Errorf("%s: modules %+v, missing %q", p.Contender.ID, p.Contender.Modules, p.Contender.Identity.MissingModules)
			return ""
		}
		abs, err := filepath.Abs(p.Contender.Modules[0].Replace)
		if err != nil {
			t.Fatal(err)
		}
		return abs
	}
	own := tare.Entry{ID: "mine", Use: "uses-a", With: []string{"example.com/dep=./fork"}}
	a := program(own)
	b := program(tare.Entry{ID: "other", Use: "uses-b", With: own.With})
	plain := program(tare.Entry{ID: "plain"})
	if linked(a) != filepath.Join(studies, "fork") || a.Contender.ID != "mine" || b.Path != a.Path || b.Variant != "b" {
		t.Errorf("an entry's own module: %s %s; %s %s", linked(a), a.Path, b.Variant, b.Path)
	}
	if a.Contender.Adoption.Unmaintained != "for a test" || !slices.Equal(a.Contender.Adoption.Licences, []string{"unknown"}) {
		t.Errorf("adoption %+v", a.Contender.Adoption)
	}

	s.With = []string{"example.com/dep=./fork"}
	if p := program(tare.Entry{ID: "uses-a"}); linked(p) != filepath.Join(dir, "here", "fork") {
		t.Errorf("for all: %s", linked(p))
	}
	if p := program(own); p.Path != a.Path {
		t.Errorf("what an entry asks for itself comes first: %s", linked(p))
	}
	if p := program(tare.Entry{ID: "plain"}); p.Path != plain.Path {
		t.Error("a contender that does not require the module was built anew")
	}
	builds := len(slices.DeleteFunc(slices.Clone(*ran), func(l string) bool { return !strings.HasPrefix(l, "go build") }))
	if builds != 3 {
		t.Errorf("%d builds, want 3: one per folder and pin", builds)
	}

	fresh := &Sources{Catalog: s.Catalog, Builder: &build.Builder{Cache: s.Builder.Cache, Env: s.Builder.Env, Log: func(line string) {
		if !strings.HasPrefix(line, "go env") {
			t.Errorf("ran %s for what is in the cache", line)
		}
	}}}
	if p, err := fresh.Program(t.Context(), "codec", studies, own); err != nil || !p.Cached || p.Path != a.Path {
		t.Errorf("another run: %v, cached %v", err, p.Cached)
	}
}

func TestSourcesCannotPin(t *testing.T) {
	s, dir, _ := pinned(t)
	for want, e := range map[string]tare.Entry{
		"plain does not require example.com/dep":                            {ID: "plain", With: []string{"example.com/dep@v1.1.0"}},
		`"example.com/dep" is neither module@version nor module=./dir`:      {ID: "uses-a", With: []string{"example.com/dep"}},
		"example.com/dep: there is no directory " + filepath.Join(dir, "x"): {ID: "uses-b", With: []string{"example.com/dep=x"}},
		`"go1.27" is no Go release`:                                         {ID: "plain", Go: "go1.27"},
	} {
		p, err := s.Program(t.Context(), "codec", dir, e)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") || p.Contender.ID != e.ID {
			t.Errorf("%s: error %v, want %s; program %+v", e.ID, err, want, p)
		}
	}
	s.Go = "go1"
	if _, err := s.Program(t.Context(), "codec", dir, tare.Entry{ID: "plain"}); err == nil || !strings.HasPrefix(err.Error(), `"go1" is no Go release`) {
		t.Errorf("a toolchain for all: %v", err)
	}
	s.Go = "go1.25.99"
	if p, err := s.newPin(build.Leaf{Dir: filepath.Join(dir, "catalog", "plain")}, dir, tare.Entry{ID: "plain", Go: "go1.26.0"}); err != nil || p.Go != "go1.26.0" {
		t.Errorf("an entry's own toolchain: %+v %v", p, err)
	}
}

func TestUnused(t *testing.T) {
	s, dir, ran := pinned(t)
	s.With = []string{"example.com/dep@v1.1.0", "example.com/nobody@v1.0.0", "nonsense"}
	for _, c := range []struct {
		name    string
		entries []tare.Entry
		want    []string
	}{
		{"one uses it", []tare.Entry{{ID: "plain"}, {ID: "uses-a"}, {ID: "unheard-of"}}, nil},
		{"none requires it", []tare.Entry{{ID: "plain"}}, s.With[:1]},
		{"its own comes first", []tare.Entry{{ID: "uses-a", With: []string{"example.com/dep=../dep"}}}, s.With[:1]},
		{"none at all", nil, s.With[:1]},
	} {
		want := append(slices.Clone(c.want), s.With[1:]...)
		if got := s.Unused("codec", c.entries, dir); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", c.name, got, want)
		}
	}
	if len(*ran) != 0 {
		t.Errorf("ran %q", *ran)
	}
}

func TestLicences(t *testing.T) {
	apache, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "LICENSE"))
	if err != nil {
		t.Skip("not inside the repository: ", err)
	}
	if got := Licences(apache); !slices.Equal(got, []string{"Apache-2.0"}) {
		t.Errorf("this repository's: %q", got)
	}
	among := append([]byte(strings.Repeat("words that no licence has in this order, many of them, said again. ", 400)), apache...)
	if got := Licences(among); got != nil {
		t.Errorf("a part of a longer text: %q", got)
	}
	if got := Licences(nil); got != nil {
		t.Errorf("nothing: %q", got)
	}
}

// What would be built is described as it would be built: with the versions of go.mod, or those that are asked
// for. Nothing is built.
func TestDescribe(t *testing.T) {
	s, dir, ran := pinned(t)
	studies := filepath.Join(dir, "studies")
	for _, tt := range []struct {
		entry tare.Entry
		with  []string
		want  string
	}{
		{tare.Entry{ID: "uses-a"}, nil, "uses example.com/dep@v1.0.0 "},
		{tare.Entry{ID: "uses-b", Go: "go1.25.5"}, []string{"example.com/dep@v1.2.0"}, "uses example.com/dep@v1.2.0 go1.25.5"},
		{tare.Entry{ID: "uses-a", With: []string{"example.com/dep=./fork"}}, []string{"example.com/dep@v1.2.0"}, "uses example.com/dep=" + filepath.Join(studies, "fork") + " "},
		{tare.Entry{ID: "plain"}, []string{"example.com/dep@v1.2.0"}, "plain  "},
	} {
		s.With = tt.with
		d, err := s.Describe("codec", studies, tt.entry)
		if got := d.Name + " " + strings.Join(d.Modules, " ") + " " + d.Go; err != nil || got != tt.want || filepath.Base(d.Dir) != d.Name {
			t.Errorf("%+v: %q in %s, %v, want %q", tt.entry, got, d.Dir, err, tt.want)
		}
	}
	if _, err := s.Describe("codec", studies, tare.Entry{ID: "nobody"}); err == nil {
		t.Error("an unknown contender is described")
	}
	if len(*ran) > 0 {
		t.Errorf("it ran %q", *ran)
	}
}
