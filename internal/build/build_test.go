package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tarebench/tare"
)

const tinyMain = `package main

import (
	"encoding/json"
	"os"

	"github.com/tarebench/tare/contender/wire"
)

func main() { json.NewEncoder(os.Stdout).Encode(wire.Protocol) }
`

// writeFiles writes files below dir.
func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, body := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// tinyLeaf returns a contender that links this repository's SDK.
func tinyLeaf(t *testing.T, manifest, main string) Leaf {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"go.mod":      fmt.Sprintf("module example.com/tiny\n\ngo 1.25\n\nrequire github.com/tarebench/tare v0.0.0\n\nreplace github.com/tarebench/tare => %s\n", root),
		"main.go":     main,
		ManifestName:  manifest,
		"evil.go":     "//go:build evil\n\npackage main\n\nvar _ = thisDoesNotCompile\n",
		"evil_env.go": "//go:build evilenv\n\npackage main\n\nvar _ = thisDoesNotCompile\n",
	})
	leaf, err := ReadLeaf(dir)
	if err != nil {
		t.Fatal(err)
	}
	return leaf
}

func TestBuildThenCacheHit(t *testing.T) {
	leaf := tinyLeaf(t, `{"id":"tiny","kind":"codec","variants":["a","b"],"why":"smallest program",
		"modules":["std:encoding/json","github.com/tarebench/tare","github.com/tarebench/tare@v9.9.9","github.com/nobody/nothing","std:net/http"],
		"symbols":["json.Marshal","json.(*Encoder).Encode","ffjsonGenerated"]}`, tinyMain)
	envFile := filepath.Join(t.TempDir(), "env")
	if err := os.WriteFile(envFile, []byte("GOFLAGS=-tags=evil\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	first := &Builder{Cache: cache, Env: append(os.Environ(), "GOENV="+envFile)}
	built, err := first.Build(t.Context(), leaf)
	if err != nil {
		t.Fatal(err)
	}
	if built.Cached || built.Seconds <= 0 {
		t.Errorf("first build: cached %v, %v s", built.Cached, built.Seconds)
	}

	// The second builder could not run a go command if it wanted to.
	second := &Builder{Cache: cache, Log: func(line string) { t.Errorf("ran %s", line) }}
	second.tool = first.tool
	second.tool.path = filepath.Join(cache, "no-such-go")
	again, err := second.Build(t.Context(), leaf)
	if err != nil {
		t.Fatal(err)
	}
	if !again.Cached || again.Path != built.Path || again.Seconds != built.Seconds {
		t.Errorf("second build: cached %v at %s, want a hit at %s", again.Cached, again.Path, built.Path)
	}

	p := again.Program("b")
	c := p.Contender
	if p.Variant != "b" || !p.Cached || c.ID != "tiny-b" || c.Variant != "b" || c.Kind != "codec" || c.Role != tare.RoleContender {
		t.Errorf("program %+v", p)
	}
	if c.Name != "encoding/json" || c.Version != c.Go || !strings.HasPrefix(c.Go, "go1") {
		t.Errorf("name %s version %s go %s", c.Name, c.Version, c.Go)
	}
	if got, want := c.Identity.MissingModules, []string{"github.com/tarebench/tare@v9.9.9", "github.com/nobody/nothing", "std:net/http"}; !slices.Equal(got, want) {
		t.Errorf("missing modules %q, want %q", got, want)
	}
	if got, want := c.Identity.MissingSymbols, []string{"ffjsonGenerated"}; !slices.Equal(got, want) {
		t.Errorf("missing symbols %q, want %q", got, want)
	}
	if len(c.SHA256) != 64 || c.BinaryBytes == 0 || c.Adoption.ModulesLinked != 0 || len(c.Modules) != 1 {
		t.Errorf("contender %+v", c)
	}
	if !slices.Contains(c.Flags, "-trimpath=true") || slices.ContainsFunc(c.Flags, func(f string) bool { return strings.Contains(f, "tags") }) {
		t.Errorf("flags %q", c.Flags)
	}
	wantNoLeftovers(t, cache)
}

func TestDamagedBinaryIsBuiltAgain(t *testing.T) {
	leaf := tinyLeaf(t, `{"id":"tiny","kind":"codec"}`, tinyMain)
	// tags in GOFLAGS of the environment must not get through either
	b := &Builder{Cache: t.TempDir(), Env: append(os.Environ(), "GOFLAGS=-tags=evilenv")}
	built, err := b.Build(t.Context(), leaf)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(built.Path, 100); err != nil {
		t.Fatal(err)
	}
	again, err := b.Build(t.Context(), leaf)
	if err != nil {
		t.Fatal(err)
	}
	if again.Cached || again.Program("").Contender.SHA256 != built.Program("").Contender.SHA256 {
		t.Errorf("cached %v; the same sources must give the same binary", again.Cached)
	}
}

func TestConcurrentBuildersShareOneResult(t *testing.T) {
	leaf := tinyLeaf(t, `{"id":"tiny","kind":"codec"}`, tinyMain)
	cache := t.TempDir()
	var wg sync.WaitGroup
	paths := make([]string, 3)
	for i := range paths {
		wg.Go(func() {
			built, err := (&Builder{Cache: cache}).Build(t.Context(), leaf)
			if err != nil {
				t.Error(err)
			}
			paths[i] = built.Path
		})
	}
	wg.Wait()
	if paths[0] != paths[1] || paths[1] != paths[2] {
		t.Errorf("paths %q", paths)
	}
	entries, err := os.ReadDir(filepath.Join(cache, "bin"))
	if err != nil || len(entries) != 1 {
		t.Errorf("%d entries in bin (%v), want one", len(entries), err)
	}
}

func TestCompileErrorIsOneLine(t *testing.T) {
	sdk := t.TempDir()
	writeFiles(t, sdk, map[string]string{
		"go.mod":                 "module github.com/tarebench/tare\n\ngo 1.25\n",
		"contender/contender.go": "package contender\n",
		"contenders/codec/bad/go.mod": "module example.com/bad\n\ngo 1.25\n\nrequire github.com/tarebench/tare v0.0.0\n\n" +
			"replace github.com/tarebench/tare => ../../..\n",
		"contenders/codec/bad/main.go":        "package main\n\nfunc main() {\n\tfoo()\n\tbar()\n}\n",
		"contenders/codec/bad/contender.json": `{"id":"bad","kind":"codec"}`,
		"contenders/codec/lib/go.mod":         "module example.com/lib\n\ngo 1.25\n",
		"contenders/codec/lib/lib.go":         "package lib\n",
		"contenders/codec/lib/contender.json": `{"id":"lib","kind":"codec"}`,
		"contenders/codec/net/go.mod":         "module example.com/net\n\ngo 1.25\n",
		"contenders/codec/net/main.go":        "package main\n\nimport _ \"example.com/nowhere/at/all\"\n\nfunc main() {}\n",
		"contenders/codec/net/contender.json": `{"id":"net","kind":"codec"}`,
	})
	b := &Builder{Cache: t.TempDir()}
	for id, want := range map[string]string{
		"bad": "contenders/codec/bad/main.go:4:2: undefined: foo",
		"lib": "not package main",
		"net": "example.com/nowhere/at/all",
	} {
		leaf, err := ReadLeaf(filepath.Join(sdk, "contenders", "codec", id))
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.Build(t.Context(), leaf)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %q, want one line with %q", id, err, want)
		}
		if id == "bad" && err.Error() != want {
			t.Errorf("%s: error %q, want exactly %q", id, err, want)
		}
	}
	wantNoLeftovers(t, b.Cache)
}

func TestErrorsThatEndTheRun(t *testing.T) {
	leaf := tinyLeaf(t, `{"id":"tiny","kind":"codec"}`, tinyMain)
	_, err := (&Builder{Cache: t.TempDir(), Go: "no-such-go-command"}).Build(t.Context(), leaf)
	if !errors.Is(err, ErrNoToolchain) || strings.Contains(err.Error(), "\n") {
		t.Errorf("no go command: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(file, "cache")
	_, err = (&Builder{Cache: cache}).Build(t.Context(), leaf)
	if !errors.Is(err, ErrCache) || !strings.Contains(err.Error(), cache) || strings.Contains(err.Error(), "\n") {
		t.Errorf("cache under a file: %v, want ErrCache naming %s", err, cache)
	}
	if os.Getuid() > 0 {
		readOnly := t.TempDir()
		if err := os.Chmod(readOnly, 0o555); err != nil {
			t.Fatal(err)
		}
		if _, err := (&Builder{Cache: readOnly}).Build(t.Context(), leaf); !errors.Is(err, ErrCache) {
			t.Errorf("read-only cache: %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&Builder{Cache: t.TempDir()}).Build(ctx, leaf); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before it began: %v", err)
	}
}

// wantNoLeftovers fails the test if a build left unfinished directories in the cache.
func wantNoLeftovers(t *testing.T, cache string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(cache, "bin"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tmpPrefix) {
			t.Errorf("%s is left in the cache", e.Name())
		}
		files, _ := os.ReadDir(filepath.Join(cache, "bin", e.Name()))
		if len(files) != 2 {
			t.Errorf("%d files in %s on %s", len(files), e.Name(), runtime.GOOS)
		}
	}
}
