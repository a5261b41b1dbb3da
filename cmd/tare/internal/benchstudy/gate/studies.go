package gate

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// This file makes the studies of a gate that are not go test benchmarks. Each compares one program
// before and after the change, e.g. a codec whose module the change updates.

// SidePaths has a path for each side of a comparison. For example, Base and Head are the directories
// with the files before and after a change.
type SidePaths struct{ Base, Head string }

// ModuleVersions returns the required versions of modules on both sides, each as module@version.
// The modules are those of e, a program of tare's catalog. ok is false if no version differs.
type ModuleVersions func(kind string, e tare.Entry) (before, after []string, ok bool, err error)

// Measurement is a study of base and head, and its requirements.
type Measurement struct {
	Study        tare.Study
	Requirements Requirements
}

// studyPrefix begins the ids of a gate's studies, which separates their results from the
// project's.
const studyPrefix = "gate-"

// Studies returns one study for each program in s that the change can have made slower. It is a
// program of the repository, or one of tare's catalog if the change updates its modules. A
// criterion of s with value: becomes a limit. skipped has programs that only the head has.
func Studies(s tare.Study, request Request, repoDirs SidePaths, versionsOf ModuleVersions) (out []Measurement, skipped []Skipped, err error) {
	for _, e := range s.Contenders {
		var before, after tare.Entry // zero if the program cannot be slower
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

// programSides returns a program of the repository before and after the change. If base does not
// have it, missing is its directory. The entries are zero for a program outside of the repository.
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

// catalogSides returns a program of the catalog with its modules on both sides. The entries are
// zero if no version differs.
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

// addPins adds pins for modules that studyPins does not have. A pin is module@version or
// module=directory.
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

// pairStudy returns the study of one program before and after the change. ok is false if it has no
// workload in s.
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
