package contendertest_test

import (
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tarebench/tare/contender/contendertest"
)

var leaves = flag.String("leaves", "", "leaves to test: all, or folders under contenders/ separated by commas, e.g. codec/jsoniter;\nempty: those that need nothing but the standard library, with -short one of them")

const catalog = "../../contenders"

// TestLeaves runs the conformance suite on bundled contenders.
func TestLeaves(t *testing.T) {
	all, err := filepath.Glob(filepath.Join(catalog, "*", "*", "contender.json"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no leaves in %s: %v", catalog, err)
	}
	var dirs []string
	switch *leaves {
	case "":
		for _, m := range all {
			dir := filepath.Dir(m)
			if (!testing.Short() || len(dirs) == 0) && stdOnly(t, dir) {
				dirs = append(dirs, dir)
			}
		}
	case "all":
		for _, m := range all {
			dirs = append(dirs, filepath.Dir(m))
		}
	default:
		for _, name := range strings.Split(*leaves, ",") {
			dirs = append(dirs, filepath.Join(catalog, filepath.FromSlash(strings.TrimSpace(name))))
		}
	}
	if len(dirs) == 0 {
		t.Fatal("no leaf is tested")
	}
	for _, dir := range dirs {
		if usesC(t, dir) && !compilesC(t) {
			t.Logf("%s needs a C compiler, and there is none", dir)
			continue
		}
		contendertest.Run(t, dir)
	}
}

// usesC reports whether the leaf at dir, or the one that it is another build of, links C.
func usesC(t *testing.T, dir string) bool {
	t.Helper()
	manifest, err := os.ReadFile(filepath.Join(dir, "contender.json"))
	if err != nil {
		t.Fatal(err)
	}
	var leaf struct{ Source string }
	if err := json.Unmarshal(manifest, &leaf); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, filepath.FromSlash(leaf.Source))
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(src), "contender/copier/cmem") {
			return true
		}
	}
	return false
}

// compilesC reports whether the go command has a C compiler.
func compilesC(t *testing.T) bool {
	t.Helper()
	out, err := exec.Command("go", "env", "CGO_ENABLED").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out)) == "1"
}

// stdOnly reports whether the leaf at dir requires nothing but tare, so that
// it builds without a network.
func stdOnly(t *testing.T, dir string) bool {
	t.Helper()
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if errors.Is(err, fs.ErrNotExist) {
		return false // it is another build of a leaf that requires something
	}
	if err != nil {
		t.Fatal(err)
	}
	required := regexp.MustCompile(`(?m)^(?:require )?\s*(\S+) v\d`).FindAllStringSubmatch(string(mod), -1)
	for _, r := range required {
		if r[1] != "github.com/tarebench/tare" {
			return false
		}
	}
	return len(required) == 1
}
