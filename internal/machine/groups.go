package machine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// groupDir is a control group's directory and the mount point above it.
type groupDir struct {
	dir   string
	mount string
}

// groups are the control groups this process belongs to. An empty dir is one
// that was not found.
type groups struct {
	unified groupDir // version 2
	cpu     groupDir // version 1, cpu controller
}

// ownGroups finds this process's control groups.
func ownGroups() (groups, error) {
	member, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return groups{}, err
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return groups{}, err
	}
	return parseGroups(string(member), string(mounts))
}

// parseGroups joins /proc/PID/cgroup, which names groups as the kernel sees them, with
// /proc/PID/mountinfo, which has their mount points. The mount point is never assumed: hybrid
// layouts have version 2 in a corner of version 1, and a container sees only a part of the tree.
func parseGroups(member, mounts string) (groups, error) {
	var unified, cpu string
	for line := range strings.Lines(member) { // ID:CONTROLLERS:PATH
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		if f[0] == "0" && f[1] == "" {
			unified = f[2]
		}
		if hasWord(f[1], "cpu") {
			cpu = f[2]
		}
	}
	var g groups
	for line := range strings.Lines(mounts) {
		before, after, ok := strings.Cut(strings.TrimSpace(line), " - ")
		if !ok {
			continue
		}
		a, b := strings.Fields(before), strings.Fields(after) // id parent dev root mount … - type source options
		if len(a) < 5 || len(b) < 3 {
			continue
		}
		root, mount := unescapeOctal(a[3]), unescapeOctal(a[4])
		switch {
		case b[0] == "cgroup2" && unified != "" && g.unified.dir == "":
			g.unified = groupUnder(mount, root, unified)
		case b[0] == "cgroup" && cpu != "" && g.cpu.dir == "" && hasWord(b[2], "cpu"):
			g.cpu = groupUnder(mount, root, cpu)
		}
	}
	if g.unified.dir == "" && g.cpu.dir == "" {
		return g, errors.New("no control groups are mounted")
	}
	return g, nil
}

// groupUnder returns the directory of group path if the subtree root is mounted at mount. A group
// outside the subtree has no directory.
func groupUnder(mount, root, path string) groupDir {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return groupDir{}
	}
	return groupDir{dir: filepath.Join(mount, rel), mount: mount}
}

// hasWord reports whether a comma-separated list contains word.
func hasWord(list, word string) bool {
	for w := range strings.SplitSeq(list, ",") {
		if w == word {
			return true
		}
	}
	return false
}

// unescapeOctal undoes mountinfo's octal escapes.
func unescapeOctal(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}
