package catalog

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/lab"
)

func TestSourcesBuildEachFolderOnce(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"catalog/two/contender.json": `{"id":"two","kind":"codec","variants":["a","b"],"trap":true,"why":"for a test","expect":{"void":["identity"]}}`,
		"catalog/two/go.mod":         "module example.com/two\n\ngo 1.25\n",
		"catalog/two/main.go":        "package main\n\nfunc main() {}\n",
		"catalog/bad/contender.json": `{"id":"bad","kind":"codec","why":"does not compile"}`,
		"catalog/bad/go.mod":         "module example.com/bad\n\ngo 1.25\n",
		"catalog/bad/main.go":        "package main\n\nfunc main() { foo() }\n",
	})
	c, err := Find(filepath.Join(dir, "catalog"))
	if err != nil {
		t.Fatal(err)
	}
	var ran []string
	s := &Sources{Catalog: c, Builder: &build.Builder{Cache: t.TempDir(), Log: func(line string) { ran = append(ran, line[:6]) }}}
	builds := func() int {
		return len(slices.DeleteFunc(slices.Clone(ran), func(l string) bool { return l != "go bui" }))
	}

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Program(gone, "codec", "", tare.Entry{ID: "two-a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	a, err := s.Program(t.Context(), "codec", "", tare.Entry{ID: "two-a"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Program(t.Context(), "codec", "", tare.Entry{ID: "mine", Use: "two-b", Expect: tare.Expect{Void: []string{"control"}}})
	if err != nil {
		t.Fatal(err)
	}
	if builds() != 1 || a.Path != b.Path || a.Variant != "a" || b.Variant != "b" {
		t.Errorf("%d builds; %s %q and %s %q", builds(), a.Path, a.Variant, b.Path, b.Variant)
	}
	if a.Contender.Role != tare.RoleTrap || !slices.Equal(a.Contender.Expect.Void, []string{"identity"}) || a.Contender.ID != "two-a" {
		t.Errorf("a is %+v", a.Contender)
	}
	if b.Contender.ID != "mine" || !slices.Equal(b.Contender.Expect.Void, []string{"control"}) {
		t.Errorf("b is %+v", b.Contender)
	}
	for range 2 {
		p, err := s.Program(t.Context(), "codec", "", tare.Entry{ID: "bad"})
		if err == nil || err.Error() != "main.go:3:15: undefined: foo" || p.Contender.Why != "does not compile" || p.Contender.ID != "bad" {
			t.Errorf("bad: %v, %+v", err, p.Contender)
		}
	}
	if builds() != 2 {
		t.Errorf("%d builds, want one per folder", builds())
	}
	var unknown *lab.UnknownError
	if _, err := s.Program(t.Context(), "codec", "", tare.Entry{ID: "x", Use: "two"}); !errors.As(err, &unknown) || !slices.Equal(unknown.Near, []string{"two-a", "two-b"}) {
		t.Errorf("unknown: %v", err)
	}
	before := builds()
	tagged, err := s.Program(t.Context(), "codec", "", tare.Entry{ID: "two-a", Tags: []string{"fast"}})
	if err != nil || tagged.Path == a.Path || builds() != before+1 || !slices.Contains(tagged.Contender.Flags, "-tags=fast") {
		t.Errorf("with a tag: %d builds, %s, %v, %v", builds(), tagged.Path, tagged.Contender.Flags, err)
	}
	if again, err := s.Program(t.Context(), "codec", "", tare.Entry{ID: "two-a"}); err != nil || again.Path != a.Path || builds() != before+1 {
		t.Errorf("without it again: %s, %v", again.Path, err)
	}
}

func TestOwnPrograms(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"studies/file":                    "",
		"studies/plain/main.go":           "package main\n\nfunc main() {}\n",
		"studies/plain/go.mod":            "module example.com/plain\n\ngo 1.25\n",
		"studies/varied/contender.json":   `{"id":"varied","kind":"codec","variants":["slow","fast"]}`,
		"studies/router/contender.json":   `{"id":"router","kind":"router"}`,
		"studies/nonsense/contender.json": `{"name":"x"}`,
	})
	s := &Sources{Builder: &build.Builder{Cache: t.TempDir()}}
	p, err := s.Program(t.Context(), "codec", filepath.Join(dir, "studies"), tare.Entry{ID: "mine", Program: "./plain"})
	if err != nil || p.Contender.ID != "mine" || p.Contender.Kind != "codec" || p.Contender.Why != "the user's own" {
		t.Errorf("without a manifest: %v %+v", err, p.Contender)
	}
	leaf, variant, err := s.findLeaf("codec", filepath.Join(dir, "studies"), tare.Entry{ID: "mine-fast", Program: "varied"})
	if err != nil || variant != "fast" || leaf.Manifest.ID != "varied" {
		t.Errorf("variant %q of %s, %v", variant, leaf.Manifest.ID, err)
	}
	for program, want := range map[string]string{
		"varied":   "program varied has the variants slow, fast; end the contender's id with one, e.g. x-slow",
		"router":   "says it is a router, the study asks for a codec",
		"nowhere":  "program nowhere: there is no directory",
		"file":     "program file: there is no directory",
		"nonsense": `contender.json:1:12: unknown field "name"`,
	} {
		_, err := s.Program(t.Context(), "codec", filepath.Join(dir, "studies"), tare.Entry{ID: "x", Program: program})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", program, err, want)
		}
	}
}
