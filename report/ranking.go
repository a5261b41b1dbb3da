package report

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare"
)

// primary is the table of the primary metric's ratios with the medians of
// every metric beside them.
func (v *view) primary() table {
	first := v.primaryName()
	t := table{columns: []column{
		{name: "contender"},
		{name: first + " / " + v.baseline, unit: v.intervalUnit(first)},
		{name: "rank,", unit: "group"},
	}}
	scales := map[string]scale{}
	for _, name := range v.r.Metrics {
		scales[name] = v.scale(name)
		t.columns = append(t.columns, column{name: name, unit: scales[name].unit, right: true})
	}
	for _, c := range v.ranked {
		t.rows = append(t.rows, v.row(c, scales))
	}
	for i, c := range v.apart {
		row := v.row(c, scales)
		row.apart = i == 0 && len(t.rows) > 0
		t.rows = append(t.rows, row)
	}
	for i, c := range v.traps {
		row := v.row(c, scales)
		row.apart = i == 0 && len(t.rows) > 0
		t.rows = append(t.rows, row)
	}
	return t
}

func (v *view) intervalUnit(metric string) string {
	if usual := v.usual(metric); usual > 0 {
		return "ratio [" + level(usual) + " interval]"
	}
	return "ratio [interval]"
}

// held is what was measured of a comparison, with its level where that is
// another than the column's head says.
func (v *view) held(x tare.Comparison) string {
	text := measured(x)
	if usual := v.usual(x.Metric); !x.Exact && x.Low > 0 && x.High > 0 && x.Level > 0 && level(x.Level) != level(usual) {
		text += " at " + level(x.Level)
	}
	return text
}

// scale fits the figures of those that do the work; the null contender and
// struck figures follow.
func (v *view) scale(metric string) scale {
	m := metricNamed(metric)
	var used, all []float64
	for _, x := range v.r.Values {
		if x.Workload != v.workload || x.Metric != metric || x.Contender == tare.NullID {
			continue
		}
		all = append(all, x.Value)
		if !x.Struck {
			used = append(used, x.Value)
		}
	}
	if len(used) == 0 {
		used = all
	}
	return scaleFor(m.Unit, used)
}

func (v *view) row(c tare.Contender, scales map[string]scale) row {
	name := cell{text: c.Title()}
	if c.ID == v.baseline {
		name.text += " (baseline)"
	}
	out := row{cells: []cell{name, v.ratioCell(c), v.rankCell(c)}, notes: v.notes(c), who: c}
	for _, metric := range v.r.Metrics {
		x, ok := v.value(c.ID, metric)
		switch {
		case !ok:
			out.cells = append(out.cells, cell{text: nothing})
		case x.Struck:
			out.cells = append(out.cells, v.style.struck(scales[metric].print(x.Value)))
		default:
			out.cells = append(out.cells, cell{text: scales[metric].print(x.Value)})
		}
	}
	return out
}

func (v *view) ratioCell(c tare.Contender) cell {
	void := len(v.voids(c.ID)) > 0
	x, ok := v.comparison(c.ID, v.primaryName())
	switch {
	case void && ok && x.Ratio > 0:
		return v.style.struck(ratio(x.Ratio))
	case c.Role == tare.RoleNull:
		return cell{"not compared", v.style.Dim}
	case void:
		return cell{"void", v.style.Bad}
	case c.ID == v.baseline:
		return cell{text: "1"}
	case c.Role == tare.RoleTrap:
		return cell{"not compared", v.style.Dim}
	case ok:
		return cell{text: v.held(x)}
	}
	return cell{text: nothing}
}

// measured is a comparison's ratio and its interval.
func measured(c tare.Comparison) string {
	if c.Exact {
		return exactly(c.Ratio)
	}
	return ratio(c.Ratio) + " " + interval(c.Low, c.High)
}

