package build

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// makePinnable makes a repository with one contender, which requires a module.
func makePinnable(t *testing.T) Leaf {
	t.Helper()
	root := t.TempDir()
	writeFiles(t, root, map[string]string{
		"go.mod":                 "module github.com/tarebench/tare\n\ngo 1.25\n",
		"contender/contender.go": "package contender\n",
		"contenders/codec/x/go.mod": "module github.com/tarebench/tare/contenders/codec/x\n\ngo 1.25\n\nrequire (\n\tgithub.com/a/b v1.2.0\n\tgithub.com/tarebench/tare v0.0.0\n)\n\n" +
			"require (\n\tgithub.com/c/d v0.5.0 // indirect\n\tgithub.com/e/f v0.6.0 // indirect\n)\n\nreplace github.com/tarebench/tare => ../../..\n",
		"contenders/codec/x/main.go":        "package main\n",
		"contenders/codec/x/main_test.go":   "package main\n",
		"contenders/codec/x/model/model.go": "package model\n",
		"contenders/codec/x/contender.json": `{"id":"x","kind":"codec","modules":["github.com/a/b@v1.2.0","std:encoding/json","github.com/c/d"]}`,
	})
	leaf, err := ReadLeaf(filepath.Join(root, "contenders", "codec", "x"))
	if err != nil {
		t.Fatal(err)
	}
	return leaf
}

// readFiles returns the contents of the files below dir, by path.
func readFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			var src []byte
			src, err = os.ReadFile(path)
			rel, _ := filepath.Rel(dir, path)
			out[filepath.ToSlash(rel)] = string(src)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPrepareThenCacheHit(t *testing.T) {
	leaf, cache := makePinnable(t), t.TempDir()
	sdk := filepath.Dir(filepath.Dir(filepath.Dir(leaf.Dir)))
	before := readFiles(t, sdk)
	p := &played{says: map[string]string{"mod graph": "x github.com/a/b@v1.2.0\ngithub.com/a/b@v1.2.0 github.com/c/d@v0.5.0\nx github.com/e/f@v0.6.0\n"}}
	pin := Pin{With: []With{{Path: "github.com/a/b", Version: "v1.1.0"}}, Go: "go1.25.5"}
	made, err := p.builder(t, cache).Prepare(t.Context(), leaf, pin)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"go1.25.5off mod edit -replace=github.com/tarebench/tare=" + sdk,
		"localoff mod graph", // as it is, a leaf may need a newer toolchain
		"go1.25.5off mod edit -toolchain=none -go=1.25.5 -droprequire=github.com/c/d -require=github.com/a/b@v1.1.0",
		"go1.25.5off list -mod=mod -deps .",
	}
	if got := p.asked(t); !slices.Equal(got, want) {
		t.Errorf("asked\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if filepath.Dir(made.Dir) != filepath.Join(cache, "pinned") || made.Go != "go1.25.5" {
		t.Errorf("prepared %+v", made)
	}
	if got := made.Manifest.Modules; !slices.Equal(got, []string{"github.com/a/b", "std:encoding/json", "github.com/c/d"}) {
		t.Errorf("claims %q: the version that is not asked for is still claimed", got)
	}
	copied := readFiles(t, made.Dir)
	if len(copied) != 4+1 || copied["model/model.go"] == "" || !strings.Contains(copied["go.mod"], "github.com/a/b v1.1.0") {
		t.Errorf("copied %q", copied)
	}
	if after := readFiles(t, sdk); len(after) != len(before) || after["contenders/codec/x/go.mod"] != before["contenders/codec/x/go.mod"] {
		t.Error("something was written into the repository")
	}
	if leaf.Manifest.Modules[0] != "github.com/a/b@v1.2.0" {
		t.Error("the leaf's own manifest was changed")
	}

	again := &played{}
	second, err := again.builder(t, cache).Prepare(t.Context(), leaf, pin)
	if err != nil || second.Dir != made.Dir || len(again.asked(t)) != 0 {
		t.Errorf("second time: %v, at %s, asked %q", err, second.Dir, again.asked(t))
	}
	pin.Go = ""
	other, err := p.builder(t, cache).Prepare(t.Context(), leaf, pin)
	if err != nil || other.Dir == made.Dir {
		t.Errorf("with another toolchain: %v, at %s", err, other.Dir)
	}
	writeFiles(t, leaf.Dir, map[string]string{"main.go": "package main // changed\n"})
	changed, err := p.builder(t, cache).Prepare(t.Context(), leaf, pin)
	if err != nil || changed.Dir == other.Dir {
		t.Errorf("a changed leaf: %v, at %s", err, changed.Dir)
	}
	if same, err := (&Builder{}).Prepare(t.Context(), leaf, Pin{}); err != nil || same.Dir != leaf.Dir {
		t.Errorf("nothing asked: %v %s", err, same.Dir)
	}
	if left, err := filepath.Glob(filepath.Join(cache, "pinned", tmpPrefix+"*")); err != nil || len(left) != 0 {
		t.Errorf("left %q", left)
	}
}

