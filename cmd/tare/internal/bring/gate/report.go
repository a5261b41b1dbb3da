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

// Judge holds what was measured against what the project asks. places is where
// benchmarks are, by import/path.BenchmarkName; now decides which waivers hold;
// config is how the path of tare.yaml is printed.
func Judge(p project.Project, m Measured, places map[string]Place, now time.Time, config string) Report {
	g := p.Gate
	rep := Report{
		Schema: Schema, Base: m.Base, Head: m.Head, Margin: g.Margin, Alpha: g.Alpha, On: g.OnInconclusive, config: config, allocs: g.Allocs,
		Rows: []Row{}, Remarks: []Remark{}, Left: append([]Left{}, m.Left...), Results: append([]*tare.Result{}, m.Results...), Commit: m.Commit, Held: m.Held, Notes: m.Notes, Over: m.Over, reason: m.Nothing, Record: m.Record, commands: m.Commands,
	}
	family := members(m, g)
	exactly(family, g.Allocs == project.AllocsExact)
	rule(family, g.Alpha)
	rows := workRows(m, g)
	for _, f := range slices.Backward(family) {
		rows = slices.Insert(rows, 0, *f.row)
	}
	for _, r := range rows {
		if at, ok := places[function(r.Benchmark)]; ok {
			r.File, r.Line = at.File, at.Line
		}
		rep.Rows = append(rep.Rows, r)
	}
	took := map[string]float64{} // machines measure at the same time
	for i, res := range m.Results {
		machine := ""
		if i < len(m.On) {
			machine = m.On[i]
		}
		took[machine] += res.Seconds
		rep.Rounds, rep.Seconds = max(rep.Rounds, res.RoundsDone), max(rep.Seconds, took[machine])
	}
	rep.prefix = prefix(rep.Rows)
	rep.waive(p.Accept, now)
	rep.judgedBy(m.Policy)
	for i := range rep.Rows {
		rep.Rows[i].Sentence = rep.sentence(rep.Rows[i])
	}
	sort(rep.Rows)
	for _, note := range m.Notes {
		rep.remark(IsNote, note)
	}
	for _, o := range m.Over {
		if g := metrics(g); o.Metric == g[0] && len(o.Less)+len(o.More) > 0 {
			rep.remark(IsNote, fmt.Sprintf("%s, %s over machines: %s", rep.short(o.Workload), o.Metric, o.Sentence))
		}
	}
	rep.remarkWork(m, g)
	rep.remarkUncounted(m)
	rep.Shard = m.Shard.String()
	rep.unmeasured(m, g)
	rep.conclude()
	return rep
}

func (rep *Report) remark(severity, text string) {
	rep.Remarks = append(rep.Remarks, Remark{Severity: severity, Text: text})
}

// unmeasured remarks on metrics that were asked for and that nothing measured,
// and on findings that concern everybody.
func (rep *Report) unmeasured(m Measured, g project.Gate) {
	for _, name := range metrics(g) {
		asked := slices.ContainsFunc(m.Results, func(res *tare.Result) bool {
			held, besides := m.Held[res.Study]
			return len(res.Workloads) > 0 && (!besides || slices.Contains(held.Metrics, name))
		})
		if asked && !slices.ContainsFunc(rep.Rows, func(r Row) bool { return r.Metric == name }) {
			rep.remark(IsWarning, name+" is asked for and is not measured of these benchmarks; leave it out of gate.metrics")
			rep.unasked = append(rep.unasked, name)
		}
	}
	seen := map[string]bool{} // the machine is the same for all
	for _, res := range m.Results {
		for _, f := range res.Findings {
			if f.Severity != tare.Warn || f.Check != "control" && f.Check != "machine" || seen[f.Check+f.Advice+gauge(f.Message)] {
				continue
			}
			seen[f.Check+f.Advice+gauge(f.Message)] = true
			text := f.Message
			if f.Advice != "" {
				text += "; " + f.Advice
			}
			rep.remark(IsWarning, text)
		}
	}
}

// gauge is a message without its figures: what was looked at.
func gauge(message string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, message)
}

// conclude says what becomes of the whole.
func (rep *Report) conclude() {
	left, waived := rep.countLeft(), 0
	for _, r := range rep.Rows {
		rep.Blocked = rep.Blocked || r.Fails(rep.On)
		if r.Waived != nil {
			waived++
		}
	}
	parts := rep.worse()
	worse := len(parts) > 0
	void, open := rep.with(Void), rep.with(Open)
	if void > 0 {
		parts = append(parts, fmt.Sprintf("%d %s void", void, pick(void, "is", "are")))
	}
	if left.broken > 0 {
		parts = append(parts, fmt.Sprintf("%d of the head could not be run", left.broken))
		rep.Blocked = true
	}
	if len(parts) == 0 {
		parts = append(parts, rep.none(open > 0, waived > 0))
	}
	tail := ""
	if open > 0 {
		tail += fmt.Sprintf("; %d could not be told (on_inconclusive: %s)", open, rep.On)
	}
	if waived > 0 {
		tail += fmt.Sprintf("; %d waived", waived)
	}
	tail += rep.describeLeft(left)
	untold := open > 0 || left.missing > 0 || len(rep.unasked) > 0
	rep.Blocked = (rep.Blocked || untold && rep.On == project.FailOpen) && !rep.Record
	switch {
	case left.broken > 0 || void > 0:
		rep.Outcome = Void
	case len(rep.Rows) == 0:
		rep.Outcome = Nothing
		rep.Sentence = rep.nothing()
		return
	case worse:
		rep.Outcome = Worse
	case untold:
		rep.Outcome = Open
	default:
		rep.Outcome = NoWorse
	}
	rep.Sentence = fmt.Sprintf("%s: of %s %s", rep.word(), rep.count(), strings.Join(parts, ", ")+tail)
}

