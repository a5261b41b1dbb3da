package catalog

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/catalog/archive"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/lab"
)

func write(t *testing.T, dir string, files map[string]string) {
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

// small is a repository with a few contenders.
func small(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	write(t, root, map[string]string{
		"go.mod":          "// a comment\nmodule github.com/tarebench/tare\n",
		"cmd/tare/go.mod": "module github.com/tarebench/tare/cmd/tare\n",
		"contenders/codec/jsoniter/contender.json":                  `{"id":"jsoniter","kind":"codec","variants":["fastest","compatible"]}`,
		"contenders/codec/encoding-json/contender.json":             `{"id":"encoding-json","kind":"codec"}`,
		"contenders/codec/jsoniter-stream-unflushed/contender.json": `{"id":"jsoniter-stream-unflushed","kind":"codec","trap":true}`,
		"contenders/codec/broken/contender.json":                    `{"id":"broken",`,
		"contenders/router/null/contender.json":                     `{"id":"null","kind":"router"}`,
		"contenders/router/gin/contender.json":                      `{"id":"gin","kind":"router"}`,
		"contenders/codec/null/contender.json":                      `{"id":"null","kind":"codec"}`,
	})
	return root
}

func TestFindWalksUp(t *testing.T) {
	root := small(t)
	t.Chdir(filepath.Join(root, "cmd", "tare"))
	c, err := Find("")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, leaf := range c.Leaves() {
		got = append(got, leaf.Manifest.Kind+"/"+leaf.Manifest.ID)
	}
	want := "codec/encoding-json codec/jsoniter codec/jsoniter-stream-unflushed codec/null router/gin router/null"
	if strings.Join(got, " ") != want {
		t.Errorf("leaves %s, want %s", strings.Join(got, " "), want)
	}
	if ids := c.IDs("codec"); !slices.Equal(ids, []string{"encoding-json", "jsoniter-compatible", "jsoniter-fastest", "jsoniter-stream-unflushed", "null"}) {
		t.Errorf("ids %q", ids)
	}
	t.Chdir(t.TempDir())
	if _, err := Find(""); !errors.Is(err, ErrNone) {
		t.Errorf("outside of a repository: %v, want ErrNone", err)
	}
}

func TestFindInADirectory(t *testing.T) {
	root := small(t)
	for dir, want := range map[string]int{root: 6, filepath.Join(root, "contenders"): 6, filepath.Join(root, "contenders", "codec"): 4, filepath.Join(root, "contenders", "codec", "null"): 1} {
		c, err := Find(dir)
		if err != nil || len(c.Leaves()) != want {
			t.Errorf("%s: %d contenders (%v), want %d", dir, len(c.Leaves()), err, want)
		}
	}
	for _, dir := range []string{t.TempDir(), filepath.Join(root, "nowhere"), filepath.Join(root, "go.mod")} {
		if _, err := Find(dir); err == nil || !strings.Contains(err.Error(), filepath.Base(dir)) {
			t.Errorf("%s: %v, want an error that names it", dir, err)
		}
	}
	write(t, root, map[string]string{"contenders/codec/again/contender.json": `{"id":"jsoniter-fastest","kind":"codec"}`})
	if _, err := Find(root); err == nil || !strings.Contains(err.Error(), "jsoniter-fastest is both") {
		t.Errorf("one id for two contenders: %v", err)
	}
}

func TestLeaf(t *testing.T) {
	c, err := Find(small(t))
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string][2]string{
		"encoding-json": {"encoding-json", ""}, "jsoniter-fastest": {"jsoniter", "fastest"}, "jsoniter-compatible": {"jsoniter", "compatible"},
		"jsoniter-stream-unflushed": {"jsoniter-stream-unflushed", ""}, "null": {"null", ""},
	} {
		leaf, variant, err := c.Leaf("codec", id)
		if err != nil || leaf.Manifest.ID != want[0] || variant != want[1] || leaf.Manifest.Kind != "codec" {
			t.Errorf("%s: %s %q %v", id, leaf.Manifest.ID, variant, err)
		}
	}
	for id, want := range map[string]string{
		"jsoniter":     `unknown contender "jsoniter"; did you mean jsoniter-fastest or jsoniter-compatible or jsoniter-stream-unflushed?`,
		"encodng-json": `unknown contender "encodng-json"; did you mean encoding-json?`,
		"gin":          `unknown codec "gin" (there is a router of that name)`,
		"zzz":          `unknown contender "zzz"`,
	} {
		_, _, err := c.Leaf("codec", id)
		var unknown *lab.UnknownError
		if !errors.As(err, &unknown) || err.Error() != want {
			t.Errorf("%s: %v, want %s", id, err, want)
		}
	}
	if _, _, err := c.Leaf("codec", "broken"); err == nil || !strings.Contains(err.Error(), "contender.json:1:15: the file ends too early") {
		t.Errorf("a contender that cannot be read: %v", err)
	}
}

