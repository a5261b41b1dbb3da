package gate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/internal/judge"
)

// This file joins the reports of a gate that was measured in parts (tare gate --shard 1/3, …) or on
// several machines. All their rows are judged together. For example, three jobs of a CI measure a
// third of the benchmarks each, and the joined report has one verdict.

// Merge joins the measurements of all parts of a gate. Its error names missing and repeated parts,
// and parts that compare other revisions. A part that compared nothing names the revisions as the
// user did, not by commits.
func Merge(parts []Report) (Measured, error) {
	first := parts[0]
	if i := slices.IndexFunc(parts, hasResults); i >= 0 {
		first = parts[i]
	}
	m := Measured{Base: first.Base, Head: first.Head, Commit: first.Commit, Requirements: map[string]Requirements{}}
	hasPart := map[int]bool{}
	total := 0 // number of parts, as the first report says
	for _, p := range parts {
		if p.Shard == "" {
			return m, fmt.Errorf("one of the reports is no part of a gate; give each part --shard i/%d", max(2, len(parts)))
		}
		s, err := suite.ParseShard(p.Shard)
		sameNames := hasResults(p) == hasResults(first) // without results, Base and Head are the user's names
		switch {
		case err != nil:
			return m, err
		case total > 0 && s.Of != total:
			return m, fmt.Errorf("part %s is not one of %d parts, as others are", s, total)
		case p.Commit != m.Commit, sameNames && (p.Base != m.Base || p.Head != m.Head):
			return m, fmt.Errorf("the parts are not of the same sides: %s against %s, and %s against %s", m.Head, m.Base, p.Head, p.Base)
		case hasPart[s.Index]:
			return m, fmt.Errorf("part %s is given twice", s)
		}
		hasPart[s.Index], total = true, s.Of
		m.add(p)
	}
	var missing []string
	for i := 1; i <= total; i++ {
		if !hasPart[i] {
			missing = append(missing, suite.Shard{Index: i, Of: total}.String())
		}
	}
	if n := len(missing); n > 0 {
		return m, fmt.Errorf("%d parts of %d were given; missing: %s%s", len(parts), total, strings.Join(missing[:min(n, maxNamed)], ", "), andMore(n-maxNamed))
	}
	if len(m.Results) == 0 {
		m.Nothing = parts[0].Sentence // says why this part compared nothing
	}
	return m, nil
}

const maxNamed = 20 // parts that an error names

// hasResults reports whether a part compared anything.
func hasResults(p Report) bool { return len(p.Results) > 0 }

// add adds the results of one report, and those skipped entries and notes that m does not have yet.
func (m *Measured) add(p Report) {
	m.Results = append(m.Results, p.Results...)
	for _, entry := range p.Skipped {
		if !slices.Contains(m.Skipped, entry) {
			m.Skipped = append(m.Skipped, entry)
		}
	}
	for _, n := range p.Notes {
		if !slices.Contains(m.Notes, n) {
			m.Notes = append(m.Notes, n)
		}
	}
	maps.Copy(m.Requirements, p.Requirements)
}

// Machine is the report of one machine.
type Machine struct {
	Name   string
	Report Report
}

// OverMachines joins the measurements of several machines. Each machine gets its own rows. If
// isDivided is set, each machine measured another part of the benchmarks. Otherwise all measured the
// same, and each study is also compared over all machines. mixedGo permits machines with different
// releases of Go.
func OverMachines(machines []Machine, isDivided, mixedGo bool) (Measured, error) {
	m := Measured{Base: machines[0].Report.Base, Head: machines[0].Report.Head, Requirements: map[string]Requirements{}}
	byStudy := map[string][]judge.Measured{}
	var order []string
	for _, machine := range machines {
		m.add(machine.Report)
		for _, r := range machine.Report.Results {
			m.MachineNames = append(m.MachineNames, machine.Name)
			if byStudy[r.Study] == nil {
				order = append(order, r.Study)
			}
			byStudy[r.Study] = append(byStudy[r.Study], judge.Measured{Name: machine.Name, Result: r})
		}
	}
	for _, study := range order {
		sameStudy := byStudy[study]
		if isDivided {
			if _, err := judge.Parts(sameStudy, nil, mixedGo); err != nil { // only checks that the parts fit together
				return m, err
			}
			continue
		}
		if len(sameStudy) < 2 {
			continue
		}
		joined, err := judge.OverMachines(sameStudy, mixedGo)
		if err != nil {
			return m, err
		}
		m.OverMachines = append(m.OverMachines, joined.OverMachines...)
	}
	return m, nil
}
