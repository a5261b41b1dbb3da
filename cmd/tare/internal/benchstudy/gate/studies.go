package gate

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// SidePaths has a path for each side of a comparison, e.g. the directories with the files of the repository before
// the change (Base) and after it (Head).
type SidePaths struct{ Base, Head string }

// ModuleVersions returns the versions of modules that the repository requires before and after the change,
// each as module@version. The modules are those of e, a contender of tare's catalog. ok is false if the
// versions are equal, or if the repository requires none of the modules.
type ModuleVersions func(kind string, e tare.Entry) (before, after []string, ok bool, err error)

// Measurement is a study of base and head, and its requirements.
type Measurement struct {
	Study        tare.Study
	Requirements Requirements
}

// studyPrefix is the start of the ids of a gate's studies, so that their results are not mixed with results
// of the project's studies.
const studyPrefix = "gate-"

// Studies returns one study for each contender of s that the change can have made slower: a program
// of the repository, and a contender of the catalog if the change moves its modules to other versions.
// Each study compares the contender before and after the change. A criterion of s on the contender's
// own values (value:) becomes a limit of the head. skipped has programs that only the head has.
func Studies(s tare.Study, request Request, repoDirs SidePaths, versionsOf ModuleVersions) (out []Measurement, skipped []Skipped, err error) {
	for _, e := range s.Contenders {
		var before, after tare.Entry // zero if the change cannot have made the contender slower
		switch {
		case e.Program != "":
			var missing string
			before, after, missing, err = programSides(s, e, repoDirs)
			if missing != "" {
				skipped = append(skipped, Skipped{What: s.ID + " " + e.ID, Why: "its program " + missing + " is in head only", OneSided: true})
			}
		case e.Launch() == tare.LaunchProgram && versionsOf != nil:
			before, after, err = catalogSides(s, e, versionsOf)
		}
		if err != nil {
			return nil, nil, err
		}
		if after.ID == "" {
			continue
		}
		before.ID, after.ID = BaseID, HeadID
		before.Expect, after.Expect = tare.Expect{}, tare.Expect{}
		if m, ok := pairStudy(s, request, e.ID, before, after); ok {
			out = append(out, m)
		}
	}
	return out, skipped, nil
}

// programSides returns a contender that is a program of the repository, before and after the change. If
// base does not have its directory, missing is the directory and the entries are zero. They are also zero
// for a program outside of the repository, because that is the same on both sides.
func programSides(s tare.Study, e tare.Entry, repoDirs SidePaths) (before, after tare.Entry, missing string, err error) {
	dir := e.Program
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(s.Dir, filepath.FromSlash(dir))
	}
	rel, err := filepath.Rel(repoDirs.Head, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return before, after, "", nil
	}
	baseDir := filepath.Join(repoDirs.Base, rel)
	exists, err := IsDir(baseDir)
	if err != nil {
		return before, after, "", err
	}
	if !exists {
		return before, after, filepath.ToSlash(rel), nil
	}
	before, after = e, e
	before.Program, after.Program = baseDir, dir
	before.Use, after.Use = "", ""
	return before, after, "", nil
}

// catalogSides returns a contender of the catalog with the versions of its modules before and after the
// change. The entries are zero if no version differs, or if the study itself pins the modules.
func catalogSides(s tare.Study, e tare.Entry, versionsOf ModuleVersions) (before, after tare.Entry, err error) {
	oldPins, newPins, ok, err := versionsOf(string(s.Kind), e)
	if err != nil || !ok {
		return before, after, err
	}
	oldPins, newPins = addPins(e.With, oldPins), addPins(e.With, newPins)
	if slices.Equal(oldPins, newPins) {
		return before, after, nil
	}
	before, after = e, e
	before.Use, after.Use = e.Leaf(), e.Leaf()
	before.With, after.With = oldPins, newPins
	return before, after, nil
}

// addPins returns studyPins, and the pins for modules that studyPins does not have. A pin is
// module@version or module=directory.
func addPins(studyPins, pins []string) []string {
	out := slices.Clone(studyPins)
	for _, pin := range pins {
		module, _, _ := strings.Cut(pin, "@")
		isPinned := slices.ContainsFunc(studyPins, func(p string) bool {
			return strings.HasPrefix(p, module+"@") || strings.HasPrefix(p, module+"=")
		})
		if !isPinned {
			out = append(out, pin)
		}
	}
	return out
}

// pairStudy returns the study of one contender before and after the change, on the workloads of s that
// the contender has. It returns false if the contender has none.
func pairStudy(s tare.Study, request Request, id string, before, after tare.Entry) (m Measurement, ok bool) {
	m = Measurement{Study: s, Requirements: Requirements{Name: s.ID + "/" + id, Metrics: request.Metrics()}}
	study := &m.Study
	study.ID = studyPrefix + s.ID + "-" + strings.ReplaceAll(id, "/", "-")
	study.Baseline, study.Contenders = BaseID, []tare.Entry{before, after}
	study.Workloads = nil
	for _, workload := range s.Workloads {
		if workload.Asks(id) || id == s.Baseline {
			workload.Contenders = nil
			study.Workloads = append(study.Workloads, workload)
		}
	}
	study.Metrics, study.Criteria = request.Metrics(), request.Criteria(HeadID, study.Workloads)
	for _, c := range s.Criteria {
		coversWorkload := func(workload tare.Workload) bool { return c.Workload == "" || c.Workload == workload.ID }
		coversContender := c.Contender == "" || c.Contender == id
		isCovered := coversContender && slices.ContainsFunc(study.Workloads, coversWorkload)
		if c.Value == "" || !isCovered {
			continue
		}
		c.Contender = HeadID
		m.Requirements.Limits = append(m.Requirements.Limits, c)
		study.Criteria = append(study.Criteria, c)
		if !slices.Contains(study.Metrics, c.Metric) {
			study.Metrics = append(study.Metrics, c.Metric)
		}
	}
	study.Claims, study.Decompose, study.BreakEven, study.Budget.QuickWorkloads = nil, nil, nil, nil
	return m, len(study.Workloads) > 0
}
