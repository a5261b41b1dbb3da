package gate

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// Trees are the directories with the files of both sides.
type Trees struct{ Base, Head string }

// Moved returns the versions of a catalog contender's modules that the repository requires before
// and after the change, each as module@version. ok is false if they are equal, or if it requires
// none.
type Moved func(kind string, e tare.Entry) (before, after []string, ok bool, err error)

// Measurement is a study of base and head, and its requirements.
type Measurement struct {
	Study tare.Study
	Held  Held
}

// studyPrefix begins the id of every study of a gate, so that its results do not mix with those of
// the study it was made from.
const studyPrefix = "gate-"

// Studies returns one study for each contender of s that the change can have made slower: a program
// of the repository, as base and head have it, and a contender of the catalog if the change moves
// its modules to other versions. A criterion of s on such a contender's own values (value:) becomes
// a limit of the head. left has what cannot be compared.
func Studies(s tare.Study, ask Ask, trees Trees, moved Moved) (out []Measurement, left []Left, err error) {
	for _, e := range s.Contenders {
		var before, after tare.Entry
		switch {
		case e.Program != "":
			dir := e.Program
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(s.Dir, filepath.FromSlash(dir))
			}
			rel, err := filepath.Rel(trees.Head, dir)
			if err != nil || !filepath.IsLocal(rel) {
				continue // outside of the repository: it is the same on both sides
			}
			before, after = e, e
			before.Program, after.Program = filepath.Join(trees.Base, rel), dir
			there, err := IsDir(before.Program)
			if err != nil {
				return nil, nil, err
			}
			if !there {
				left = append(left, Left{What: s.ID + " " + e.ID, Why: "its program " + filepath.ToSlash(rel) + " is in head only", OneSided: true})
				continue
			}
			before.Use, after.Use = "", ""
		case e.Launch() == tare.LaunchProgram && moved != nil:
			old, fresh, ok, err := moved(string(s.Kind), e)
			if err != nil {
				return nil, nil, err
			}
			if !ok {
				continue
			}
			before, after = e, e
			before.Use, after.Use = e.Leaf(), e.Leaf()
			before.With, after.With = addPins(e.With, old), addPins(e.With, fresh)
			if slices.Equal(before.With, after.With) {
				continue // the study pins the moved modules
			}
		default:
			continue
		}
		before.ID, after.ID = BaseID, HeadID
		before.Expect, after.Expect = tare.Expect{}, tare.Expect{}
		if w, ok := pairStudy(s, ask, e.ID, before, after); ok {
			out = append(out, w)
		}
	}
	return out, left, nil
}

// addPins returns the pins of own, and those of pins for other modules.
func addPins(own, pins []string) []string {
	out := slices.Clone(own)
	for _, pin := range pins {
		module, _, _ := strings.Cut(pin, "@")
		if !slices.ContainsFunc(own, func(o string) bool {
			return strings.HasPrefix(o, module+"@") || strings.HasPrefix(o, module+"=")
		}) {
			out = append(out, pin)
		}
	}
	return out
}

// pairStudy returns the study of one contender before and after the change, on its workloads of s.
// It returns false if it has none.
func pairStudy(s tare.Study, ask Ask, id string, before, after tare.Entry) (Measurement, bool) {
	w := Measurement{Study: s, Held: Held{Name: s.ID + "/" + id, Metrics: ask.Metrics()}}
	one := &w.Study
	one.ID = studyPrefix + s.ID + "-" + strings.ReplaceAll(id, "/", "-")
	one.Baseline, one.Contenders = BaseID, []tare.Entry{before, after}
	one.Workloads = nil
	for _, work := range s.Workloads {
		if work.Asks(id) || id == s.Baseline {
			work.Contenders = nil
			one.Workloads = append(one.Workloads, work)
		}
	}
	one.Metrics, one.Criteria = ask.Metrics(), ask.Criteria(HeadID, one.Workloads)
	for _, c := range s.Criteria {
		applies := func(work tare.Workload) bool { return c.Workload == "" || c.Workload == work.ID }
		if c.Value == "" || c.Contender != "" && c.Contender != id || !slices.ContainsFunc(one.Workloads, applies) {
			continue
		}
		c.Contender = HeadID
		w.Held.Limits = append(w.Held.Limits, c)
		one.Criteria = append(one.Criteria, c)
		if !slices.Contains(one.Metrics, c.Metric) {
			one.Metrics = append(one.Metrics, c.Metric)
		}
	}
	one.Claims, one.Decompose, one.BreakEven, one.Budget.QuickWorkloads = nil, nil, nil, nil
	return w, len(one.Workloads) > 0
}
