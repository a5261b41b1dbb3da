package build

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
)

// spdx replaces the licence detector: it recognises texts that begin with "is ".
func spdx(text []byte) []string {
	if rest, ok := bytes.CutPrefix(text, []byte("is ")); ok {
		return strings.Fields(string(rest))
	}
	return nil
}

func TestAdopt(t *testing.T) {
	mods := t.TempDir()
	writeFiles(t, mods, map[string]string{
		"a/LICENSE": "is MIT", "a/licenses/LICENSE-other": "is GPL-3.0-only", "a/license.go": "is Zlib", "a/README": "is ISC",
		"b/COPYING.txt": "is Apache-2.0 BSD-3-Clause", "b/LICENCE": "is MIT", "fork/UNLICENSE": "is Unlicense", "e/LICENSE": "some terms of our own", "f/f.go": "package f",
	})
	at := func(name string) string { return filepath.Join(mods, name) }
	p := &played{says: map[string]string{"list -mod=readonly -m -e -json m/a m/b m/c m/e m/f": fmt.Sprintf(
		`{"Path":"m/a","Version":"v1.0.0","Time":"2021-09-11T23:10:30-05:00","Dir":%q} {"Path":"m/b","Version":"v1.0.0","Time":"2019-01-01T00:00:00Z","Dir":%q}
		{"Path":"m/c","Version":"v1.0.0","Time":"2019-01-01T00:00:00Z","Replace":{"Path":"../fork","Dir":%q}} {"Path":"m/e","Dir":%q} {"Path":"m/f","Error":{"Err":"gone"}}`,
		at("a"), at("b"), at("fork"), at("e"))}}
	b := p.builder(t, t.TempDir())
	b.Licences = spdx
	tool, err := b.loadToolchain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	contender := func(name string) tare.Contender {
		return tare.Contender{Name: name, Build: tare.Build{Modules: []tare.Module{{Path: "m/a"}, {Path: "m/b"}, {Path: sdkPath}, {Path: "m/c"}, {Path: "m/e"}, {Path: "m/f"}}}}
	}
	for name, day := range map[string]string{"m/a": "2021-09-12", "m/b": "2019-01-01", "m/c": "", "m/f": "", "encoding/json": "", "": ""} {
		c := contender(name)
		b.addAdoption(t.Context(), tool, Leaf{Dir: mods}, mods, &c)
		if c.Adoption.Released != day {
			t.Errorf("%q was released on %q, want %q", name, c.Adoption.Released, day)
		}
		if got := strings.Join(c.Adoption.Licences, " "); got != "Apache-2.0 BSD-3-Clause MIT Unlicense unknown" {
			t.Errorf("licences %s", got)
		}
	}
	b.Licences = nil
	c := contender("m/a")
	if b.addAdoption(t.Context(), tool, Leaf{Dir: mods}, mods, &c); c.Adoption.Licences != nil || c.Adoption.Released == "" {
		t.Errorf("without a detector: %+v", c.Adoption)
	}
	before := len(p.asked(t))
	std := tare.Contender{Name: "encoding/json", Build: tare.Build{Modules: []tare.Module{{Path: sdkPath}}}}
	if b.addAdoption(t.Context(), tool, Leaf{Dir: mods}, mods, &std); std.Adoption.Released != "" || len(p.asked(t)) != before {
		t.Errorf("of the standard library: %+v, asked %q", std.Adoption, p.asked(t)[before:])
	}
	p.fail = map[string]string{"list": "go: no\n"}
	c, b = contender("m/a"), p.builder(t, t.TempDir())
	b.Licences = spdx
	if b.addAdoption(t.Context(), tool, Leaf{Dir: mods}, mods, &c); c.Adoption.Released != "" || !slices.Equal(c.Adoption.Licences, []string{unknownLicence}) {
		t.Errorf("where nothing can be found out: %+v", c.Adoption)
	}
}

