package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// An explanation has the causes of a difference between two contenders: functions, allocations, and decisions of
// the compiler.

const (
	keyDifference      = "difference"
	explanationHeading = "Why"
	explanationMeans   = "After the rounds both sides were profiled in turn, with as many operations in every round. A function is named where the interval of its part of the difference in CPU time excludes none; it holds for all functions together. What it calls of the standard library and the runtime is in its figure. Allocations are counted, without set-up. Below stand the compiler's decisions and the calls that one side alone has in these functions."
	workMeans          = "Instructions were counted outside the rounds. A function is named if it differs by more than its counts on one side do, by itself: what it calls has lines of its own. Callers are named with the calls of one operation."
	reasonWidth        = 72 // characters of the name of a function
)

// addExplanations adds a list of causes per explanation, with the path of its flame graph.
func (s *Section) addExplanations(r *tare.Result) {
	if len(r.Explanations) == 0 {
		return
	}
	isCounted := func(e tare.Explanation) bool { return len(e.Work) > 0 }
	isProfiled := func(e tare.Explanation) bool { return e.Rounds > 0 || !isCounted(e) }
	if slices.ContainsFunc(r.Explanations, isCounted) {
		text := workMeans
		if len(explainTerms(r)) == 0 { // else among the terms
			text += " Instructions are " + describeInstructions(r) + "."
		}
		s.addText(Dim, text)
	}
	if slices.ContainsFunc(r.Explanations, isProfiled) {
		s.addText(Dim, explanationMeans)
	}
	for i, e := range r.Explanations {
		s.addSpace()
		s.addText(Bold, oneLine(e.Workload))
		var items []Item
		const allLines = 0
		for _, line := range Reasons(e, allLines) {
			items = append(items, unlabelledItems(Plain, line)...)
		}
		s.addList("", items...)
		if e.Flame != "" {
			s.addParts(Block{Key: keyDifference, About: strconv.Itoa(i), Mark: Dim}, []Field{{Text: "Next to the result: "}, codeField(e.Flame), {Text: " (flame graph of the differences)"}})
		}
	}
}

// Reasons returns the causes of a difference in at most n lines; 0 means all.
//
// Causes come in three groups: functions, allocation sites, and the rest. Each gets some of the n lines. If the
// program mostly waits, lines about waiting and one-sided calls come before functions.
func Reasons(e tare.Explanation, n int) []string {
	work := describeCauses(e.Work, unitOfWork)
	if e.Why != "" {
		return append(work, "not explained: "+e.Why)
	}
	if isProfiled := e.Rounds > 0; !isProfiled && len(work) > 0 { // only instructions were counted
		if n > 0 {
			work = work[:min(n, len(work))]
		}
		return work
	}
	outside := e.Functions
	var inRuntime []tare.Origin
	if n > 0 && len(e.Sites) > 0 { // the runtime mostly works for allocations; their sites are more useful
		outside, inRuntime = splitRuntime(e.Functions)
	}
	functions := describeCauses(outside, unitOfTime)
	sites := describeCauses(e.Sites, unitOfAllocations)
	rest := append(describeDecisions(e), describeCauses(inRuntime, unitOfTime)...)
	if e.Unseen != 0 {
		sites = append(sites, fmt.Sprintf("%s allocations/op are in no profile: objects below 16 bytes without pointers share blocks", formatSigned(e.Unseen)))
	}
	if e.Waits() {
		waiting := fmt.Sprintf("%s of %s is time in which nothing runs: it waits, e.g. sleeps, blocks or does input and output",
			formatNS(e.Waiting()), formatNS(e.WallTo-e.WallFrom))
		rest = append(functions, rest...)
		functions = append([]string{waiting}, describeCalls(e)...)
	} else {
		rest = append(rest, describeCalls(e)...)
	}
	functions = append(work, functions...)
	if len(functions)+len(sites) == 0 {
		return []string{"no function differs by more than profiles do by chance; no allocation differs"}
	}
	if n > 0 {
		functions, sites = shareLines(n, functions, sites, rest)
	}
	out := slices.Concat(functions, sites, rest)
	if n > 0 {
		out = out[:min(n, len(out))]
	}
	return out
}

