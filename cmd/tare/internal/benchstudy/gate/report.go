package gate

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/internal/format"
)

// This file makes the report of a gate from measurements. Its verdict is for example: "blocked: of
// 12 benchmarks 1 is slower by more than 5 %".

// Judge compares the measurements with the rules of the project. places has the lines of
// benchmarks, by import/path.BenchmarkName. now decides which waivers have expired. config is the
// printed path of tare.yaml, or "".
//
// Outcomes come first, then waivers, then sentences, which depend on both.
func Judge(p project.Project, measured Measured, places map[string]Place, now time.Time, config string) Report {
	g := p.Gate
	rep := Report{
		Schema: Schema, Base: measured.Base, Head: measured.Head, Commit: measured.Commit, Record: measured.Record, Shard: measured.Shard.String(),
		Margin: g.Margin, Alpha: g.Alpha, OnInconclusive: g.OnInconclusive, allocs: g.Allocs,
		Rows: []Row{}, Remarks: []Remark{}, Skipped: append([]Skipped{}, measured.Skipped...), Results: append([]*tare.Result{}, measured.Results...),
		Requirements: measured.Requirements, Notes: measured.Notes, OverMachines: measured.OverMachines, nothingReason: measured.Nothing, commands: measured.Commands, configFile: config,
	}
	rep.addRows(measured, g, places)
	rep.countTime(measured)
	rep.importPrefix = commonPrefix(rep.Rows)
	rep.applyWaivers(p.Accept, now)
	rep.applyPolicy(measured.Policy)
	for i := range rep.Rows {
		rep.Rows[i].Sentence = rep.rowSentence(rep.Rows[i])
	}
	sortRows(rep.Rows)
	for _, note := range measured.Notes {
		rep.addRemark(SeverityNote, note)
	}
	rep.remarkMachines(measured, g)
	rep.remarkWork(measured, g)
	rep.remarkUncounted(measured)
	rep.remarkUnmeasured(measured, g)
	rep.remarkFindings(measured)
	rep.conclude()
	return rep
}

func (rep *Report) addRows(measured Measured, g project.Gate, places map[string]Place) {
	family := newMembers(measured, g)
	judgeExactCounts(family, g.Allocs == project.AllocsExact)
	judgeMembers(family, g.Alpha)
	for _, f := range family {
		rep.Rows = append(rep.Rows, *f.row)
	}
	rep.Rows = append(rep.Rows, workRows(measured, g)...)
	for i := range rep.Rows {
		if place, ok := places[benchmarkFunction(rep.Rows[i].Benchmark)]; ok {
			rep.Rows[i].File, rep.Rows[i].Line = place.File, place.Line
		}
	}
}

// countTime sets the rounds and the measuring time of the report. Machines measure at the same time,
// so the slowest counts.
func (rep *Report) countTime(measured Measured) {
	seconds := map[string]float64{} // by machine
	for i, res := range measured.Results {
		machine := ""
		if i < len(measured.MachineNames) {
			machine = measured.MachineNames[i]
		}
		seconds[machine] += res.Seconds
		rep.Rounds, rep.Seconds = max(rep.Rounds, res.RoundsDone), max(rep.Seconds, seconds[machine])
	}
}

func (rep *Report) addRemark(severity, text string) {
	rep.Remarks = append(rep.Remarks, Remark{Severity: severity, Text: text})
}

func (rep *Report) remarkMachines(measured Measured, g project.Gate) {
	for _, o := range measured.OverMachines {
		isPrimary := o.Metric == gatedMetrics(g)[0]
		if isPrimary && len(o.Less)+len(o.More) > 0 {
			rep.addRemark(SeverityNote, fmt.Sprintf("%s, %s over machines: %s", rep.shortName(o.Workload), o.Metric, o.Sentence))
		}
	}
}

func (rep *Report) remarkUnmeasured(m Measured, g project.Gate) {
	for _, name := range gatedMetrics(g) {
		isRequired := slices.ContainsFunc(m.Results, func(res *tare.Result) bool {
			required, isListed := m.Requirements[res.Study]
			requiresName := !isListed || slices.Contains(required.Metrics, name)
			return len(res.Workloads) > 0 && requiresName
		})
		hasRow := slices.ContainsFunc(rep.Rows, func(r Row) bool { return r.Metric == name })
		if isRequired && !hasRow {
			rep.addRemark(SeverityWarning, name+" is requested and is not measured of these benchmarks; remove it from gate.metrics")
			rep.unmeasuredMetrics = append(rep.unmeasuredMetrics, name)
		}
	}
}