// What could not be found out about a module when it was built is asked again by the
// next run, without a compiler, until the go command says it.
func TestModulesAreAskedAgain(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"go.mod":     "module example.com/mine\n\ngo 1.25\n\nrequire (\n\texample.com/a v1.0.0\n\texample.com/b v1.0.0\n)\n\nreplace example.com/a => ./a\n\nreplace example.com/b => ./b\n",
		"main.go":    "package main\n\nimport (\n\t\"example.com/a\"\n\t\"example.com/b\"\n)\n\nfunc main() { println(a.N, b.N) }\n",
		ManifestName: `{"id":"mine","kind":"codec","modules":["example.com/a"]}`,
		"a/go.mod":   "module example.com/a\n", "a/a.go": "package a\n\nvar N = 1\n", "a/LICENSE": "is MIT",
		"b/go.mod": "module example.com/b\n", "b/b.go": "package b\n\nvar N = 1\n", "b/LICENSE": "is ISC",
	})
	leaf, err := ReadLeaf(dir)
	if err != nil {
		t.Fatal(err)
	}
	real, err := (&Builder{Cache: t.TempDir()}).Build(t.Context(), leaf)
	if err != nil {
		t.Fatal(err)
	}
	const list = "list -mod=readonly -m -e -json example.com/a example.com/b"
	one := fmt.Sprintf(`{"Path":"example.com/a","Version":"v1.0.0","Time":"2021-09-11T00:00:00Z","Dir":%q}`, filepath.Join(dir, "a"))
	both := one + fmt.Sprintf(` {"Path":"example.com/b","Dir":%q}`, filepath.Join(dir, "b"))
	build := func(p *played, cache string) (tare.Adoption, []string) {
		p.made = real.Path
		b := p.builder(t, cache)
		b.Licences = spdx
		built, err := b.Build(t.Context(), leaf)
		if err != nil {
			t.Fatal(err)
		}
		return built.contender.Adoption, p.asked(t)
	}
	for what, c := range map[string]struct {
		first    *played
		licences string
	}{
		"the go command fails":        {&played{fail: map[string]string{list: "go: no\n"}}, "unknown"},
		"half an answer":              {&played{says: map[string]string{list: one + `{"Path":`}}, "MIT unknown"},
		"a module that is left out":   {&played{says: map[string]string{list: one}}, "MIT unknown"},
		"sources that cannot be read": {&played{says: map[string]string{list: one + `{"Path":"example.com/b"}`}}, "MIT unknown"},
	} {
		cache := t.TempDir()
		if got, _ := build(c.first, cache); strings.Join(got.Licences, " ") != c.licences {
			t.Errorf("%s: licences %q, want %s", what, got.Licences, c.licences)
		}
		if got, asked := build(&played{fail: map[string]string{"": "go: no\n"}}, cache); strings.Join(got.Licences, " ") != c.licences || len(asked) != 1 {
			t.Errorf("%s, and again: licences %q, asked %q", what, got.Licences, asked)
		}
		got, asked := build(&played{says: map[string]string{list: both}}, cache)
		if strings.Join(got.Licences, " ") != "ISC MIT" || got.Released != "2021-09-11" || len(asked) != 1 || !strings.HasSuffix(asked[0], list) {
			t.Errorf("%s, then an answer: %+v, asked %q", what, got, asked)
		}
		if got, asked := build(&played{}, cache); strings.Join(got.Licences, " ") != "ISC MIT" || got.Released != "2021-09-11" || len(asked) != 0 {
			t.Errorf("%s, after the answer: %+v, asked %q", what, got, asked)
		}
	}
}

func TestReleased(t *testing.T) {
	day := time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)
	for _, c := range []struct {
		m    moduleInfo
		want string
	}{
		{moduleInfo{Version: "v1.0.0", Time: day}, "2020-02-03"},
		{moduleInfo{Version: "v1.0.0"}, ""}, // no guess
		{moduleInfo{Version: "v0.0.0-20190930134022-aa0246cd15f7"}, "2019-09-30"},
		{moduleInfo{Version: "v1.2.4-0.20190930134022-aa0246cd15f7"}, "2019-09-30"},
		{moduleInfo{Version: "v2.0.1-rc.0.20190930134022-aa0246cd15f7+incompatible"}, "2019-09-30"},
		{moduleInfo{Version: "v0.0.0-20190930134022-aa0246cd15f7", Time: day}, "2020-02-03"},
		{moduleInfo{Version: "v0.0.0-20191330134022-aa0246cd15f7"}, ""},
		{moduleInfo{Version: "v1.0.0-20190930"}, ""},
		{moduleInfo{Time: day}, ""}, // a directory
	} {
		if got := releaseDate(c.m); got != c.want {
			t.Errorf("%+v: %q, want %q", c.m, got, c.want)
		}
	}
}
