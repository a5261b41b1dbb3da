package gate

import (
	"os"
	"path/filepath"

	"github.com/tarebench/tare"
)

// Studies are what becomes of a study of the repository: one for each of its
// contenders that is a program of the repository, the base's against the
// head's. base is where the files of the base are and root where those that the
// study lies in are. What cannot be compared is left.
func Studies(s tare.Study, ask Ask, root, base string) (out []tare.Study, left []Left) {
	for _, e := range s.Contenders {
		if e.Program == "" {
			continue
		}
		program := e.Program
		if !filepath.IsAbs(program) {
			program = filepath.Join(s.Dir, filepath.FromSlash(program))
		}
		rel, err := filepath.Rel(root, program)
		if err != nil || !filepath.IsLocal(rel) {
			continue // somebody else's: it is the same on both sides
		}
		before := filepath.Join(base, rel)
		if _, err := os.Stat(before); err != nil {
			left = append(left, Left{What: s.ID + " " + e.ID, Why: "its program " + filepath.ToSlash(rel) + " is in head only"})
			continue
		}
		one := s
		one.ID = "gate-" + s.ID + "-" + e.ID
		one.Baseline, one.Contenders = BaseID, nil
		for _, is := range [...][2]string{{BaseID, before}, {HeadID, program}} {
			side := e
			side.ID, side.Program, side.Use, side.Expect = is[0], is[1], "", tare.Expect{}
			one.Contenders = append(one.Contenders, side)
		}
		one.Workloads = nil
		for _, w := range s.Workloads {
			if w.Asks(e.ID) || e.ID == s.Baseline {
				w.Contenders = nil
				one.Workloads = append(one.Workloads, w)
			}
		}
		one.Metrics, one.Criteria = ask.Metrics(), ask.Criteria(HeadID)
		one.Claims, one.Decompose, one.BreakEven, one.Budget.QuickWorkloads = nil, nil, nil, nil
		if len(one.Workloads) > 0 {
			out = append(out, one)
		}
	}
	return out, left
}
