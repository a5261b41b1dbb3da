package catalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/build"
)

// newPin returns the modules and the toolchain for the contender of an entry: those of the
// entry, and those of s that the contender requires and the entry does not set.
func (s *Sources) newPin(leaf build.Leaf, studyDir string, e tare.Entry) (build.Pin, error) {
	pin := build.Pin{Go: cmp.Or(e.Go, s.Go)}
	for _, text := range e.With {
		w, err := build.ParseWith(text, studyDir)
		if err != nil {
			return pin, err
		}
		pin.With = append(pin.With, w)
	}
	ofEntry := pin.With
	for _, text := range s.With {
		w, err := build.ParseWith(text, "")
		if err != nil {
			return pin, err
		}
		applies, err := appliesTo(leaf, w, ofEntry)
		if err != nil {
			return pin, err
		}
		if applies {
			pin.With = append(pin.With, w)
		}
	}
	return pin, nil
}

// appliesTo reports whether a module w for all contenders changes a contender: it
// requires the module, and its entry does not set the module itself, in ofEntry.
func appliesTo(leaf build.Leaf, w build.With, ofEntry []build.With) (bool, error) {
	if slices.ContainsFunc(ofEntry, func(o build.With) bool { return o.Path == w.Path }) {
		return false, nil
	}
	return leaf.Requires(w.Path)
}

// Unused returns the values of With that change none of the entries: no contender requires the
// module, or each entry that does sets a version itself. It skips entries without a contender,
// which Program rejects, and modules that cannot be read. It reads go.mod files and builds nothing.
func (s *Sources) Unused(kind string, entries []tare.Entry, studyDir string) []string {
	used := make([]bool, len(s.With))
	for _, e := range entries {
		leaf, _, err := s.findLeaf(kind, studyDir, e)
		if err != nil {
			continue
		}
		var ofEntry []build.With
		for _, text := range e.With {
			if w, err := build.ParseWith(text, studyDir); err == nil {
				ofEntry = append(ofEntry, w)
			}
		}
		for i, text := range s.With {
			if w, err := build.ParseWith(text, ""); err == nil {
				applies, err := appliesTo(leaf, w, ofEntry)
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
	Modules []string // modules that name the contender, and those that a pin sets: path@version, path=directory or std:package
	Go      string   // toolchain; "" means the machine's
}

// Describe returns what Program would build for an entry. It reads manifests and go.mod files only, so that
// the version of a branch or commit is as the user named it.
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