// A go.mod that cannot be read is not one that is absent.
func TestUnreadableModule(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "go.mod")
	if err := os.Symlink(file, file); err != nil {
		t.Skip(err)
	}
	below := filepath.Join(dir, "a")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(below)
	_, errLocate := Locate("", t.TempDir())
	_, errSDK := SDK(Catalog{Dir: below}, t.TempDir())
	_, errNew := Scaffold(Catalog{}, "codec", "my-codec", below)
	_, errClone := openClone(filepath.Join(below, "x.go"))
	for i, err := range []error{errLocate, errSDK, errNew, errClone} {
		if err == nil || !strings.Contains(err.Error(), "go.mod") {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// carryArchive gives this binary an archive, as make install does.
func carryArchive(t *testing.T) {
	root, err := Repository(filepath.Dir(sourceFile()))
	if err != nil {
		t.Skip("not inside the repository: there is nothing to pack")
	}
	files, err := archive.Collect(root)
	if err != nil {
		t.Fatal(err)
	}
	before := packed
	t.Cleanup(func() { packed = before })
	packed = archive.Format(files)
}

func TestCarriedArchive(t *testing.T) {
	carryArchive(t)
	cache := t.TempDir()
	t.Chdir(t.TempDir()) // not in the repository
	c, err := Locate("", cache)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(c.Dir, filepath.Join(cache, "catalog")) || len(c.broken) != 0 {
		t.Errorf("at %s, broken %v", c.Dir, c.broken)
	}
	root := filepath.Dir(c.Dir)
	files, err := archive.Parse(packed)
	if err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(root, filepath.FromSlash(files[0].Path))
	if err := os.WriteFile(damaged, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Carried(cache); err != nil {
		t.Fatal(err)
	}
	again, err := archive.Collect(root)
	if err != nil || !bytes.Equal(archive.Format(again), packed) {
		t.Errorf("what was unpacked is not what was packed (%v)", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	write(t, filepath.Dir(file), map[string]string{"file": ""})
	if _, err := Carried(file); !errors.Is(err, build.ErrCache) || !strings.Contains(err.Error(), file) {
		t.Errorf("a cache that cannot be written: %v", err)
	}
}

// A binary without an archive uses the clone it was built in, as long as that
// is there.
func TestCarriedClone(t *testing.T) {
	root := small(t)
	if c, err := openClone(filepath.Join(root, "cmd", "tare", "x.go")); err != nil || c.Dir != filepath.Join(root, "contenders") {
		t.Errorf("%s, %v", c.Dir, err)
	}
	gone := filepath.Join(t.TempDir(), "cmd", "tare", "x.go")
	for _, source := range []string{gone, filepath.Join("trimmed", "x.go")} {
		if _, err := openClone(source); err == nil || !strings.Contains(err.Error(), "no clone around "+source) {
			t.Errorf("%s: %v", source, err)
		}
	}
}