func (rep *Report) remarkFindings(m Measured) {
	seen := map[string]bool{}
	for _, res := range m.Results {
		for _, f := range res.Findings {
			if f.Check == checkAudit {
				rep.addRemark(SeverityNote, rep.shortName(f.Workload)+": "+f.Message)
				continue
			}
			key := f.Check + f.Advice + dropDigits(f.Message)
			isGeneral := f.Check == "control" || f.Check == "machine"
			if f.Severity != tare.Warn || !isGeneral || seen[key] {
				continue
			}
			seen[key] = true
			text := f.Message
			if f.Advice != "" {
				text += "; " + f.Advice
			}
			rep.addRemark(SeverityWarning, text)
		}
	}
}

// dropDigits removes digits, so that messages with different readings of a sensor are equal.
func dropDigits(message string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, message)
}

func (rep *Report) conclude() {
	skipped := rep.countSkipped()
	void, open := rep.countOutcome(Void), rep.countOutcome(Open)
	worse := rep.describeWorse()
	isUndecided := open > 0 || skipped.missing > 0 || len(rep.unmeasuredMetrics) > 0
	failsAsUndecided := isUndecided && rep.OnInconclusive == project.FailOpen
	hasFailingRow := slices.ContainsFunc(rep.Rows, func(r Row) bool { return r.Fails(rep.OnInconclusive) })
	// A recorded change is merged already.
	rep.Blocked = (hasFailingRow || skipped.broken > 0 || failsAsUndecided) && !rep.Record
	switch {
	case skipped.broken > 0 || void > 0:
		rep.Outcome = Void
	case len(rep.Rows) == 0:
		rep.Outcome = Nothing
		rep.Sentence = rep.whyNothing()
		return
	case len(worse) > 0:
		rep.Outcome = Worse
	case isUndecided:
		rep.Outcome = Open
	default:
		rep.Outcome = NoWorse
	}
	rep.Sentence = fmt.Sprintf("%s: of %s %s", rep.verdictLabel(), rep.describeCount(), rep.describeRows(worse, void, open, skipped))
}

// describeRows returns the part of the sentence about rows. worse has the clauses about worse rows.
// void and open are numbers of benchmarks.
func (rep *Report) describeRows(worse []string, void, open int, skipped skippedCounts) string {
	waived := 0
	for _, r := range rep.Rows {
		if r.Waived != nil {
			waived++
		}
	}
	bad := worse
	if void > 0 {
		bad = append(bad, fmt.Sprintf("%d %s void", void, format.Choose(void, "is", "are")))
	}
	if skipped.broken > 0 {
		bad = append(bad, fmt.Sprintf("%d of the head could not be run", skipped.broken))
	}
	if len(bad) == 0 {
		bad = append(bad, rep.describeNoneWorse(open > 0, waived > 0))
	}
	text := strings.Join(bad, ", ")
	if open > 0 {
		text += fmt.Sprintf("; %d could not be told (on_inconclusive: %s)", open, rep.OnInconclusive)
	}
	if waived > 0 {
		text += fmt.Sprintf("; %d waived", waived)
	}
	return text + rep.describeUncovered(skipped)
}

func (rep *Report) verdictLabel() string {
	switch {
	case rep.Record:
		return "recorded"
	case rep.Shard != "":
		return "part " + rep.Shard + ", which tare gate merge judges with the others"
	case rep.Blocked:
		return "blocked"
	case rep.Outcome == Open:
		return "not blocked"
	}
	return "passes"
}

// describeNoneWorse returns a clause such as "none is slower by more than 5 %, and none allocates
// more often". If rows are undecided (hasOpen) it says "known to be slower", and if rows are waived
// "none else".
func (rep *Report) describeNoneWorse(hasOpen, hasWaived bool) string {
	subject := "none "
	if hasWaived {
		subject = "none else "
	}
	predicates, hasExact := rep.worsePredicates(hasOpen)
	var clauses []string
	if len(predicates) > 0 {
		known := ""
		if hasOpen {
			known = "is known to "
		}
		clauses = append(clauses, subject+known+format.List(predicates, "or")+" by more than "+rep.marginText())
	}
	if hasExact {
		clauses = append(clauses, subject+"allocates more often")
	}
	limitsMet := rep.describeLimitsMet()
	switch {
	case len(clauses) > 0:
		return strings.Join(clauses, ", and ") + limitsMet
	case limitsMet != "":
		return strings.TrimPrefix(limitsMet, ", and ")
	}
	return "no limit is known to be exceeded"
}

// worsePredicates returns a predicate for each metric, e.g. "is slower" and "takes more memory", or
// the infinitives. hasExact reports whether allocations are compared exactly, without a margin.
func (rep *Report) worsePredicates(infinitives bool) (predicates []string, hasExact bool) {
	for _, metric := range rep.rowMetrics() {
		if !slices.ContainsFunc(rep.Rows, func(r Row) bool { return r.Metric == metric && !r.hasLimit() }) {
			continue
		}
		switch w := wordsFor(metric); {
		case metric == "allocs" && rep.allocs == project.AllocsExact:
			hasExact = true
		case infinitives:
			predicates = append(predicates, w.verb.infinitive+" "+w.worse)
		default:
			predicates = append(predicates, w.verb.singular+" "+w.worse)
		}
	}
	return predicates, hasExact
}

