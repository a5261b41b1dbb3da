package machine

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// This file finds the control groups of this process. They are directories, such as
// /sys/fs/cgroup/user.slice.

// groupDir is the directory of a control group and the mount point above it.
type groupDir struct {
	dir   string // "" if not found
	mount string
}

type groups struct {
	unified groupDir // version 2
	cpu     groupDir // version 1, cpu controller
}

// currentGroups finds this process's control groups.
func currentGroups() (groups, error) {
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

// parseGroups finds the directories of groups. member is the text of /proc/PID/cgroup, which has
// their paths in the kernel's tree. mounts is the text of /proc/PID/mountinfo.
//
// Mount points vary. Hybrid layouts mount version 2 inside the tree of version 1, and a container
// sees only a part of the tree.
func parseGroups(member, mounts string) (groups, error) {
	var unified, cpu string                   // paths of versions 2 and 1
	for line := range strings.Lines(member) { // ID:CONTROLLERS:PATH; version 2 is 0::PATH
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		id, controllers, path := fields[0], fields[1], fields[2]
		if id == "0" && controllers == "" {
			unified = path
		}
		if hasWord(controllers, "cpu") {
			cpu = path
		}
	}
	var g groups
	for line := range strings.Lines(mounts) {
		left, right, ok := strings.Cut(strings.TrimSpace(line), " - ") // id parent dev root mount … - type source options
		if !ok {
			continue
		}
		mountFields, typeFields := strings.Fields(left), strings.Fields(right)
		if len(mountFields) < 5 || len(typeFields) < 3 {
			continue
		}
		root, mount := unescapeOctal(mountFields[3]), unescapeOctal(mountFields[4])
		needsUnified := unified != "" && g.unified.dir == ""
		needsCPU := cpu != "" && g.cpu.dir == ""
		switch fsType, options := typeFields[0], typeFields[2]; {
		case fsType == "cgroup2" && needsUnified:
			g.unified = groupUnder(mount, root, unified)
		case fsType == "cgroup" && needsCPU && hasWord(options, "cpu"):
			g.cpu = groupUnder(mount, root, cpu)
		}
	}
	if g.unified.dir == "" && g.cpu.dir == "" {
		return g, errors.New("no control groups are mounted")
	}
	return g, nil
}

// groupUnder returns the directory of the group at path in the kernel's tree, of which the subtree
// root is mounted at mount. If the group is outside root, it returns an empty groupDir.
func groupUnder(mount, root, path string) groupDir {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return groupDir{}
	}
	return groupDir{dir: filepath.Join(mount, rel), mount: mount}
}

func hasWord(list, word string) bool { return slices.Contains(strings.Split(list, ","), word) }

// unescapeOctal undoes mountinfo's octal escapes.
func unescapeOctal(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}
