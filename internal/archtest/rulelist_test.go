package archtest

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Rule is a rule for the source.
type Rule struct {
	Name  string
	Why   string
	Check func(*Tree) []string // returns a line per violation, which begins with the file or directory
}

// Rules lists every rule.
func Rules() []Rule {
	return []Rule{
		{"layers", "a package imports only what stands lower, so that one can read it without reading what uses it", checkLayers},
		{"requirements", "a laboratory must not change the versions of what it measures: the root and cgocopy require nothing", checkRequirements},
		{"workspace", "contenders are built alone; only the command shares a workspace with the root", checkWorkspace},
		{"leaves", "a contender is one folder that can be built alone and says what it is", checkLeaves},
		{"names", "a file is named after what is in it", checkNames},
		{"metrics", "what a metric is and how it is spoken of stands in metric.go", checkMetrics},
		{"formats", "a ratio is printed by internal/format, so that it reads the same everywhere", checkFormats},
		{"expressions", "tare starts in milliseconds: no command compiles the regular expressions of all others", checkExpressions},
	}
}

// Check checks the tree against every rule and returns the violations, sorted.
func Check(t *Tree) []string {
	var out []string
	for _, r := range Rules() {
		for _, line := range r.Check(t) {
			out = append(out, fmt.Sprintf("%s (%s: %s)", line, r.Name, r.Why))
		}
	}
	slices.Sort(out)
	return out
}

// checkRequirements finds requirements of the root module and of cgocopy, which must have none.
func checkRequirements(t *Tree) []string {
	var out []string
	for _, m := range t.Modules {
		if m.Dir != "." && m.Dir != "cgocopy" {
			continue
		}
		for required := range m.Requires {
			out = append(out, fmt.Sprintf("%s: requires %s", path.Join(m.Dir, "go.mod"), required))
		}
	}
	return out
}

// checkWorkspace checks that go.work uses the root, the command and cgocopy, and no contender.
func checkWorkspace(t *Tree) []string {
	if !t.Paths["go.work"] {
		return []string{"go.work: missing"}
	}
	want := []string{".", "cmd/tare"}
	if t.Paths["cgocopy/go.mod"] {
		want = append(want, "cgocopy")
	}
	got := slices.Clone(t.Work)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return []string{fmt.Sprintf("go.work: uses %s, must use %s", strings.Join(got, " "), strings.Join(want, " "))}
	}
	return nil
}

// maxCodecLines is the maximum number of lines of the main.go of a codec contender.
const maxCodecLines = 40

// checkLeaves checks the files and the go.mod of every contender, and the length of codec contenders.
func checkLeaves(t *Tree) []string {
	var out []string
	modules := map[string]Module{}
	for _, m := range t.Modules {
		modules[m.Dir] = m
	}
	for _, dir := range contenderModules(t) {
		report := func(format string, args ...any) { out = append(out, dir+": "+fmt.Sprintf(format, args...)) }
		if source, ok := t.Builds[dir]; ok {
			if !slices.Contains(contenderModules(t), source) || t.Builds[source] != "" {
				report("is another build of %s, which is no contender with code of its own", source)
			}
			continue
		}
		for _, name := range []string{"contender.json", "main.go"} {
			if !t.Paths[path.Join(dir, name)] {
				report("has no %s", name)
			}
		}
		m, ok := modules[dir]
		if !ok {
			report("has no go.mod of its own")
			continue
		}
		if want := t.Root + "/" + dir; m.Path != want {
			report("module is %s, must be %s", m.Path, want)
		}
		if m.Requires[t.Root] != "v0.0.0" {
			report("must require %s v0.0.0", t.Root)
		}
		if m.Replaces[t.Root] != "../../.." {
			report("must replace %s => ../../..", t.Root)
		}
		if m.needsDownload() && !t.Paths[path.Join(dir, "go.sum")] {
			report("requires modules but has no go.sum")
		}
	}
	for _, f := range t.Files {
		if matchPath("contenders/codec/*/main.go", f.Path) && f.Lines > maxCodecLines {
			out = append(out, fmt.Sprintf("%s: %d lines, a codec contender needs at most %d", f.Path, f.Lines, maxCodecLines))
		}
	}
	return out
}

// contenderModules returns the directories of contenders: contenders/KIND/NAME.
func contenderModules(t *Tree) []string {
	found := map[string]bool{}
	for p := range t.Paths {
		if parts := strings.Split(p, "/"); parts[0] == "contenders" && len(parts) > 3 {
			found[strings.Join(parts[:3], "/")] = true
		}
	}
	return sortedKeys(found)
}

// sortedKeys returns the keys of set in ascending order.
func sortedKeys(set map[string]bool) []string {
	var out []string
	for s := range set {
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

// checkNames finds files whose names end in "more": they are named after the file that they continue, and
// not after their content.
func checkNames(t *Tree) []string {
	var out []string
	for _, f := range t.Files {
		if name := strings.TrimSuffix(strings.TrimSuffix(path.Base(f.Path), ".go"), "_test"); strings.HasSuffix(name, "more") {
			out = append(out, f.Path+": ends in more")
		}
	}
	return out
}