// rankCell is the place and the letters; the baseline's stand in whichever
// comparison is about it.
func (v *view) rankCell(c tare.Contender) cell {
	if len(v.voids(c.ID)) > 0 {
		return cell{text: nothing}
	}
	for _, x := range v.r.Comparisons {
		if x.Workload != v.workload || x.Contender != c.ID || x.Metric != v.primaryName() || x.RankLow == 0 {
			continue
		}
		place := fmt.Sprint(x.RankLow)
		if x.RankHigh > x.RankLow {
			place += fmt.Sprintf("–%d", x.RankHigh)
		}
		return cell{text: strings.TrimSpace(place + " " + x.Letters)}
	}
	return cell{text: nothing}
}

// unranked says why nobody has a place, where there is somebody to rank.
func (v *view) unranked() string {
	rounds, contenders := 0, 0
	for _, c := range v.ranked {
		if len(v.voids(c.ID)) == 0 {
			contenders++
		}
	}
	for _, x := range v.r.Comparisons {
		if x.Workload == v.workload && x.Metric == v.primaryName() {
			rounds = max(rounds, x.Rounds)
		}
	}
	if contenders < 2 || rounds == 0 || len(v.places()) > 0 {
		return ""
	}
	return fmt.Sprintf("No ranks: telling %d contenders apart pair by pair takes more than %s; the ratios to the baseline stand.", contenders, plural(rounds, "round"))
}

// notes say what a contender is and why its figures do not count.
func (v *view) notes(c tare.Contender) []string {
	var notes []string
	switch c.Role {
	case tare.RoleControl:
		notes = v.once(notes, "the baseline a second time: whatever it differs by is noise")
	case tare.RoleNull:
		notes = v.once(notes, "does nothing: this much of every figure is the harness itself")
	default:
		if c.Name != "" {
			notes = append(notes, c.String())
		}
		if c.Role == tare.RoleTrap && c.Why != "" {
			notes = v.once(notes, "trap: "+c.Why)
		}
	}
	seen := map[string]bool{}
	for _, f := range v.voids(c.ID) {
		seen[f.Check] = true
		if f.Contender == "" {
			continue // speaks of everybody: it stands under the findings
		}
		short := "void by " + f.Check
		if f.Expected {
			short += ", as expected"
		}
		if full := short + ": " + f.Message; !v.told[c.ID+full] {
			v.told[c.ID+full] = true
			notes = append(notes, full)
			continue
		}
		notes = append(notes, short)
	}
	if c.Role == tare.RoleTrap {
		for _, check := range c.Expect.Void {
			if !seen[check] {
				notes = append(notes, fmt.Sprintf("expected to be void by %s, but that check found nothing", check))
			}
		}
	}
	return notes
}

// once adds a note that has not been printed under an earlier workload.
func (v *view) once(notes []string, note string) []string {
	if v.told[note] {
		return notes
	}
	v.told[note] = true
	return append(notes, note)
}

// others is the table of the other metrics' ratios.
func (v *view) others() (table, bool) {
	if len(v.r.Metrics) < 2 {
		return table{}, false
	}
	t := table{columns: []column{{name: "contender"}}}
	for _, name := range v.r.Metrics[1:] {
		t.columns = append(t.columns, column{name: name + " / " + v.baseline, unit: v.intervalUnit(name)})
	}
	for _, group := range [][]tare.Contender{v.ranked, v.apart} {
		apart := len(t.rows) > 0
		for _, c := range group {
			if row, ok := v.otherRow(c); ok {
				row.apart, apart = apart, false
				t.rows = append(t.rows, row)
			}
		}
	}
	return t, len(t.rows) > 0
}

func (v *view) otherRow(c tare.Contender) (row, bool) {
	out, any := row{cells: []cell{{text: c.Title()}}, who: c}, false
	void := len(v.voids(c.ID)) > 0
	for _, name := range v.r.Metrics[1:] {
		x, ok := v.comparison(c.ID, name)
		switch {
		case !ok:
			out.cells = append(out.cells, cell{text: nothing})
			continue
		case void:
			out.cells = append(out.cells, v.style.struck(ratio(x.Ratio)))
		default:
			out.cells = append(out.cells, cell{text: v.held(x)})
		}
		any = true
	}
	return out, any
}
