package build

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestParseModule(t *testing.T) {
	at := func(rel string) string { return filepath.Join("/m", rel) }
	for _, c := range []struct {
		name, src string
		want      leafModule
	}{
		{"lines", "module x\ngo 1.25 // least\nrequire f v1.0.0\nrequire g v2.0.0+incompatible // indirect\nreplace a => ./a // why\nreplace b v1.0.0 => ../b\n", leafModule{
			path: "x", goLine: "1.25", require: []requirement{{"f", "v1.0.0", false}, {"g", "v2.0.0+incompatible", true}},
			replace: []replacement{{path: "a", dir: at("a")}, {path: "b", version: "v1.0.0", dir: at("../b")}},
		}},
		{"blocks", "require (\n\tf v1.0.0\n\tg v1.0.0 // indirect\n)\nreplace (\n e => ./e\n)\nexclude (\n\th v1.0.0\n)\nrequire i v1.0.0\n", leafModule{
			require: []requirement{{"f", "v1.0.0", false}, {"g", "v1.0.0", true}, {"i", "v1.0.0", false}}, replace: []replacement{{path: "e", dir: at("e")}},
		}},
		{"quoted, with a space", "replace \"c\" => \"./my dir\"\nreplace d => `./d`\n", leafModule{
			replace: []replacement{{path: "c", dir: at("my dir")}, {path: "d", dir: at("d")}},
		}},
		{"by another module", "replace d => d2 v1.0.0\n", leafModule{replace: []replacement{{path: "d"}}}},
		{"odd ones are the go command's", "replace => ./a\nreplace a b c => ./a\nreplace a =>\nrequire a\ngo\nreplace\n// replace q => ./q\nretract v1.0.0\n", leafModule{}},
	} {
		c.want.root = "/m"
		if got := parseModule("/m", []byte(c.src)); filepath.Separator == '/' && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", c.name, got, c.want)
		}
	}
}

func TestRequires(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"go.mod": "module x\n\nrequire github.com/a/b v1.0.0 // indirect\n", "cmd/mine/main.go": "package main\n"})
	leaf := Leaf{Dir: filepath.Join(dir, "cmd", "mine")}
	for path, want := range map[string]bool{"github.com/a/b": true, "github.com/a": false, "github.com/a/b/c": false} {
		if got, err := leaf.Requires(path); got != want || err != nil {
			t.Errorf("%s: %v %v, want %v", path, got, err, want)
		}
	}
}

func FuzzParseModule(f *testing.F) {
	f.Add("module x\nreplace a => \"./a\n")
	f.Add("require (\nreplace (\n) )\n")
	f.Add("replace `a` v1 => '/'//\\\n")
	f.Fuzz(func(t *testing.T, src string) {
		m := parseModule("/m", []byte(src))
		for _, r := range m.replace {
			if r.dir != "" && !filepath.IsAbs(r.dir) {
				t.Errorf("%q: replacement %+v", src, r)
			}
		}
		for _, w := range splitWords("a " + src) {
			if w == "" && !strings.ContainsAny(src, "\"`") {
				t.Errorf("%q: an empty word", src)
			}
		}
	})
}
