package archive

import (
	"bytes"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestCollectTakesWhatContendersAreBuiltFrom(t *testing.T) {
	root := t.TempDir()
	for name, body := range map[string]string{
		"go.mod": "module m\n", "LICENSE": "free\n", "README.md": "no", "study.go": "package m\n", "study_test.go": "no", "Makefile": "no", ".gitignore": "no",
		"contender/wire/wire.go": "package wire\n", "contender/wire/wire_test.go": "no", "contender/wire/testdata/x": "no", "contender/contendertest/run.go": "no",
		"apps/tiny/tiny.go": "package tiny\n", "lab/lab.go": "no", "load/load.go": "no", "load/hist/hist.go": "package hist\n", "load/hist/hist_test.go": "no", "cmd/tare/main.go": "no", "contendersx/a.go": "no",
		"cgocopy/go.mod": "module c\n", "cgocopy/arena.go": "package cgocopy\n", "cgocopy/arena_test.go": "no", "cgocopy/README.md": "no", "cgocopy/internal/emit/emit.go": "no",
		"contender/copier/cmem/fill.c": "int x;\n",
		"contenders/codec/x/go.mod":    "module x\n", "contenders/codec/x/go.sum": "", "contenders/codec/x/main.go": "no newline at the end",
		"contenders/codec/x/contender.json": "{}\n", "contenders/codec/x/.hidden": "no",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := Collect(root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, f.Path)
		if string(f.Data) == "no" {
			t.Errorf("%s is in the archive", f.Path)
		}
	}
	want := "LICENSE apps/tiny/tiny.go cgocopy/arena.go cgocopy/go.mod contender/copier/cmem/fill.c contender/wire/wire.go contenders/codec/x/contender.json contenders/codec/x/go.mod contenders/codec/x/go.sum contenders/codec/x/main.go go.mod load/hist/hist.go study.go"
	if strings.Join(got, " ") != want {
		t.Errorf("files\n%s\nwant\n%s", strings.Join(got, " "), want)
	}
	again, err := Parse(Format(files))
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range again {
		if f.Path != files[i].Path || !bytes.Equal(f.Data, files[i].Data) {
			t.Errorf("%s does not come back", f.Path)
		}
	}
	if !bytes.Equal(Format(again), Format(files)) {
		t.Error("the archive is not deterministic")
	}
	if err := os.WriteFile(filepath.Join(root, "contenders", "codec", "x", "x"), []byte("\x7fELF\x00"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Collect(root); err == nil || !strings.Contains(err.Error(), "contenders/codec/x/x is not text") {
		t.Errorf("a binary among the sources: %v", err)
	}
}

func TestParseErrors(t *testing.T) {
	for _, src := range []string{
		"", "other\n", formatLine, formatLine + "\nx", formatLine + "\nx\n", formatLine + "\n== a\n", formatLine + "\n== a 5\nab\n", formatLine + "\n== a -1\n\n", formatLine + "\n== a x\n\n",
		formatLine + "\n== ../a 1\nb\n", formatLine + "\n== /a 1\nb\n", formatLine + "\n== . 1\nb\n", formatLine + "\n==  1\nb\n", formatLine + "\n== a 1\nbc",
	} {
		if files, err := Parse([]byte(src)); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v %v", src, files, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(Format([]File{{"a/b.go", []byte("package b\n")}, {"c", nil}}))
	f.Fuzz(func(t *testing.T, src []byte) {
		files, err := Parse(src)
		if err != nil {
			return
		}
		again, err := Parse(Format(files))
		if err != nil || !reflect.DeepEqual(again, files) {
			t.Fatalf("%v: %q becomes %q", err, files, again)
		}
	})
}

// Whatever a source of the archive imports of this repository is in it.
func TestTheArchiveHoldsWhatItImports(t *testing.T) {
	const module = "github.com/tarebench/tare"
	files, err := Collect(filepath.Join("..", "..", "..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	holds := map[string]bool{}
	for _, f := range files {
		if strings.HasSuffix(f.Path, ".go") {
			holds[path.Join(module, path.Dir(f.Path))] = true
		}
	}
	own := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Path, ".go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Path, f.Data, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range parsed.Imports {
			name := strings.Trim(i.Path.Value, `"`)
			if name != module && !strings.HasPrefix(name, module+"/") {
				continue
			}
			own++
			if !holds[name] {
				t.Errorf("%s imports %s, which is not in the archive", f.Path, name)
			}
		}
	}
	if own < 100 {
		t.Errorf("only %d imports of this repository", own)
	}
}
