package catalog

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/catalog/archive"
	"github.com/tarebench/tare/internal/build"
)

// rebuilt is a repository in which one contender is another build of a second.
func rebuilt(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	write(t, root, map[string]string{
		"go.mod":                                    "module github.com/tarebench/tare\n\ngo 1.25\n",
		"contenders/server/gin/contender.json":      `{"id":"gin","kind":"server","variants":["new","default"]}`,
		"contenders/server/gin/go.mod":              "module example.com/gin\n\ngo 1.25\n",
		"contenders/server/gin/main.go":             "package main\n\nfunc main() { encode() }\n",
		"contenders/server/gin/slow.go":             "//go:build !fast\n\npackage main\n\nfunc encode() { println(1) }\n",
		"contenders/server/gin/fast.go":             "//go:build fast\n\npackage main\n\n//go:noinline\nfunc encodeFast() { println(2) }\n\nfunc encode() { encodeFast() }\n",
		"contenders/server/gin-fast/contender.json": `{"id":"gin-fast","kind":"server","source":"../gin","tags":["fast"],"symbols":["main.encodeFast"]}`,
		"contenders/server/gin-lost/contender.json": `{"id":"gin-lost","kind":"server","source":"../lost"}`,
	})
	return root
}

// A contender that is another build of a second is found, listed and built
// where it is, and as well where an archive of it was unpacked.
func TestAnotherBuildInACatalog(t *testing.T) {
	root := rebuilt(t)
	files, err := archive.Collect(root)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := archive.Parse(archive.Format(files))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	if err := unpackFiles(parsed, elsewhere); err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	for _, dir := range []string{root, elsewhere, filepath.Join(root, "contenders", "server")} {
		c, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if ids := c.IDs("server"); !slices.Equal(ids, []string{"gin-default", "gin-fast", "gin-new"}) {
			t.Errorf("%s: ids %q", dir, ids)
		}
		if _, _, err := c.Leaf("server", "gin-lost"); err == nil || !strings.HasSuffix(err.Error(), "contender.json: source ../lost is no contender: it has no contender.json") {
			t.Errorf("%s: without its source: %v", dir, err)
		}
		s := &Sources{Catalog: c, Builder: &build.Builder{Cache: cache}}
		own, err := s.Program(t.Context(), "server", "", tare.Entry{ID: "gin-new"})
		if err != nil {
			t.Fatal(err)
		}
		fast, err := s.Program(t.Context(), "server", "", tare.Entry{ID: "gin-fast"})
		if err != nil {
			t.Fatal(err)
		}
		if fast.Path == own.Path || fast.Variant != "" || len(fast.Contender.Identity.MissingSymbols) != 0 || !slices.Contains(fast.Contender.Flags, "-tags=fast") {
			t.Errorf("%s: %+v", dir, fast)
		}
		if dir != root && !fast.Cached {
			t.Errorf("%s: built anew, with the same content", dir)
		}
	}
	studies := filepath.Join(root, "contenders", "server")
	mine, err := (&Sources{Builder: &build.Builder{Cache: cache}}).Program(t.Context(), "server", studies, tare.Entry{ID: "mine", Program: "gin-fast"})
	if err != nil || !mine.Cached || mine.Contender.ID != "mine" {
		t.Errorf("named by its directory: %v, %+v", err, mine)
	}
}

func TestOnlyAnIDOfItsOwn(t *testing.T) {
	root := rebuilt(t)
	write(t, root, map[string]string{"contenders/server/again/contender.json": `{"id":"gin-new","kind":"server","source":"../gin"}`})
	if _, err := Open(root); err == nil || !strings.Contains(err.Error(), "gin-new is both") {
		t.Errorf("one id for two builds: %v", err)
	}
}
