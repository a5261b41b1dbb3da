package build

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

func TestReadLeaf(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{ManifestName: `{"id":"j","kind":"codec","variants":["fast","safe"],"trap":true,"expect":{"void":["identity"]},"modules":["a/b"]}`})
	leaf, err := ReadLeaf(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(leaf.Dir) || !slices.Equal(leaf.Manifest.IDs(), []string{"j-fast", "j-safe"}) {
		t.Errorf("leaf %+v ids %q", leaf, leaf.Manifest.IDs())
	}
	if got := (Manifest{ID: "j"}).IDs(); !slices.Equal(got, []string{"j"}) {
		t.Errorf("ids %q", got)
	}
	_, err = ReadLeaf(t.TempDir())
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), ManifestName) {
		t.Errorf("no manifest: %v", err)
	}
}

func TestManifestIsBounded(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, ManifestName)
	if err := os.WriteFile(file, make([]byte, maxManifest+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadLeaf(dir); err == nil || !strings.Contains(err.Error(), "not a file of at most 1048576 bytes") {
		t.Error(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", file); err != nil {
		t.Skip(err)
	}
	if _, err := ReadLeaf(dir); err == nil || !strings.Contains(err.Error(), "not a file of at most 1048576 bytes") {
		t.Errorf("a file without an end: %v", err)
	}
}

func TestManifestErrors(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"empty", ``, ":1:1: the file ends too early"},
		{"cut off", "{\"id\":\"x\",\n\"kind\":", ":2:7: the file ends too early"},
		{"syntax", "{\n  \"id\": \"x\",\n  oops\n}", ":3:3: invalid character 'o'"},
		{"wrong type", "{\"id\":\"x\",\n\"modules\":\"a\"}", "modules is a string, not a []string"},
		{"unknown key", `{"id":"x","kind":"codec","moduls":["a"]}`, `unknown field "moduls"`},
		{"no id", `{"kind":"codec"}`, ": no id"},
		{"no kind", `{"id":"x"}`, ": no kind"},
		{"reserved", `{"id":"control","kind":"codec"}`, "reserved"},
		{"expect without trap", `{"id":"x","kind":"codec","expect":{"void":["identity"]}}`, "expect without"},
		{"empty variant", `{"id":"x","kind":"codec","variants":[""]}`, "without a name"},
		{"variant twice", `{"id":"x","kind":"codec","variants":["a","a"]}`, "listed twice"},
		{"two values", `{"id":"x","kind":"codec"} {}`, "more than one value"},
		{"not an object", `[]`, "array"},
	} {
		_, err := parseManifest([]byte(c.src))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line with %q", c.name, err, c.want)
		}
	}
}

func TestCold(t *testing.T) {
	mods := []tare.Module{{Path: sdkPath}, {Path: "github.com/a/b"}, {Path: "github.com/c/d/v2"}}
	for _, c := range []struct {
		name, printed string
		want          bool
	}{
		{"everything", "github.com/a/b/x\ngithub.com/c/d/v2\nexample.com/leaf\n", true},
		{"one module cached", "github.com/a/b\nexample.com/leaf\n", false},
		{"a longer path is another module", "github.com/a/bc\ngithub.com/c/d/v2\n", false},
		{"a standard package too", "encoding/gob\ngithub.com/a/b\ngithub.com/c/d/v2\n", false},
		{"the SDK compiled too", "github.com/tarebench/tare/contender/wire\ngithub.com/a/b\ngithub.com/c/d/v2\n", false},
		{"downloaded first", "go: downloading github.com/a/b v1.0.0\ngithub.com/a/b\ngithub.com/c/d/v2\nmine\nmine/model\n", false},
		{"a contender of the repository", "github.com/a/b\ngithub.com/c/d/v2\ngithub.com/tarebench/tare/contenders/codec/x\n", true},
	} {
		if got := isCold(c.printed, "mine", mods); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestCompileErrorPicksTheFirstMessage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "contenders", "x")
	base := filepath.Dir(filepath.Dir(dir))
	exit := errors.New("exit status 1")
	for _, c := range []struct{ name, out, want string }{
		{"position", "golang.org/x/y\n# example.com/x\n./main.go:12:3: undefined: foo\n./main.go:13:3: undefined: bar\n", "contenders/x/main.go:12:3: undefined: foo"},
		{"in the SDK", "# github.com/tarebench/tare/contender\n../../contender/c.go:1:2: boo\n", "contender/c.go:1:2: boo"},
		{"elsewhere", "# y\n" + filepath.Join(os.TempDir(), "zz", "a.go") + ":1:2: boo\n", filepath.Join(os.TempDir(), "zz", "a.go") + ":1:2: boo"},
		{"network", "go: downloading a v1\ngo: a@v1: Get \"https://h/a\": dial tcp: no route\n", "contenders/x: go: a@v1: Get \"https://h/a\": dial tcp: no route"},
		{"go.mod", "go: errors parsing go.mod:\ngo.mod:3: unknown directive: boo\n", "contenders/x/go.mod:3: unknown directive: boo"},
		{"nothing", "", "contenders/x: exit status 1"},
	} {
		if got := compileError(c.out, exit, Leaf{Dir: dir}, base).Error(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for _, out := range []string{
		"go: failed to initialize build cache at /ro/go-build: mkdir /ro: read-only file system\n",
		"# x\n/tmp/link: write /tmp/a.out: no space left on device\n",
	} {
		if err := compileError(out, exit, Leaf{Dir: dir}, base); !errors.Is(err, ErrCache) {
			t.Errorf("%q: %v, want ErrCache", out, err)
		}
	}
}

func TestLayersOfAVariant(t *testing.T) {
	m, err := parseManifest([]byte(`{"id": "gin", "kind": "server", "variants": ["new", "default"], "layers": ["router"], "variant_layers": {"default": ["logger"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.LayersOf("default"); len(got) != 1 || got[0] != "logger" {
		t.Errorf("default has the layers %v", got)
	}
	if got := m.LayersOf("new"); len(got) != 1 || got[0] != "router" {
		t.Errorf("new has the layers %v", got)
	}
	if _, err := parseManifest([]byte(`{"id": "gin", "kind": "server", "variant_layers": {"old": []}}`)); err == nil {
		t.Error("layers of a variant that is not there")
	}
}

func TestAnswersOfAVariant(t *testing.T) {
	for answers, want := range map[string]string{
		`{"discard": "status"}`: "",
		`{"throw": "status"}`:   `: variant_answers of "throw", which is not one of its variants`,
		`{"discard": "none"}`:   `: variant_answers "none" of discard; known: status`,
		`{"discard": ""}`:       `: variant_answers "" of discard; known: status`,
	} {
		_, err := parseManifest([]byte(`{"id": "part", "kind": "server", "variants": ["discard", "whole"], "variant_answers": ` + answers + `}`))
		if got := fmt.Sprint(err); got != want && (want != "" || err != nil) {
			t.Errorf("%s: %s, want %s", answers, got, want)
		}
	}
}