// A copy that a power cut or an interrupted removal damaged is made again.
func TestADamagedCopyIsMadeAgain(t *testing.T) {
	leaf, cache := makePinnable(t), t.TempDir()
	pin := Pin{With: []With{{Path: "github.com/a/b", Version: "v1.1.0"}}}
	made, err := (&played{}).builder(t, cache).Prepare(t.Context(), leaf, pin)
	if err != nil {
		t.Fatal(err)
	}
	want := readFiles(t, made.Dir)
	for what, damage := range map[string]func(at func(string) string) error{
		"a file is empty":     func(at func(string) string) error { return os.Truncate(at("main.go"), 0) },
		"a folder is missing": func(at func(string) string) error { return os.RemoveAll(at("model")) },
		"no go.mod":           func(at func(string) string) error { return os.Remove(at("go.mod")) },
	} {
		if err := damage(func(name string) string { return filepath.Join(made.Dir, name) }); err != nil {
			t.Fatal(err)
		}
		again, err := (&played{}).builder(t, cache).Prepare(t.Context(), leaf, pin)
		if err != nil || again.Dir != made.Dir {
			t.Errorf("%s: at %s, %v", what, again.Dir, err)
		}
		if got := readFiles(t, made.Dir); !maps.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
}

func TestPreparationIsInterrupted(t *testing.T) {
	p := &played{hang: "list -mod=mod"}
	cache := t.TempDir()
	b := p.builder(t, cache)
	beats := filepath.Join(p.dir, "beats")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for fileSize(beats) < 3 && t.Context().Err() == nil {
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	_, err := b.Prepare(ctx, makePinnable(t), Pin{Go: "go1.25.5"})
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
	wantStopped(t, beats)
	if left, err := os.ReadDir(filepath.Join(cache, "pinned")); err != nil || len(left) != 0 {
		t.Errorf("left %v (%v)", left, err)
	}
}

func TestPrepareAsksForWhatIsNoVersion(t *testing.T) {
	leaf, cache := makePinnable(t), t.TempDir()
	p := &played{says: map[string]string{"list -m -json github.com/a/b@latest": `{"Path":"github.com/a/b","Version":"v1.3.0"}`}}
	b := p.builder(t, cache)
	pin := Pin{With: []With{{Path: "github.com/a/b", Version: "latest"}}}
	first, err := b.Prepare(t.Context(), leaf, pin)
	if err != nil || !strings.Contains(readFiles(t, first.Dir)["go.mod"], "github.com/a/b v1.3.0") {
		t.Fatalf("%v: %q", err, readFiles(t, first.Dir)["go.mod"])
	}
	p.says = map[string]string{"list -m -json github.com/a/b@latest": `{"Path":"github.com/a/b","Version":"v1.4.0"}`}
	later, err := p.builder(t, cache).Prepare(t.Context(), leaf, pin)
	if err != nil || later.Dir == first.Dir {
		t.Errorf("when latest has moved on: %v, at %s", err, later.Dir)
	}
	p.says, p.fail = nil, map[string]string{"list -m": "go: github.com/a/b@latest: no matching versions for query \"latest\"\n"}
	_, err = p.builder(t, cache).Prepare(t.Context(), leaf, pin)
	if err == nil || err.Error() != `github.com/a/b@latest: no matching versions for query "latest"` {
		t.Errorf("no such version: %v", err)
	}
}

// A local directory, with the real go command: nothing has to be fetched.
func TestPrepareWithADirectory(t *testing.T) {
	dir := t.TempDir()
	manifest := `{"id":"mine","kind":"codec","modules":["example.com/dep@v1.0.0"],"symbols":["dep.Old"]}`
	writeFiles(t, dir, map[string]string{
		"mine/go.mod":                    "module example.com/mine\n\ngo 1.25\n\nrequire example.com/dep v1.0.0\n\nreplace example.com/dep => ../old\n",
		"mine/cmd/codec/a.go":            "package main\n\nimport \"example.com/dep\"\n\nfunc main() { println(dep.Name()) }\n",
		"mine/cmd/codec/" + ManifestName: manifest,
		"old/go.mod":                     "module example.com/dep\n",
		"old/dep.go":                     "package dep\n\n//go:noinline\nfunc Name() string { return \"old\" }\n",
		"new/go.mod":                     "module example.com/dep\n\nrequire example.com/more v1.0.0\n",
		"new/dep.go":                     "package dep\n\nimport _ \"example.com/more\"\n\nfunc Name() string { return \"new\" }\n",
	})
	leaf, err := ReadLeaf(filepath.Join(dir, "mine", "cmd", "codec"))
	if err != nil {
		t.Fatal(err)
	}
	b := &Builder{Cache: t.TempDir(), Env: append(os.Environ(), "GOPROXY=off")}
	_, err = b.Prepare(t.Context(), leaf, Pin{With: []With{{Path: "example.com/dep", Dir: filepath.Join(dir, "new")}}})
	if err == nil || !strings.Contains(err.Error(), "mine cannot be built with that: ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("a directory that needs what cannot be had: %v", err)
	}
	writeFiles(t, dir, map[string]string{"new/go.mod": "module example.com/dep\n", "new/dep.go": "package dep\n\n//go:noinline\nfunc Name() string { return \"new\" }\n"})
	pin := Pin{With: []With{{Path: "example.com/dep", Dir: filepath.Join(dir, "new")}}}
	made, err := b.Prepare(t.Context(), leaf, pin)
	if err != nil {
		t.Fatal(err)
	}
	built, err := b.Build(t.Context(), made)
	if err != nil {
		t.Fatal(err)
	}
	if mods := built.Program("").Contender.Modules; len(mods) != 1 || mods[0].Version != "(devel)" || !strings.HasSuffix(mods[0].Replace, "new") {
		t.Errorf("linked %+v", mods)
	}
	if missing := built.Program("").Contender.Identity.MissingModules; len(missing) != 0 {
		t.Errorf("void by identity for the version that was not asked for: %q", missing)
	}
	writeFiles(t, dir, map[string]string{"new/dep.go": "package dep\n\nfunc Name() string { return \"newer\" }\n"})
	if newer, err := b.Prepare(t.Context(), leaf, pin); err != nil || newer.Dir == made.Dir {
		t.Errorf("a change in the directory: %v, at %s", err, newer.Dir)
	}
	writeFiles(t, dir, map[string]string{"new/dep.go": "package dep\n\nfunc Other() {}\n"})
	newest, err := b.Prepare(t.Context(), leaf, pin)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = b.Build(t.Context(), newest); err == nil || err.Error() != "cmd/codec/a.go:5:27: undefined: dep.Name" {
		t.Errorf("a directory that does not fit: %v", err)
	}
}