// shareLines shortens functions and sites so that n lines contain some of each group. Functions get at least two
// lines, and sites at least one.
func shareLines(n int, functions, sites, rest []string) (shownFunctions, shownSites []string) {
	const (
		minFunctions = 2
		minSites     = 1
		maxReserved  = 2 // lines reserved for the rest
	)
	reserved := min(len(rest), maxReserved)
	functionLines := max(minFunctions, n-min(len(sites), minSites)-reserved)
	functions = functions[:min(len(functions), functionLines)]
	siteLines := max(minSites, n-len(functions)-reserved)
	return functions, sites[:min(len(sites), siteLines)]
}

// splitRuntime separates Go's runtime from other functions. A name is "runtime, " and the work, such as collecting
// garbage.
func splitRuntime(functions []tare.Origin) (outside, inRuntime []tare.Origin) {
	for _, f := range functions {
		if strings.HasPrefix(f.Function, "runtime, ") {
			inRuntime = append(inRuntime, f)
		} else {
			outside = append(outside, f)
		}
	}
	return outside, inRuntime
}

// Units of causes, printed after a number.
const (
	unitOfTime        = " CPU"
	unitOfAllocations = " allocations/op"
	unitOfWork        = " instructions/op"
)

// describeCauses returns a line per cause such as
//
//	+56.2 ns/op, 94 % (88 to 101) of the difference: chi.(*Mux).routeHTTP through context.WithValue (mux.go:453)
func describeCauses(causes []tare.Origin, unit string) (lines []string) {
	for _, c := range causes {
		change := c.To - c.From
		text := formatSigned(change) + unit
		switch unit {
		case unitOfTime:
			text = formatSignedNS(change) + "/op"
		case unitOfWork:
			text = formatSignedCount(change) + unit
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
		lines = append(lines, text+describeCallers(c.Callers))
	}
	return lines
}

// describeCallers returns the callers of a function with their calls per operation, e.g.
//
//	; called 0 → 3× by chi.(*Context).RoutePattern through strings.Join (context.go:123)
func describeCallers(callers []tare.Caller) string {
	var parts []string
	for _, c := range callers {
		text := formatCalls(c.To) + "× by "
		if from := formatCalls(c.From); from != formatCalls(c.To) {
			text = from + " → " + text
		}
		text += shortenFunction(c.Function, reasonWidth)
		if c.Callee != "" {
			text += " through " + shortenFunction(c.Callee, reasonWidth)
		}
		if c.Line > 0 {
			text += fmt.Sprintf(" (%s:%d)", oneLine(c.File), c.Line)
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return ""
	}
	return "; called " + strings.Join(parts, ", ")
}

// formatCalls prints calls per operation, with at most two decimals.
func formatCalls(n float64) string {
	return strconv.FormatFloat(math.Round(n*100)/100, 'f', -1, 64)
}

// describeDecisions returns the decisions of the compiler, such as inlining, that only one side has.
func describeDecisions(e tare.Explanation) []string { return describeOneSided(e.Decisions, "compiler") }

// describeCalls returns the calls in the source that only one side has.
func describeCalls(e tare.Explanation) []string { return describeOneSided(e.Calls, "call") }

// describeOneSided returns a line per fact of one side: "call, in chi only: …". kind is the first word.
func describeOneSided(all []tare.Decision, kind string) (lines []string) {
	for _, d := range all {
		lines = append(lines, fmt.Sprintf("%s, in %s only: %s (%s, %s:%d)", kind, d.Side, format.Clip(oneLine(d.Text), 2*reasonWidth),
			shortenFunction(d.Function, reasonWidth), oneLine(d.File), d.Line))
	}
	return lines
}

func formatSignedNS(ns float64) string {
	if ns < 0 {
		return "−" + formatNS(-ns)
	}
	return "+" + formatNS(ns)
}

func formatNS(ns float64) string {
	s := newScale("ns/op", []float64{ns})
	return s.formatValue(ns) + " " + strings.TrimSuffix(s.unit, "/op")
}

func formatSigned(x float64) string {
	return strings.Replace(fmt.Sprintf("%+.3g", x), "-", "−", 1)
}

// formatSignedCount prints a difference of counts. Small ones have a decimal.
func formatSignedCount(x float64) string {
	decimals := 0
	if x > -10 && x < 10 {
		decimals = 1
	}
	return strings.Replace(fmt.Sprintf("%+.*f", decimals, x), "-", "−", 1)
}
