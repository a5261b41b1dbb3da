package catalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/build"
)

// A study has an entry for each contender, a program to compare. The user can pin modules and the Go
// toolchain. A pin is in an entry, or for all contenders (Sources.With and Sources.Go).

// newPin returns the modules and the toolchain for the contender of entry e. Those of the entry take
// precedence over those of s. Paths in the entry are relative to studyDir.
func (s *Sources) newPin(leaf build.Leaf, studyDir string, e tare.Entry) (build.Pin, error) {
	pin := build.Pin{Go: cmp.Or(e.Go, s.Go)}
	for _, text := range e.With {
		w, err := build.ParseWith(text, studyDir)
		if err != nil {
			return pin, err
		}
		pin.With = append(pin.With, w)
	}
	pinnedByEntry := pin.With
	for _, text := range s.With {
		w, err := build.ParseWith(text, "")
		if err != nil {
			return pin, err
		}
		applies, err := appliesTo(leaf, w, pinnedByEntry)
		if err != nil {
			return pin, err
		}
		if applies {
			pin.With = append(pin.With, w)
		}
	}
	return pin, nil
}

// appliesTo reports whether the contender requires w and its entry does not pin it.
func appliesTo(leaf build.Leaf, w build.With, pinnedByEntry []build.With) (bool, error) {
	if slices.ContainsFunc(pinnedByEntry, func(o build.With) bool { return o.Path == w.Path }) {
		return false, nil
	}
	return leaf.Requires(w.Path)
}

// Unused returns the values of With that apply to no contender of entries, so that commands can
// report them. It ignores unknown contenders and unreadable modules. It builds nothing.
func (s *Sources) Unused(kind string, entries []tare.Entry, studyDir string) []string {
	used := make([]bool, len(s.With))
	for _, e := range entries {
		leaf, _, err := s.findLeaf(kind, studyDir, e)
		if err != nil {
			continue
		}
		var pinnedByEntry []build.With
		for _, text := range e.With {
			if w, err := build.ParseWith(text, studyDir); err == nil {
				pinnedByEntry = append(pinnedByEntry, w)
			}
		}
		for i, text := range s.With {
			if w, err := build.ParseWith(text, ""); err == nil {
				applies, err := appliesTo(leaf, w, pinnedByEntry)
				used[i] = used[i] || applies && err == nil
			}
		}
	}
	var unused []string
	for i, text := range s.With {
		if !used[i] {
			unused = append(unused, text)
		}
	}
	return unused
}

// Description describes what Program builds for an entry.
type Description struct {
	Name    string   // id of the contender, without a variant
	Dir     string   // directory of the sources
	Modules []string // used libraries and pinned modules: path@version, path=directory or std:package
	Go      string   // toolchain; "" means the machine's
}

// Describe returns what Program would build for an entry. It only reads manifests and go.mod files, so
// a branch or commit is not resolved to a version.
func (s *Sources) Describe(kind, studyDir string, e tare.Entry) (Description, error) {
	leaf, _, err := s.findLeaf(kind, studyDir, e)
	if err != nil {
		return Description{}, err
	}
	pin, err := s.newPin(leaf, studyDir, e)
	if err != nil {
		return Description{}, err
	}
	d := Description{Name: leaf.Manifest.ID, Dir: leaf.Src(), Go: pin.Go, Modules: []string{}}
	for _, claim := range leaf.Manifest.Modules {
		path, _, _ := strings.Cut(claim, "@")
		if slices.ContainsFunc(pin.With, func(w build.With) bool { return w.Path == path }) {
			continue // added below
		}
		version, err := leaf.RequiredVersion(path)
		if err != nil {
			return d, err
		}
		if version != "" {
			claim = path + "@" + version
		}
		d.Modules = append(d.Modules, claim)
	}
	for _, w := range pin.With {
		d.Modules = append(d.Modules, w.String())
	}
	return d, nil
}
