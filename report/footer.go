package report

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// This file writes the end of a report: what the machine can resolve, and the facts of the run.

// Values of tare.Result.Stopped, which is why the run ended.
const (
	stoppedDecided     = "decided"      // every criterion and claim is decided
	stoppedVoid        = "unanswerable" // checks voided everything that the questions are about
	stoppedBudget      = "budget"       // the budget is spent
	stoppedPlanned     = "planned"      // the planned rounds of the budget are done
	stoppedRounds      = "rounds"       // the requested number of rounds is done
	stoppedInterrupted = "interrupted"  // by the user; complete rounds are saved
)

// addResolution adds the smallest differences that this machine can show. They follow from the control, the
// baseline measured a second time.
func (s *Section) addResolution(r *tare.Result) {
	if all := listResolutions(r); len(all) > 0 {
		s.addOnly(forText|forMarkdown, func() { s.addList("", unlabelledItems(Plain, all...)...) })
		s.addOnly(forHTML, func() {
			s.addTable("", "", newResolutionTable(r))
			if slices.ContainsFunc(r.Machine.Resolution, func(x tare.Resolution) bool { return x.Found > 0 }) {
				s.addText(Dim, "After the comma: the difference that four of five such studies find.")
			}
		})
		s.addText(Dim, resolutionMeans)
	}
}

// newResolutionTable returns a row per workload with the resolution of each metric: "±1.2 %, 2 %". The second
// value is the difference that four of five such studies would find, if known.
func newResolutionTable(r *tare.Result) Table {
	t := Table{Columns: []Column{{Name: "workload"}, {Name: "in"}}}
	for _, x := range r.Machine.Resolution {
		column := Column{Name: x.Metric, Unit: "noise", Right: true}
		if !slices.Contains(t.Columns, column) {
			t.Columns = append(t.Columns, column)
		}
		i := slices.IndexFunc(t.Rows, func(row Row) bool { return row.Cells[0].Text == x.Workload })
		if i < 0 {
			i = len(t.Rows)
			t.Rows = append(t.Rows, Row{Cells: []Field{{Text: x.Workload}, {Text: format.Span(x.Seconds)}}})
		}
		text := "±" + formatPercent(x.HalfWidth)
		if x.Found > 0 {
			text += ", " + formatPercent(x.Found)
		}
		cells := t.Rows[i].Cells
		metricCell := slices.Index(t.Columns, column)
		for len(cells) <= metricCell { // no cell for this metric yet
			cells = append(cells, Field{})
		}
		cells[metricCell].Text = text
		t.Rows[i].Cells = cells
	}
	return t
}

// listResolutions returns a sentence per workload and metric with a known resolution.
func listResolutions(r *tare.Result) []string {
	var lines []string
	for _, x := range r.Machine.Resolution {
		line := fmt.Sprintf("This machine resolves ±%s of %s in %s on %s", formatPercent(x.HalfWidth), x.Metric, format.Span(x.Seconds), x.Workload)
		if x.Found > 0 {
			line += fmt.Sprintf("; four of five such studies find a difference of %s", formatPercent(x.Found))
		}
		lines = append(lines, line+".")
	}
	return lines
}

const resolutionMeans = "Two identical programs may differ this much here: half the width of the control's interval. No smaller difference is claimed."

func labelledItem(label, text string) Item { return Item{Label: label, Text: text} }

