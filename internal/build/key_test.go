package build

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestKeyCoversWhatCanChangeTheBinary(t *testing.T) {
	root := t.TempDir()
	leafDir := filepath.Join(root, "contenders", "codec", "x")
	files := map[string]string{
		"go.mod":                            "module github.com/tarebench/tare\n",
		"study.go":                          "package tare\n",
		"README.md":                         "words\n",
		"contender/codec/codec.go":          "package codec\n",
		"contender/codec/codec_test.go":     "package codec\n",
		"contender/contendertest/run.go":    "package contendertest\n",
		"apps/tiny/tiny.go":                 "package tiny\n",
		"lab/lab.go":                        "package lab\n",
		"load/load.go":                      "package load\n",
		"load/hist/hist.go":                 "package hist\n",
		"load/h2/frame.go":                  "package h2\n",
		"other/go.mod":                      "module example.com/other\n",
		"other/other.go":                    "package other\n",
		"contenders/codec/x/go.mod":         "module example.com/x\nrequire (\n\tgithub.com/tarebench/tare v0.0.0\n\texample.com/other v0.0.0\n)\nreplace (\n\tgithub.com/tarebench/tare => ../../.. // the SDK\n\texample.com/other v0.0.0 => ../../../other\n\texample.com/far => example.com/fork v1.2.3\n)\n",
		"contenders/codec/x/go.sum":         "example.com/y v1.0.0 h1:abc=\n",
		"contenders/codec/x/main.go":        "package main\n",
		"contenders/codec/x/main_test.go":   "package main\n",
		"contenders/codec/x/data/table.bin": "embedded",
		"contenders/codec/x/contender.json": `{"id":"x","kind":"codec"}`,
		"contenders/codec/x/nested/go.mod":  "module example.com/nested\n",
		"contenders/codec/x/nested/a.go":    "package nested\n",
		"contenders/codec/x/.git/index":     "index",
		"contenders/codec/y/main.go":        "package main\n",
	}
	writeFiles(t, root, files)
	tool := toolchain{env: map[string]string{"GOVERSION": "go1.25.0", "CGO_ENABLED": "0"}}
	at := func(tool toolchain) string {
		t.Helper()
		mod, err := readModule(leafDir)
		if err != nil {
			t.Fatal(err)
		}
		k, err := buildKey(tool, Leaf{Dir: leafDir}, mod)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	before := at(tool)
	if len(before) != 32 || at(tool) != before {
		t.Fatalf("key %q is not stable", before)
	}
	for file, changes := range map[string]bool{
		"go.mod": true, "study.go": true, "contender/codec/codec.go": true, "apps/tiny/tiny.go": true, "other/other.go": true,
		"load/hist/hist.go": true, "load/h2/frame.go": true, "load/load.go": false,
		"contenders/codec/x/go.mod": true, "contenders/codec/x/go.sum": true, "contenders/codec/x/main.go": true,
		"contenders/codec/x/data/table.bin": true, "contenders/codec/x/contender.json": true,
		"README.md": false, "contender/contendertest/run.go": false, "lab/lab.go": false, "contender/codec/codec_test.go": false, "contenders/codec/x/main_test.go": false,
		"contenders/codec/x/nested/a.go": false, "contenders/codec/x/.git/index": false, "contenders/codec/y/main.go": false,
	} {
		writeFiles(t, root, map[string]string{file: files[file] + "// changed\n"})
		if got := at(tool) != before; got != changes {
			t.Errorf("changing %s changes the key: %v, want %v", file, got, changes)
		}
		writeFiles(t, root, map[string]string{file: files[file]})
	}
	if at(tool) != before {
		t.Error("the key does not come back with the content")
	}
	if err := os.Rename(filepath.Join(leafDir, "main.go"), filepath.Join(leafDir, "main2.go")); err != nil {
		t.Fatal(err)
	}
	if at(tool) == before {
		t.Error("renaming a file does not change the key")
	}
	if err := os.Rename(filepath.Join(leafDir, "main2.go"), filepath.Join(leafDir, "main.go")); err != nil {
		t.Fatal(err)
	}
	for _, name := range keySettings {
		other := toolchain{env: maps.Clone(tool.env)}
		other.env[name] += "x"
		if at(other) == before {
			t.Errorf("changing %s does not change the key", name)
		}
	}
}

// A contender inside a larger module of the user's is keyed by all of it.
// Two links to different programs are different programs.
func TestKeyThroughALink(t *testing.T) {
	root := t.TempDir()
	writeFiles(t, root, map[string]string{
		"a/go.mod": "module example.com/a\n", "a/main.go": "package main // a\n",
		"b/go.mod": "module example.com/a\n", "b/main.go": "package main // b\n",
	})
	tool := toolchain{env: map[string]string{"GOVERSION": "go1.25.0"}}
	keys := map[string]string{}
	for _, name := range []string{"a", "b", "link-a", "link-b"} {
		dir := filepath.Join(root, name)
		if target, isLink := strings.CutPrefix(name, "link-"); isLink {
			if err := os.Symlink(filepath.Join(root, target), dir); err != nil {
				t.Skip(err)
			}
		}
		dir, err := RealPath(dir)
		if err != nil {
			t.Fatal(err)
		}
		mod, err := readModule(dir)
		if err != nil {
			t.Fatal(err)
		}
		if keys[name], err = buildKey(tool, Leaf{Dir: dir}, mod); err != nil {
			t.Fatal(err)
		}
	}
	if keys["a"] != keys["link-a"] || keys["b"] != keys["link-b"] || keys["a"] == keys["b"] {
		t.Errorf("keys %v: a link is what it points at", keys)
	}
}

func TestKeyOfALeafInsideAModule(t *testing.T) {
	root := t.TempDir()
	writeFiles(t, root, map[string]string{"go.mod": "module example.com/mine\n", "types/types.go": "package types\n", "cmd/codec/main.go": "package main\n"})
	dir := filepath.Join(root, "cmd", "codec")
	mod, err := readModule(dir)
	if err != nil {
		t.Fatal(err)
	}
	if mod.root != root {
		t.Fatalf("module at %s, want %s", mod.root, root)
	}
	before, err := buildKey(toolchain{}, Leaf{Dir: dir}, mod)
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, root, map[string]string{"types/types.go": "package types\n\ntype T int\n"})
	after, err := buildKey(toolchain{}, Leaf{Dir: dir}, mod)
	if err != nil || after == before {
		t.Errorf("a change in the module leaves the key (%v)", err)
	}
	writeFiles(t, root, map[string]string{"types/types.go": "package types\n"})
	whole, err := buildKey(toolchain{}, Leaf{Dir: root}, mod)
	if err != nil || whole == before {
		t.Errorf("another package of the module has the same key (%v)", err)
	}
}

func TestNoModule(t *testing.T) {
	_, err := readModule(t.TempDir())
	if err == nil {
		t.Skip("a go.mod lies above the temporary directory")
	}
	if !strings.Contains(err.Error(), "no go.mod here or above") {
		t.Errorf("error %v", err)
	}
}
