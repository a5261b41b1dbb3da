package catalog

import (
	"cmp"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/build"
)

// newPin returns the modules and toolchain for an entry's contender: first those of the entry, then
// those for all.
func (s *Sources) newPin(leaf build.Leaf, studyDir string, e tare.Entry) (build.Pin, error) {
	pin := build.Pin{Go: cmp.Or(e.Go, s.Go)}
	for _, text := range e.With {
		w, err := build.ParseWith(text, studyDir)
		if err != nil {
			return pin, err
		}
		pin.With = append(pin.With, w)
	}
	own := len(pin.With)
	for _, text := range s.With {
		w, err := build.ParseWith(text, "")
		if err != nil {
			return pin, err
		}
		applies, err := forAll(w, leaf, pin.With[:own])
		if err != nil {
			return pin, err
		}
		if applies {
			pin.With = append(pin.With, w)
		}
	}
	return pin, nil
}

// forAll reports whether a module for all contenders is required by a contender module, unless its
// own entry pins it.
func forAll(w build.With, leaf build.Leaf, own []build.With) (bool, error) {
	if slices.ContainsFunc(own, func(o build.With) bool { return o.Path == w.Path }) {
		return false, nil
	}
	return leaf.Requires(w.Path)
}

// Unused returns the values of With that would change none of the entries, because none requires
// the module, or each has a version of its own for it, or they cannot be read. It reads go.mod
// files and builds nothing. Program rejects an entry without contender.
func (s *Sources) Unused(kind string, entries []tare.Entry, studyDir string) []string {
	used := make([]bool, len(s.With))
	for _, e := range entries {
		leaf, _, err := s.findLeaf(kind, studyDir, e)
		if err != nil {
			continue
		}
		var own []build.With
		for _, text := range e.With {
			if w, err := build.ParseWith(text, studyDir); err == nil {
				own = append(own, w)
			}
		}
		for i, text := range s.With {
			if w, err := build.ParseWith(text, ""); err == nil {
				applies, err := forAll(w, leaf, own)
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