func (rep *Report) describeLimitsMet() string {
	clause := ""
	for _, r := range rep.Rows {
		if !r.hasLimit() {
			continue
		}
		if r.Outcome != NoWorse {
			return ""
		}
		clause = ", and every limit is met"
	}
	return clause
}

func (rep *Report) whyNothing() string {
	if rep.nothingReason != "" {
		return "nothing to compare: " + rep.nothingReason
	}
	if len(rep.Skipped) > 0 {
		return fmt.Sprintf("nothing to compare: %s: %s%s", rep.Skipped[0].What, rep.Skipped[0].Why, andMore(len(rep.Skipped)-1))
	}
	return "nothing to compare: there are no benchmarks; tare gate runs functions like func BenchmarkEncode(b *testing.B) in test files, and bench: in tare.yaml says which"
}

// andMore returns the end of a list that omits n entries: " (and 3 more)", or "" if n is 0 or less.
func andMore(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", n)
}

func (rep *Report) marginText() string {
	if slices.ContainsFunc(rep.Rows, func(r Row) bool { return r.Margin > 0 }) {
		return "its margin"
	}
	return formatShare(rep.Margin)
}

func (rep *Report) marginOf(r Row) float64 { return cmp.Or(r.Margin, rep.Margin) }

func (rep *Report) describeWorse() []string {
	var parts []string
	for _, metric := range rep.rowMetrics() {
		n, exact := 0, true // number of worse rows, and whether all are exact
		for _, r := range rep.Rows {
			if r.isUnwaived(Worse) && r.Metric == metric && !r.hasLimit() {
				n, exact = n+1, exact && r.Exact
			}
		}
		if n == 0 {
			continue
		}
		if metric == "allocs" && exact {
			parts = append(parts, fmt.Sprintf("%d %s more often", n, format.Choose(n, "allocates", "allocate")))
			continue
		}
		w := wordsFor(metric)
		parts = append(parts, fmt.Sprintf("%d %s %s by more than %s", n, format.Choose(n, w.verb.singular, w.verb.plural), w.worse, rep.marginText()))
	}
	for _, r := range rep.Rows {
		if r.isUnwaived(Worse) && r.hasLimit() {
			parts = append(parts, fmt.Sprintf("%s is %s in %s", r.Metric, r.describeLimit(), rep.rowTitle(r)))
		}
	}
	return parts
}

func (rep *Report) countOutcome(o Outcome) int {
	var ids []string
	for _, r := range rep.Rows {
		if r.isUnwaived(o) && !slices.Contains(ids, r.Benchmark) {
			ids = append(ids, r.Benchmark)
		}
	}
	return len(ids)
}

// describeCount returns e.g. "12 benchmarks", or "12 workloads" if not all are Go benchmarks.
func (rep *Report) describeCount() string {
	noun := "benchmark"
	for _, r := range rep.Rows {
		if packageOf(r.Benchmark) == "" {
			noun = "workload"
		}
	}
	return format.Count(len(rep.Benchmarks()), noun)
}

// Benchmarks returns the compared benchmarks.
func (rep *Report) Benchmarks() []string {
	var ids []string
	seen := map[string]bool{}
	for _, r := range rep.Rows {
		if !seen[r.Benchmark] {
			seen[r.Benchmark] = true
			ids = append(ids, r.Benchmark)
		}
	}
	return ids
}

func benchmarkFunction(benchmark string) string {
	i := strings.Index(benchmark, ".Benchmark")
	if i < 0 {
		return benchmark
	}
	if j := strings.Index(benchmark[i:], "/"); j >= 0 {
		return benchmark[:i+j]
	}
	return benchmark
}

// packageOf returns the import path of a Go benchmark's package, or "".
func packageOf(benchmark string) string {
	i := strings.Index(benchmark, ".Benchmark")
	return benchmark[:max(0, i)]
}

// commonPrefix returns the longest common start of the import paths that ends in a slash.
func commonPrefix(rows []Row) string {
	common, begun := "", false
	for _, r := range rows {
		if packageOf(r.Benchmark) == "" {
			continue
		}
		dir := path.Dir(packageOf(r.Benchmark)) + "/"
		if dir == "./" {
			return ""
		}
		if !begun {
			common, begun = dir, true
		}
		for !strings.HasPrefix(dir, common) {
			common = common[:strings.LastIndex(strings.TrimSuffix(common, "/"), "/")+1]
		}
	}
	return common
}

func (rep *Report) shortName(benchmark string) string {
	return strings.TrimPrefix(strings.TrimPrefix(benchmark, "workload "), rep.importPrefix)
}

func (rep *Report) rowTitle(r Row) string {
	if r.Machine == "" {
		return rep.shortName(r.Benchmark)
	}
	return rep.shortName(r.Benchmark) + " on " + r.Machine
}
