package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/build"
)

func TestVersionsOfALeaf(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"x/contender.json": `{"id": "x", "kind": "codec", "why": "a contender", "modules": []}`,
		"x/main.go":        "package main\n",
		"x/go.mod": "module example.com/x\n\ngo 1.25\n\nrequire example.com/one v1.0.0\n\nrequire (\n\texample.com/two v2.0.0+incompatible\n\texample.com/three v0.3.0 // indirect\n)\n" +
			"replace example.com/four v4.0.0 => example.com/five v5.0.0\n\nexclude (\n\texample.com/six v6.0.0\n)\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, err := catalog.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := vettingSources{&catalog.Sources{Catalog: c, Builder: &build.Builder{}}}
	got := s.Versions("codec", tare.Entry{ID: "x"})
	if len(got) != 3 || got["example.com/one"] != "v1.0.0" || got["example.com/two"] != "v2.0.0+incompatible" || got["example.com/three"] != "v0.3.0" {
		t.Errorf("%q", got)
	}
	if got := s.Versions("codec", tare.Entry{ID: "nobody"}); got != nil {
		t.Errorf("of nobody: %q", got)
	}
}

func TestToolchainOfToday(t *testing.T) {
	tool, err := cmdenv.FindToolchain(t.Context())
	if err != nil {
		t.Skip(err)
	}
	s := vettingSources{&catalog.Sources{}}
	if err := s.Toolchain(t.Context(), tool.Version); err != nil || s.Go != "" {
		t.Errorf("%q, %v", s.Go, err)
	}
	if err := s.Toolchain(t.Context(), "devel"); err == nil || s.Go != "" || !strings.Contains(err.Error(), tool.Version+" builds them instead") {
		t.Errorf("%q, %v", s.Go, err)
	}
}
