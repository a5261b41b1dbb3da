package suite

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A downloaded toolchain is below the module cache, where the go command replaces no files: benchmarks that
// run in parallel are built all the same, by another path.
func TestToolchainInModuleCache(t *testing.T) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := strings.TrimSpace(string(out))
	t.Setenv("GOMODCACHE", filepath.Dir(root)) // as if it had been downloaded
	t.Setenv("GOWORK", "off")
	dir, work := t.TempDir(), filepath.Join(t.TempDir(), "run")
	for name, text := range map[string]string{
		"go.mod": "module example.com/parallel\n\ngo 1.22\n",
		"p_test.go": `package parallel

import "testing"

func BenchmarkParallel(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
		}
	})
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	side := &Side{ID: "base", Dir: dir, Root: dir, UserDir: dir}
	packages, err := side.List(t.Context(), []string{"./..."})
	if err != nil || len(packages) != 1 {
		t.Fatal(packages, err)
	}
	var said []string
	built, err := Build(t.Context(), side, []Tests{FindTests(packages[0])}, ".", work, func(text string) { said = append(said, text) })
	if err != nil || len(built.Failed) > 0 {
		t.Fatal(err, built, said)
	}
	if built.ReplaceableRoot() == root {
		t.Errorf("files below %s cannot be replaced", root)
	}
	files := map[string][]byte{filepath.Join(built.ReplaceableRoot(), "src", "testing", "zz_counted.go"): []byte("package testing\n\nconst counted = 1\n")}
	for key := range built.Packages {
		if _, err := built.BuildCounted(t.Context(), key, "counted", files, filepath.Join(work, "counted")); err != nil {
			t.Error(err)
		}
	}
}
