package archtest

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPublicPackages: docs/api.md names each package of the root module that a program
// elsewhere can import, and no other. What is public is decided there, not by chance.
func TestPublicPackages(t *testing.T) {
	tree, err := Read(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{".": true}
	named := regexp.MustCompile("`([a-z0-9/]+)`")
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 || strings.Contains(cells[1], "module of its own") {
			continue
		}
		for _, m := range named.FindAllStringSubmatch(cells[1], -1) {
			if name := m[1]; name == "serving" {
				for _, app := range []string{"homelab", "ingest", "tiny", "users"} {
					listed["apps/"+app+"/serving"] = true
				}
			} else if name != "tare" {
				listed[name] = true
			}
		}
	}
	for _, f := range tree.Files {
		dir := path.Dir(f.Path)
		elements := strings.Split(dir, "/")
		if slices.ContainsFunc(elements, func(e string) bool { return e == "internal" || e == "testdata" }) || moduleOf(tree, dir) != "." {
			continue
		}
		if _, known := listed[dir]; !known {
			t.Errorf("docs/api.md does not say whether package %s may be relied on", dir)
		}
		listed[dir] = false
	}
	for dir, missing := range listed {
		if missing && dir != "apps/users/proto" && dir != "apps/users/store" && !strings.HasPrefix(dir, "apps/users/store/") {
			t.Errorf("docs/api.md names %s, which is no package of the root module", dir)
		}
	}
}

// moduleOf returns the directory of the module that a directory belongs to.
func moduleOf(t *Tree, dir string) string {
	for ; ; dir = path.Dir(dir) {
		if dir == "." || slices.ContainsFunc(t.Modules, func(m Module) bool { return m.Dir == dir }) {
			return dir
		}
	}
}
