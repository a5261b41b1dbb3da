package gate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Merge is what several parts of a gate measured, together. Every part has to be
// there once, and all have to be of the same sides. A part that had nothing to
// compare names its sides as they were asked for, others as what they are: only
// its commit is compared with theirs.
func Merge(parts []Report) (Measured, error) {
	named := parts[0]
	if i := slices.IndexFunc(parts, compared); i >= 0 {
		named = parts[i]
	}
	m := Measured{Base: named.Base, Head: named.Head, Commit: named.Commit, Held: map[string]Held{}}
	var missing []string
	seen := map[string]bool{}
	for _, p := range parts {
		switch {
		case p.Shard == "":
			return m, fmt.Errorf("one of the reports is no part of a gate; give each part --shard i/%d", max(2, len(parts)))
		case p.Commit != m.Commit, compared(p) == compared(named) && (p.Base != m.Base || p.Head != m.Head):
			return m, fmt.Errorf("the parts are not of the same sides: %s against %s, and %s against %s", m.Head, m.Base, p.Head, p.Base)
		case seen[p.Shard]:
			return m, fmt.Errorf("part %s is given twice", p.Shard)
		}
		seen[p.Shard] = true
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
		for _, c := range p.Policy {
			if !slices.Contains(m.Policy, c) {
				m.Policy = append(m.Policy, c)
			}
		}
		maps.Copy(m.Held, p.Held)
	}
	_, of, _ := strings.Cut(parts[0].Shard, "/")
	n := 0
	if _, err := fmt.Sscan(of, &n); err != nil || n < 1 {
		return m, fmt.Errorf("%q is not a part of a gate", parts[0].Shard)
	}
	for i := range n {
		if name := (Shard{i + 1, n}).String(); !seen[name] {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 || len(parts) != n {
		return m, fmt.Errorf("%d parts of %d were given; missing: %s", len(parts), n, strings.Join(missing, ", "))
	}
	if len(m.Results) == 0 {
		m.Nothing = parts[0].Sentence
	}
	return m, nil
}

// compared reports whether a part had something to compare.
func compared(p Report) bool { return len(p.Results) > 0 }
