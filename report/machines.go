package report

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// Several machines can measure a study. Each measures all of it, or the workloads are divided.

const machinesHeading = "Over machines"

func (s *Section) addMachines(r *tare.Result) {
	if len(r.Machines) == 0 {
		return
	}
	if r.Divided() {
		s.addDivided(r)
		return
	}
	s.addText(Dim, fmt.Sprintf("%s measured, each in its own rounds; ratios never cross machines. All other sections are of %s. "+
		"Over three machines or more of one kind the machine is a random effect: the ratio is the mean over machines like these, the interval is Hartung's, Knapp's, Sidik's and Jonkman's, "+
		"and p is the chance of differences as large if all machines had one ratio (Welch, with Holm's adjustment).", countNoun(len(r.Machines), "machine"), r.Machines[0].Name))
	s.addSpace()
	s.addTable("", "machines", newMachineTable(r))
	s.addSpace()
	s.addTable("", "ratios over machines", OverMachines(r))
	s.addSpace()
	var verdicts []Item
	for _, text := range MachinesVerdicts(r) {
		verdicts = append(verdicts, Item{Text: text})
	}
	s.addList("", verdicts...)
}

func (s *Section) addDivided(r *tare.Result) {
	s.addText(Dim, fmt.Sprintf("The workloads were divided among %s: each was measured on one, all of its rounds. The intervals are simultaneous over all.", countNoun(len(r.Machines), "machine")))
	s.addSpace()
	s.addTable("", "machines", newMachineTable(r))
	s.addSpace()
	t := Table{Columns: []Column{{Name: "workload"}, {Name: "measured on"}}}
	for _, w := range r.Workloads {
		t.Rows = append(t.Rows, Row{Cells: []Field{{Text: w.ID}, {Text: r.MeasuredBy(w.ID)}}})
	}
	s.addTable("", "parts", t)
}

func newMachineTable(r *tare.Result) Table {
	t := Table{Columns: []Column{{Name: "machine"}, {Name: "kind"}, {Name: "processor"}, {Name: "cores", Right: true}, {Name: "Go"}, {Name: "rounds", Right: true}}}
	for _, m := range r.Machines {
		t.Rows = append(t.Rows, Row{Cells: []Field{
			{Text: m.Name},
			{Text: m.Machine.OS + "/" + m.Machine.Arch},
			{Text: orDefault(m.Machine.CPU, noValue)},
			{Text: fmt.Sprint(m.Machine.Cores)},
			{Text: orDefault(m.Machine.Go, noValue)},
			{Text: fmt.Sprint(m.Rounds)},
		}})
	}
	return t
}

// OverMachines returns a table with a row per comparison and a column per machine. It has all comparisons by the
// primary metric, and others in which the machines differ.
func OverMachines(r *tare.Result) Table { return newOverMachinesTable(r, selectOverMachines(r)) }

// MachinesVerdicts returns a sentence for each comparison of OverMachines.
func MachinesVerdicts(r *tare.Result) (lines []string) {
	for _, o := range selectOverMachines(r) {
		lines = append(lines, overMachinesSubject(r, o)+": "+o.Sentence)
	}
	return lines
}

func selectOverMachines(r *tare.Result) []tare.OverMachines {
	return slices.DeleteFunc(slices.Clone(r.OverMachines), func(o tare.OverMachines) bool { return o.Metric != primaryMetric(r) && !o.Differ })
}

func overMachinesSubject(r *tare.Result, o tare.OverMachines) string {
	text := o.Contender + ", " + o.Workload
	if o.Metric != primaryMetric(r) {
		text += ", " + o.Metric
	}
	return text
}

func newOverMachinesTable(r *tare.Result, shown []tare.OverMachines) Table {
	t := Table{Columns: []Column{{Name: "ratio of " + primaryMetric(r)}}}
	for _, m := range r.Machines {
		t.Columns = append(t.Columns, Column{Name: "on " + m.Name})
	}
	t.Columns = append(t.Columns, Column{Name: "over machines"}, Column{Name: "p", Right: true})
	for _, o := range shown {
		cells := []Field{{Text: overMachinesSubject(r, o)}}
		for _, m := range r.Machines {
			cells = append(cells, newMachineField(o, m))
		}
		combined := noValue
		if o.Ratio > 0 {
			combined = formatRatioWithin(o.Ratio, o.Low, o.High)
		}
		t.Rows = append(t.Rows, Row{Cells: append(cells, Field{Text: combined}, Field{Text: formatP(o.P)})})
	}
	return t
}

// newMachineField returns the ratio of comparison o on machine m. Only machines of o.Kind, e.g. linux/amd64, have
// one.
func newMachineField(o tare.OverMachines, m tare.OnMachine) Field {
	if m.Machine.OS+"/"+m.Machine.Arch != o.Kind {
		return Field{Text: noValue}
	}
	for _, c := range m.Comparisons {
		if c.Workload != o.Workload || c.Contender != o.Contender || c.Metric != o.Metric {
			continue
		}
		if slices.Contains(o.Void, m.Name) {
			return struckField("void")
		}
		if !c.Bounded() {
			return Field{Text: format.Ratio(c.Ratio) + "×"}
		}
		return Field{Text: formatRatioWithin(c.Ratio, c.Low, c.High)}
	}
	return Field{Text: noValue}
}

func formatRatioWithin(ratio, low, high float64) string {
	return fmt.Sprintf("%s× [%s, %s]", format.Ratio(ratio), format.Ratio(low), format.Ratio(high))
}

func formatP(p float64) string {
	if p < 0.001 {
		return "< 0.001"
	}
	return fmt.Sprintf("%.3f", p)
}
