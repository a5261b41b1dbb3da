package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A leaf that says only which version of the SDK it requires is built with the
// builder's; nothing of that is left in its folder. So is one whose replacement
// leads nowhere on this machine.
func TestTheSDKIsSupplied(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(t.TempDir(), "gone")
	for name, replace := range map[string]string{"none": "", "gone": "replace github.com/tarebench/tare => " + gone + "\n"} {
		gomod := "module example.com/tiny\n\ngo 1.25\n\nrequire (\n\texample.com/dep v1.0.0\n\tgithub.com/tarebench/tare v0.7.0\n)\n\nreplace example.com/dep => ../dep\n\n" + replace
		dir := t.TempDir()
		writeFiles(t, dir, map[string]string{
			"it's mine/go.mod":          gomod,
			"it's mine/go.sum":          "example.com/else v1.0.0/go.mod h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n",
			"it's mine/main.go":         strings.Replace(tinyMain, "import (", "import (\n\t_ \"example.com/dep\"\n", 1),
			"it's mine/" + ManifestName: `{"id":"tiny","kind":"codec"}`,
			"dep/go.mod":                "module example.com/dep\n",
			"dep/dep.go":                "package dep\n",
		})
		before := readFiles(t, dir)
		leaf, err := ReadLeaf(filepath.Join(dir, "it's mine"))
		if err != nil {
			t.Fatal(err)
		}
		bases := []string{"an other cache", "cache"}
		if testing.Short() {
			bases = bases[:1]
		}
		for _, base := range bases {
			b := &Builder{Cache: filepath.Join(t.TempDir(), base), SDK: root}
			built, err := b.Build(t.Context(), leaf)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if again, err := b.Build(t.Context(), leaf); err != nil || !again.Cached || again.Path != built.Path {
				t.Errorf("%s: again: %+v %v", name, again, err)
			}
			wantNoLeftovers(t, b.Cache)
		}
		for file, text := range readFiles(t, dir) {
			if before[file] != text {
				t.Errorf("%s: %s was changed", name, file)
			}
		}
		if without, err := (&Builder{Cache: t.TempDir(), Env: append(os.Environ(), "GOPROXY=off")}).Build(t.Context(), leaf); err == nil {
			t.Errorf("%s: without an SDK it was built: %+v", name, without)
		}
	}
}

// What says where its SDK is keeps it, and what needs none gets none.
func TestTheSDKIsNotForced(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"own/go.mod":       "module x\nrequire github.com/tarebench/tare v0.1.0\nreplace github.com/tarebench/tare => ../sdk\n",
		"elsewhere/go.mod": "module x\nrequire github.com/tarebench/tare v0.1.0\nreplace github.com/tarebench/tare => example.com/fork v1.0.0\n",
		"needless/go.mod":  "module x\n",
		"open/go.mod":      "module x\nrequire github.com/tarebench/tare v0.1.0\n",
		"sdk/go.mod":       "module github.com/tarebench/tare\n",
	})
	b := &Builder{SDK: filepath.Join(dir, "given")}
	for name, want := range map[string]string{"own": filepath.Join(dir, "sdk"), "elsewhere": "", "needless": "", "open": b.SDK} {
		m, err := b.loadModule(filepath.Join(dir, name))
		if err != nil || m.sdkDir() != want || m.supplied != (name == "open") {
			t.Errorf("%s: %+v %v, want the SDK %q", name, m, err, want)
		}
	}
}

func TestFlag(t *testing.T) {
	for in, want := range map[string]string{"-modfile=/a b": `"-modfile=/a b"`, `-modfile=/a"b`: `'-modfile=/a"b'`, "-modfile=/it's": `"-modfile=/it's"`} {
		if got := quoteFlag(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
