package gate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/judge"
)

// Merge joins the measurements of several parts of a gate. Every part has to be there once, and all
// have to be of the same sides. A part that had nothing to compare names its sides as the user did,
// others by their commits: only its commit is compared with theirs.
func Merge(parts []Report) (Measured, error) {
	named := parts[0]
	if i := slices.IndexFunc(parts, hasResults); i >= 0 {
		named = parts[i]
	}
	m := Measured{Base: named.Base, Head: named.Head, Commit: named.Commit, Held: map[string]Held{}}
	seen := map[int]bool{}
	of := 0
	for _, p := range parts {
		if p.Shard == "" {
			return m, fmt.Errorf("one of the reports is no part of a gate; give each part --shard i/%d", max(2, len(parts)))
		}
		s, err := ParseShard(p.Shard)
		switch {
		case err != nil:
			return m, err
		case of > 0 && s.Of != of:
			return m, fmt.Errorf("part %s is not one of %d parts, as others are", s, of)
		case p.Commit != m.Commit, hasResults(p) == hasResults(named) && (p.Base != m.Base || p.Head != m.Head):
			return m, fmt.Errorf("the parts are not of the same sides: %s against %s, and %s against %s", m.Head, m.Base, p.Head, p.Base)
		case seen[s.Index]:
			return m, fmt.Errorf("part %s is given twice", s)
		}
		seen[s.Index], of = true, s.Of
		m.add(p)
	}
	var missing []string
	for i := 1; i <= of; i++ {
		if !seen[i] {
			missing = append(missing, Shard{i, of}.String())
		}
	}
	if n := len(missing); n > 0 {
		return m, fmt.Errorf("%d parts of %d were given; missing: %s%s", len(parts), of, strings.Join(missing[:min(n, maxNamed)], ", "), andMore(n-maxNamed))
	}
	if len(m.Results) == 0 {
		m.Nothing = parts[0].Sentence
	}
	return m, nil
}

// Bounds of parts.
const (
	MaxShards = 10_000
	maxNamed  = 20 // names of missing parts in a message
)

// ParseShard reads i/n.
func ParseShard(text string) (Shard, error) {
	i, n, _ := strings.Cut(text, "/")
	index, errIndex := strconv.Atoi(i)
	of, errOf := strconv.Atoi(n)
	if errIndex != nil || errOf != nil || index < 1 || index > of || of > MaxShards {
		return Shard{}, fmt.Errorf("%q is not a part of a gate, such as 2/4; there are at most %d", format.Line(text, 40), MaxShards)
	}
	return Shard{Index: index, Of: of}, nil
}

// hasResults reports whether a part had something to compare.
func hasResults(p Report) bool { return len(p.Results) > 0 }

// add adds the measurements of one report.
func (m *Measured) add(p Report) {
	m.Results = append(m.Results, p.Results...)
	for _, l := range p.Left {
		if !slices.Contains(m.Left, l) {
			m.Left = append(m.Left, l)
		}
	}
	for _, n := range p.Notes {
		if !slices.Contains(m.Notes, n) {
			m.Notes = append(m.Notes, n)
		}
	}
	maps.Copy(m.Held, p.Held)
}

// Machine is the report of one machine.
type Machine struct {
	Name   string
	Report Report
}

// OverMachines joins the measurements of several machines, each by itself: their rows are members
// of one family. Rounds of two machines are never one row. It compares over machines only if the
// benchmarks were not divided among them.
func OverMachines(of []Machine, divided, mixedGo bool) (Measured, error) {
	m := Measured{Base: of[0].Report.Base, Head: of[0].Report.Head, Held: map[string]Held{}}
	byStudy := map[string][]judge.Measured{}
	var order []string
	for _, one := range of {
		m.add(one.Report)
		for _, r := range one.Report.Results {
			m.On = append(m.On, one.Name)
			if byStudy[r.Study] == nil {
				order = append(order, r.Study)
			}
			byStudy[r.Study] = append(byStudy[r.Study], judge.Measured{Name: one.Name, Result: r})
		}
	}
	for _, study := range order {
		all := byStudy[study]
		if divided {
			if _, err := judge.Parts(all, nil, mixedGo); err != nil {
				return m, err
			}
			continue
		}
		if len(all) < 2 {
			continue
		}
		over, err := judge.OverMachines(all, mixedGo)
		if err != nil {
			return m, err
		}
		m.Over = append(m.Over, over.OverMachines...)
	}
	return m, nil
}
