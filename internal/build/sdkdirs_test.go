package build_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tarebench/tare/internal/build"
)

const (
	repository = "../.."
	modulePath = "github.com/tarebench/tare"
)

// linkDirs returns the directories of the root module that the packages below dirs import,
// directly or indirectly, without tests.
func linkDirs(t *testing.T, dirs ...string) []string {
	t.Helper()
	found := map[string]bool{}
	var visit func(dir string)
	visit = func(dir string) {
		files, err := filepath.Glob(filepath.Join(repository, filepath.FromSlash(dir), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range parsed.Imports {
				path, err := strconv.Unquote(i.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				rel, ok := strings.CutPrefix(path, modulePath+"/")
				if !ok || found[rel] || ownModule(rel) {
					continue
				}
				found[rel] = true
				visit(rel)
			}
		}
	}
	for _, top := range dirs {
		err := filepath.WalkDir(filepath.Join(repository, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(repository, path)
			if err != nil {
				return err
			}
			if rel = filepath.ToSlash(rel); rel != "apps" && (strings.HasPrefix(top, "contenders") || build.InSDK(rel+"/")) {
				visit(rel)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// ownModule reports whether a directory is in a module below the root's.
func ownModule(rel string) bool {
	for dir := rel; dir != "."; dir = filepath.ToSlash(filepath.Dir(dir)) {
		if _, err := os.Stat(filepath.Join(repository, dir, "go.mod")); err == nil {
			return true
		}
	}
	return false
}

// What contenders link is in their cache key, in the archive inside of the tare
// binary and in the image: a directory that is missing has yesterday's program
// measured, or none.
func TestSDKDirsAreWhatContendersLink(t *testing.T) {
	links := linkDirs(t, "contenders", "contender", "apps")
	if len(links) < 10 {
		t.Fatalf("contenders link %v: too little to be true", links)
	}
	for _, dir := range links {
		if !build.InSDK(dir + "/") {
			t.Errorf("contenders link %s, which build.SDKDirs leaves out", dir)
		}
	}
	for _, dir := range build.SDKDirs() {
		if !slices.ContainsFunc(links, func(l string) bool { return l == dir || strings.HasPrefix(l, dir+"/") }) {
			t.Errorf("build.SDKDirs has %s, which no contender links", dir)
		}
	}
}

func TestInSDK(t *testing.T) {
	for rel, want := range map[string]bool{
		"apps/": true, "apps/tiny/": true, "apps/tiny/tiny.go": true, "apps/tiny/serving/null.go": true, "contender/server/": true, "load/": true,
		"apps/apps.go": false, "apps/tiny/workload/": false, "apps/tiny/workload/case.go": false, "apps/users/conformance/": false, "contender/contendertest/": false, "load/load.go": false, "kinds/": false,
	} {
		if got := build.InSDK(rel); got != want {
			t.Errorf("%s: %v", rel, got)
		}
	}
}

func TestTheImageHasWhatServersLink(t *testing.T) {
	src, err := os.ReadFile(filepath.Join(repository, "deploy", "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	ignore, err := os.ReadFile(filepath.Join(repository, "deploy", "Dockerfile.dockerignore"))
	if err != nil {
		t.Fatal(err)
	}
	var copied []string
	for line := range strings.Lines(string(src)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "COPY" && f[1] == f[2] {
			copied = append(copied, f[1])
			if !strings.Contains(string(ignore), "\n!"+f[1]+"\n") {
				t.Errorf("Dockerfile.dockerignore keeps %s out", f[1])
			}
		}
	}
	for _, dir := range linkDirs(t, "contenders/server") {
		if !slices.ContainsFunc(copied, func(c string) bool { return dir == c || strings.HasPrefix(dir, c+"/") }) {
			t.Errorf("servers link %s, which the Dockerfile does not copy", dir)
		}
	}
}
