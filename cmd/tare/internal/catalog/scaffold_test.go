package catalog

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare/contender/contendertest"
	"github.com/tarebench/tare/internal/build"
)

// here is the catalog of the repository around this test.
func here(t *testing.T) Catalog {
	t.Helper()
	c, err := Find("")
	if err != nil {
		t.Skip("not inside the repository: ", err)
	}
	return c
}

// TestScaffoldConforms makes a contender of every kind outside of the
// repository, whose go.mod names no directory, and runs the conformance suite on
// it with the SDK that a go command would find.
func TestScaffoldConforms(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a contender of each kind")
	}
	c := here(t)
	for _, kind := range Kinds() {
		dir := t.TempDir()
		files, err := Scaffold(c, kind, "my-own", dir)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"contender.json", "go.mod", "main.go"}
		if kind == "rpc" {
			want = []string{"contender.json", "face.go", "go.mod", "layer.go", "main.go"}
		}
		for i, name := range want {
			want[i] = filepath.Join("my-own", name)
		}
		if !slices.Equal(files, want) {
			t.Errorf("%s: wrote %q, want %q", kind, files, want)
		}
		leaf, err := build.ReadLeaf(filepath.Join(dir, "my-own"))
		if err != nil || leaf.Manifest.ID != "my-own" || leaf.Manifest.Kind != kind {
			t.Errorf("%s: %+v %v", kind, leaf.Manifest, err)
		}
		gomod := filepath.Join(dir, "my-own", "go.mod")
		text, err := os.ReadFile(gomod)
		if want := "module example.com/my-own\n\ngo 1.25\n\nrequire github.com/tarebench/tare v0.0.0\n"; err != nil || string(text) != want {
			t.Fatalf("%s: go.mod: %v\n%s", kind, err, text)
		}
		text = fmt.Appendf(text, "replace github.com/tarebench/tare => %q\n", filepath.ToSlash(filepath.Dir(c.Dir)))
		if err := os.WriteFile(gomod, text, 0o644); err != nil {
			t.Fatal(err)
		}
		contendertest.Run(t, filepath.Join(dir, "my-own"))
	}
}

// Every kind that there are contenders of can be begun.
func TestScaffoldKnowsEveryKind(t *testing.T) {
	for _, leaf := range here(t).Leaves() {
		if !slices.Contains(Kinds(), leaf.Manifest.Kind) {
			t.Errorf("scaffold has no directory for kind %s, of %s", leaf.Manifest.Kind, leaf.Manifest.ID)
		}
	}
}

func TestScaffoldInTheRepository(t *testing.T) {
	root, err := build.RealPath(small(t))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Find(root)
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(root, "cmd", "tare") // wherever in it one is
	files, err := Scaffold(c, "codec", "mine", at)
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(root, "contenders", "codec", "mine")
	if len(files) != 3 || filepath.Dir(files[0]) != home {
		t.Errorf("wrote %q, want them in %s", files, home)
	}
	gomod, err := os.ReadFile(filepath.Join(home, "go.mod"))
	if err != nil || !strings.Contains(string(gomod), "\nrequire github.com/tarebench/tare v0.0.0\n\nreplace ") || !strings.HasPrefix(string(gomod), "module github.com/tarebench/tare/contenders/codec/mine\n") || !strings.HasSuffix(string(gomod), "\nreplace github.com/tarebench/tare => ../../..\n") {
		t.Errorf("go.mod: %v\n%s", err, gomod)
	}
	if c, err = Find(root); err != nil {
		t.Fatal(err)
	}
	if leaf, _, err := c.Leaf("codec", "mine"); err != nil || leaf.Dir != home {
		t.Errorf("it is not in the catalog: %v %v", leaf, err)
	}
}

func TestScaffoldRefuses(t *testing.T) {
	root, err := build.RealPath(small(t))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Find(root)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	write(t, elsewhere, map[string]string{"taken/notes.txt": "mine"})
	for _, x := range []struct{ kind, name, want string }{
		{"planet", "x", `unknown kind "planet"; known: codec, copier, router, rpc, server`},
		{"", "x", `unknown kind ""; known: codec, copier, router, rpc, server`},
		{"..", "x", `unknown kind ".."; known: codec, copier, router, rpc, server`},
		{"codec", "Mine", `"Mine" cannot be a contender's name`},
		{"codec", "../up", `"../up" cannot be a contender's name`},
		{"codec", "", `"" cannot be a contender's name`},
		{"codec", "a--b", "cannot be a contender's name"},
		{"codec", "null", `"null" is reserved`},
		{"codec", "control", `"control" is reserved`},
		{"codec", "jsoniter-fastest", "there is a codec called jsoniter-fastest already: "},
		{"codec", "taken", filepath.Join(elsewhere, "taken") + " is there already"},
	} {
		files, err := Scaffold(c, x.kind, x.name, elsewhere)
		if err == nil || !strings.Contains(err.Error(), x.want) || strings.Contains(err.Error(), "\n") || files != nil {
			t.Errorf("%s/%s: %q %v, want %s", x.kind, x.name, files, err, x.want)
		}
	}
	if entries, err := os.ReadDir(elsewhere); err != nil || len(entries) != 1 {
		t.Errorf("something was written: %v", entries)
	}
	if _, err := Scaffold(c, "codec", "broken", root); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("a folder that holds something: %v", err)
	}
	bare := t.TempDir() // contenders of somebody's own, without the SDK
	write(t, bare, map[string]string{"mine/contender.json": `{"id":"mine","kind":"codec"}`})
	if c, err = Find(bare); err != nil {
		t.Fatal(err)
	}
	if _, err := Scaffold(c, "codec", "x", elsewhere); err != nil {
		t.Errorf("without an SDK: %v", err)
	}
}