// word returns the verdict on the change. It passes only if all of it was compared and
// could be told.
func (rep *Report) word() string {
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

// none says that nothing is worse, in the words of what was asked; open says
// that it is not known of all, waived that some are and may.
func (rep *Report) none(open, waived bool) string {
	is := "is "
	if open {
		is = "be "
	}
	var words []string
	exact := false
	for _, metric := range rep.metrics() {
		if !slices.ContainsFunc(rep.Rows, func(r Row) bool { return r.Metric == metric && r.Limit == 0 }) {
			continue
		}
		switch w := wordsFor(metric); {
		case metric == "allocs" && rep.allocs == project.AllocsExact:
			exact = true
		case w.adjective:
			words = append(words, is+w.worse)
		default:
			verb := w.takes
			if open {
				verb = w.take
			}
			words = append(words, verb+" "+w.worse)
		}
	}
	who := "none "
	if waived {
		who = "none else "
	}
	text := who
	if len(words) > 0 {
		if open {
			text += "is known to "
		}
		text += listed(words, " or ") + " by more than " + rep.margins()
		if exact {
			text += ", and " + who
		}
	}
	if exact {
		text += "allocates more often"
	}
	return text + rep.kept()
}

// kept says that all limits are, where there are any.
func (rep *Report) kept() string {
	said := ""
	for _, r := range rep.Rows {
		if r.Limit > 0 && r.Outcome != NoWorse {
			return ""
		}
		if r.Limit > 0 {
			said = ", and every limit is kept"
		}
	}
	return said
}

// nothing says why nothing was compared.
func (rep *Report) nothing() string {
	if rep.reason != "" {
		return "nothing to compare: " + rep.reason
	}
	if len(rep.Left) > 0 {
		return fmt.Sprintf("nothing to compare: %s: %s%s", rep.Left[0].What, rep.Left[0].Why, andMore(len(rep.Left)-1))
	}
	return "nothing to compare: there are no benchmarks; tare gate runs functions like func BenchmarkEncode(b *testing.B) in test files, and bench: in tare.yaml says which"
}

func andMore(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", n)
}

// margins are what rows are held to, together.
func (rep *Report) margins() string {
	if slices.ContainsFunc(rep.Rows, func(r Row) bool { return r.Margin > 0 }) {
		return "its margin"
	}
	return percent(rep.Margin)
}

// margin is what a row is held to.
func (rep *Report) margin(r Row) float64 { return cmp.Or(r.Margin, rep.Margin) }

// worse says how many benchmarks are worse in which way.
func (rep *Report) worse() []string {
	var parts []string
	for _, metric := range rep.metrics() {
		n, exact := 0, true
		for _, r := range rep.Rows {
			if r.Outcome == Worse && r.Waived == nil && r.Metric == metric && r.Limit == 0 {
				n, exact = n+1, exact && r.Exact
			}
		}
		if n == 0 {
			continue
		}
		by := " by more than " + rep.margins()
		switch w := wordsFor(metric); {
		case metric == "allocs" && exact:
			parts = append(parts, fmt.Sprintf("%d %s more often", n, pick(n, "allocates", "allocate")))
		case w.adjective:
			parts = append(parts, fmt.Sprintf("%d %s %s%s", n, pick(n, "is", "are"), w.worse, by))
		default:
			parts = append(parts, fmt.Sprintf("%d %s %s%s", n, pick(n, w.takes, w.take), w.worse, by))
		}
	}
	for _, r := range rep.Rows {
		if r.Outcome == Worse && r.Waived == nil && r.Limit > 0 {
			parts = append(parts, fmt.Sprintf("%s is %s in %s", r.Metric, r.held(), rep.title(r)))
		}
	}
	return parts
}

// with is how many benchmarks have a row with that outcome.
func (rep *Report) with(o Outcome) int {
	var ids []string
	for _, r := range rep.Rows {
		if r.Outcome == o && r.Waived == nil && !slices.Contains(ids, r.Benchmark) {
			ids = append(ids, r.Benchmark)
		}
	}
	return len(ids)
}

// count is how many things were compared, in words.
func (rep *Report) count() string {
	noun := "benchmark"
	for _, r := range rep.Rows {
		if packageOf(r.Benchmark) == "" {
			noun = "workload"
		}
	}
	return format.Count(len(rep.Benchmarks()), noun)
}

// Benchmarks are those that were compared.
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

// function is import/path.BenchmarkName of a benchmark, without what it calls
// its parts.
func function(benchmark string) string {
	i := strings.Index(benchmark, ".Benchmark")
	if i < 0 {
		return benchmark
	}
	if j := strings.Index(benchmark[i:], "/"); j >= 0 {
		return benchmark[:i+j]
	}
	return benchmark
}

// packageOf is the import path of a benchmark's package; empty where the row
// is not of a Go benchmark.
func packageOf(benchmark string) string {
	i := strings.Index(benchmark, ".Benchmark")
	return benchmark[:max(0, i)]
}

// prefix is the path that the packages of all benchmarks begin with, up to a
// slash. The last element always stays.
func prefix(rows []Row) string {
	common, begun := "", false
	for _, r := range rows {
		if packageOf(r.Benchmark) == "" { // not a Go benchmark
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

// short returns a benchmark, or what was left out, as it is printed.
func (rep *Report) short(benchmark string) string {
	return strings.TrimPrefix(strings.TrimPrefix(benchmark, "workload "), rep.prefix)
}

// title is what a row is about: its benchmark, and the machine where there are
// several.
func (rep *Report) title(r Row) string {
	if r.Machine == "" {
		return rep.short(r.Benchmark)
	}
	return rep.short(r.Benchmark) + " on " + r.Machine
}