// describeRun returns the facts that a reader needs to judge and repeat a run.
func describeRun(r *tare.Result) []Item {
	var out []Item
	add := func(label, text string) {
		if text != "" {
			out = append(out, labelledItem(label, text))
		}
	}
	add("machine", DescribeMachine(r.Machine))
	add("noise", describeNoise(r.Machine.Noise))
	if r.Machine.Unlocked {
		add("", "no lock was held: another tare may have measured at the same time")
	}
	add("lacks", joinMissing(r.Machine.Facilities))
	out = append(out, newSettingItems(r)...)
	add("rounds", describeRounds(r))
	for _, line := range describeLost(r) {
		add("", line)
	}
	add("stopped", describeStop(r))
	add("left", describeRetired(r))
	add("trials", countFailed(r.Trials))
	add("seed", r.Seed)
	if !r.Started.IsZero() {
		add("started", r.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	if r.Journal != "" {
		where := r.Journal
		if isBaseName := !strings.ContainsAny(where, `/\`); isBaseName {
			where += ", next to the result document"
		}
		add("journal", "every slice is in "+where)
	}
	return out
}

// DescribeMachine returns the hardware and the system of a machine, e.g. "Xeon, 2 cores, 4 GiB,
// linux/amd64 6.1, go1.26".
func DescribeMachine(m tare.Machine) string {
	var parts []string
	if m.CPU != "" {
		parts = append(parts, m.CPU)
	}
	parts = append(parts, countNoun(m.Cores, "core"))
	if m.Memory > 0 {
		parts = append(parts, fmt.Sprintf("%.0f GiB", float64(m.Memory)/(1<<30)))
	}
	system := m.OS + "/" + m.Arch
	if m.Kernel != "" {
		system += " " + m.Kernel
	}
	return strings.Join(append(parts, system, m.Go), ", ")
}

// describeNoise returns how much other programs disturbed the run. Shares below 0 are unknown.
func describeNoise(n tare.Noise) string {
	var parts []string
	if n.OtherCPU != nil {
		parts = append(parts, fmt.Sprintf("other programs used %s of the processors' time", formatPercent(*n.OtherCPU)))
	}
	if n.CPUPressure >= 0 {
		parts = append(parts, fmt.Sprintf("some task waited for a processor %s of the time (CPU pressure)", formatPercent(n.CPUPressure)))
	}
	if n.RunQueueWait >= 0 {
		parts = append(parts, fmt.Sprintf("the contenders waited to run %s of theirs", formatPercent(n.RunQueueWait)))
	}
	if n.Throttled > 0 {
		parts = append(parts, fmt.Sprintf("a quota stopped them %s", formatPercent(n.Throttled)))
	}
	if len(parts) == 0 {
		return "this machine does not tell"
	}
	return strings.Join(parts, "; ")
}

// joinMissing names the facilities that the machine lacks.
func joinMissing(facilities []tare.Facility) string {
	var names []string
	for _, f := range facilities {
		if !f.Found {
			names = append(names, f.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return strings.Join(names, ", ") + " (tare doctor says what that means)"
}

// describeRounds returns the rounds, their duration, and the order of contenders in a round.
func describeRounds(r *tare.Result) string {
	text := countNoun(r.RoundsDone, "round") + describePlanned(r)
	if r.Seconds > 0 {
		text += " in " + format.Span(r.Seconds)
	}
	text += ", builds not counted"
	switch r.Plan.Isolation {
	case tare.Lockstep:
		text += "; in lockstep: contenders take turns slice by slice"
	case tare.TrialWise:
		text += "; one whole trial after another (--isolation=trial)"
	}
	return text
}

// describePlanned returns the planned rounds if fewer were done.
func describePlanned(r *tare.Result) string {
	if r.Plan.RoundsPlanned <= r.RoundsDone {
		return ""
	}
	return fmt.Sprintf(" of %d planned", r.Plan.RoundsPlanned)
}

// describeRetired names the contenders that were no longer measured after some round, and why.
func describeRetired(r *tare.Result) string {
	var parts []string
	for _, c := range r.Plan.Retired {
		parts = append(parts, fmt.Sprintf("%s after %s", c.Contender, countNoun(c.After, "round")))
	}
	if len(parts) == 0 {
		return ""
	}
	return "early: " + joinNames(parts) + ": at least three others were proven faster on everything; intervals are as of then"
}

func describeStop(r *tare.Result) string {
	budget := r.Budget
	if budget != "" {
		budget = ": " + budget
	}
	text := r.Stopped
	switch r.Stopped {
	case stoppedDecided:
		text = "every criterion and claim is decided; the budget was not needed in full" + budget + "; studies that stop early overstate differences a little"
	case stoppedVoid:
		text = "early, because everything that its questions are about is void: more rounds would not have answered them" + budget
	case stoppedBudget:
		text = "the budget was spent" + budget
	case stoppedPlanned:
		text = "all rounds that were planned for the budget are done" + budget
	case stoppedRounds:
		text = "the number of rounds that was asked for is done"
	case stoppedInterrupted:
		text = "interrupted; whole rounds are kept and --resume goes on from them"
	}
	if r.Plan.Stretched {
		text += "; the budget was stretched to the fewest rounds a verdict needs"
	}
	return text
}

// countFailed counts the failed trials (processes of contenders) by class of error.
func countFailed(trials []tare.Trial) string {
	count := map[string]int{}
	total := 0
	for _, t := range trials {
		if t.Error != nil {
			count[t.Error.Class]++
			total++
		}
	}
	if total == 0 {
		return ""
	}
	var classes []string
	for class, n := range count {
		classes = append(classes, fmt.Sprintf("%s %d", class, n))
	}
	sort.Strings(classes)
	return fmt.Sprintf("%d of %d could not be carried through: %s", total, len(trials), strings.Join(classes, ", "))
}
