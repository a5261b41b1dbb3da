package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
)

const (
	keyDifference      = "difference"
	explanationHeading = "Why"
	explanationMeans   = "After the rounds both sides were profiled in turn, with as many operations in every round. A function is named where the interval of its part of the difference in CPU time excludes none; it holds for all functions together. What it calls of the standard library and the runtime is in its figure. Allocations are counted, without set-up. Below stand the compiler's decisions and the calls that one side alone has in these functions."
	workMeans          = "Instructions were counted outside the rounds. A function is named if it differs by more than its counts on one side do, by itself: what it calls has lines of its own. Instructions are work, not time: waiting, the kernel, the collector, caches and branch misses are in none of them."
	reasonWidth        = 72
)

func (s *Section) addExplanations(r *tare.Result) {
	if len(r.Explanations) == 0 {
		return
	}
	if slices.ContainsFunc(r.Explanations, func(e tare.Explanation) bool { return len(e.Work) > 0 }) {
		s.addText(Dim, workMeans)
	}
	if slices.ContainsFunc(r.Explanations, func(e tare.Explanation) bool { return len(e.Work) == 0 || e.Rounds > 0 }) {
		s.addText(Dim, explanationMeans)
	}
	for i, e := range r.Explanations {
		s.addSpace()
		s.addText(Bold, oneLine(e.Workload))
		var items []Item
		for _, line := range Reasons(e, 0) {
			items = append(items, unlabelledItems(Plain, line)...)
		}
		s.addList("", items...)
		if e.Flame != "" {
			s.addParts(Block{Key: keyDifference, About: strconv.Itoa(i), Mark: Dim}, []Field{{Text: "Beside the result: "}, codeField(e.Flame), {Text: " (flame graph of the differences)"}})
		}
	}
}

// Reasons returns the causes of a difference in at most n lines, or all if n is 0. If n is small each kind
// gets a share of the lines.
func Reasons(e tare.Explanation, n int) []string {
	work := describeCauses(e.Work, unitOfWork)
	if e.Why != "" {
		return append(work, "not explained: "+e.Why)
	}
	if e.Rounds == 0 && len(work) > 0 { // nothing was profiled
		if n > 0 {
			work = work[:min(n, len(work))]
		}
		return work
	}
	own, parts := e.Functions, []tare.Origin(nil)
	if n > 0 && len(e.Sites) > 0 { // what the runtime does more is mostly for what is allocated
		own, parts = nil, nil
		for _, f := range e.Functions {
			if strings.HasPrefix(f.Function, "runtime, ") {
				parts = append(parts, f)
			} else {
				own = append(own, f)
			}
		}
	}
	functions, sites, rest := describeCauses(own, unitOfTime), describeCauses(e.Sites, unitOfAllocations), append(describeDecisions(e), describeCauses(parts, unitOfTime)...)
	if e.Unseen != 0 {
		sites = append(sites, fmt.Sprintf("%s allocations/op are in no profile: objects below 16 bytes without pointers share blocks", formatSigned(e.Unseen)))
	}
	if e.Waits() {
		text := fmt.Sprintf("%s of %s is time in which nothing runs: it waits, e.g. sleeps, blocks or does input and output",
			formatNS(e.Waiting()), formatNS(e.WallTo-e.WallFrom))
		functions, rest = append([]string{text}, describeCalls(e)...), append(functions, rest...)
	} else {
		rest = append(rest, describeCalls(e)...)
	}
	functions = append(work, functions...)
	if len(functions)+len(sites) == 0 {
		return []string{"no function differs by more than profiles do by chance; no allocation differs"}
	}
	if n == 0 {
		return append(append(functions, sites...), rest...)
	}
	functions = functions[:min(len(functions), max(2, n-min(len(sites), 1)-min(len(rest), 2)))]
	sites = sites[:min(len(sites), max(1, n-len(functions)-min(len(rest), 2)))]
	out := append(append(functions, sites...), rest...)
	return out[:min(n, len(out))]
}

// Units of causes.
const (
	unitOfTime        = " CPU"
	unitOfAllocations = " allocations/op"
	unitOfWork        = " instructions/op"
)

// describeCauses are lines such as
//
//	+56.2 ns/op, 94 % (88 to 101) of the difference: chi.(*Mux).routeHTTP through context.WithValue (mux.go:453)
func describeCauses(of []tare.Origin, unit string) (lines []string) {
	for _, c := range of {
		d := c.To - c.From
		text := formatSigned(d) + unit
		switch unit {
		case unitOfTime:
			text = formatSignedNS(d) + "/op"
		case unitOfWork:
			text = formatSignedCount(d) + unit
		}
		if c.Share != 0 {
			text += fmt.Sprintf(", %.0f %%", 100*c.Share)
			if c.High > c.Low {
				text += fmt.Sprintf(" (%.0f to %.0f)", 100*c.Low, 100*c.High)
			}
			if unit != unitOfAllocations {
				text += " of the difference"
			}
		}
		text += ": " + shortenFunction(c.Function, reasonWidth)
		if c.Through != "" {
			text += " through " + shortenFunction(c.Through, reasonWidth)
		}
		if c.Line > 0 {
			text += fmt.Sprintf(" (%s:%d)", oneLine(c.File), c.Line)
		}
		lines = append(lines, text)
	}
	return lines
}

func describeDecisions(e tare.Explanation) []string { return describeOneSided(e.Decisions, "compiler") }

func describeCalls(e tare.Explanation) []string { return describeOneSided(e.Calls, "call") }

// describeOneSided are lines about one side, with those that say as much in one place
// once.
func describeOneSided(all []tare.Decision, what string) (lines []string) {
	for _, d := range all {
		lines = append(lines, fmt.Sprintf("%s, in %s only: %s (%s, %s:%d)", what, d.Side, truncateText(oneLine(d.Text), 2*reasonWidth),
			shortenFunction(d.Function, reasonWidth), oneLine(d.File), d.Line))
	}
	return lines
}

// formatSignedNS prints ns with its sign.
func formatSignedNS(ns float64) string {
	if ns < 0 {
		return "−" + formatNS(-ns)
	}
	return "+" + formatNS(ns)
}

// formatNS prints a time in ns with three digits.
func formatNS(ns float64) string {
	s := newScale("ns/op", []float64{ns})
	return s.formatValue(ns) + " " + strings.TrimSuffix(s.unit, "/op")
}

func formatSigned(x float64) string {
	text := fmt.Sprintf("%+.3g", x)
	return strings.Replace(text, "-", "−", 1)
}

// formatSignedCount prints a difference of counts without decimals, with one if it is below 10.
func formatSignedCount(x float64) string {
	decimals := 0
	if x > -10 && x < 10 {
		decimals = 1
	}
	return strings.Replace(fmt.Sprintf("%+.*f", decimals, x), "-", "−", 1)
}
