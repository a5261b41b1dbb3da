package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tarebench/tare"
)

// Benchfmt writes the rounds of r in the Go benchmark format, as
// benchstat -col /contender reads it
// (https://go.dev/design/14313-benchmark-format). The error is the writer's.
//
// One line is one contender on one workload in one round at the plan's slice
// length: name, operations timed, then the round's values in ns/op, cpu-ns/op,
// B/op, allocs/op, and of other metrics those the study measures, size-B/op
// and p99-ns among them; requests/s where requests reach a server. cpu-ns/op is
// the process's own; the report's figure takes off what an idle process uses.
// Of a metric that alone is void the value is missing.
// What contenders were given besides their work (GOMAXPROCS and environment, if
// any) is in the configuration as procs and env.
//
// The name is BenchmarkStudy/workload=…/contender=…, Study being the study's
// id in capitals. In the values / is written as : and what a name cannot hold
// as %XX, so that two ids never become one. GOMAXPROCS follows as -N where it
// is not 1, as from go test. The baseline comes first, so that it is what
// benchstat takes ratios to.
//
// A user's own benchmarks (kind gobench) keep their names: the configuration says
// of which package and contender the lines below it are, for benchstat -col
// contender, and metrics that they report by themselves are there too.
//
// The control and the null contender are called control and null. Whoever
// stands apart is there with a comment that says so. A trap, and
// whatever a finding voids, is left out with a comment that says why:
// benchstat would give it a p-value like any other.
func Benchfmt(w io.Writer, r *tare.Result) error {
	b := &bench{r: r, name: benchmarkName(r.Study)}
	b.head()
	for _, work := range r.Workloads {
		if work.Traffic != nil {
			b.comment(work.ID + ": " + traffic(r, *work.Traffic))
		}
		for _, c := range b.order() {
			b.contender(work.ID, c)
		}
	}
	if _, err := io.WriteString(w, b.out.String()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

type bench struct {
	r    *tare.Result
	name string
	out  strings.Builder
}

// head writes comments, which readers of the format pass over, and the
// configuration. A key without a value takes away what an earlier result in
// the same file set.
func (b *bench) head() {
	r := b.r
	b.comment(fmt.Sprintf("%s of study %s, seed %s, %s, stopped: %s", tare.ResultSchema, r.Study, r.Seed, plural(r.RoundsDone, "round"), r.Stopped))
	if !r.Started.IsZero() {
		b.comment("started " + r.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	b.comment("one line is one round: a fresh process per contender; benchstat compares medians and does not know that rounds are paired")
	if b.own() {
		b.comment("benchstat -col contender -filter '-contender:" + tare.ControlID + "' holds the sides against each other")
	} else {
		b.comment("benchstat -col /contender -filter '-/contender:" + tare.NullID + "' leaves out what does nothing")
	}
	for _, c := range b.order() {
		switch c.Role {
		case tare.RoleBaseline:
			b.comment(c.ID + ": the baseline, " + c.String())
		case tare.RoleControl:
			b.comment(c.ID + ": the baseline a second time; whatever it differs by is noise")
		case tare.RoleNull:
			does := "nothing"
			if served(r) {
				does = "as little as a server can"
			}
			b.comment(c.ID + ": does " + does + "; its figures are the harness itself")
		case tare.RoleApart:
			b.comment(c.ID + ": " + or(identity(c), c.String()) + "; " + standsApart)
		default:
			b.comment(c.ID + ": " + or(identity(c), c.String()))
		}
	}
	for _, text := range append([]string{toolchains(r)}, modules(r)...) {
		if text != "" {
			b.comment(text)
		}
	}
	for _, c := range [][2]string{
		{"goos", r.Machine.OS}, {"goarch", r.Machine.Arch}, {"pkg", r.Study}, {"cpu", r.Machine.CPU},
		{"go", builtWith(r)}, {"isolation", string(r.Plan.Isolation)},
		{"procs", counted(r.Procs)}, {"env", strings.Join(r.Env, " ")},
	} {
		b.out.WriteString(strings.TrimRight(c[0]+": "+brief(c[1]), " ") + "\n")
	}
	for _, u := range b.units() {
		fmt.Fprintf(&b.out, "Unit %s better=%s\n", u.unit, u.better)
	}
}

// builtWith is the Go contenders were built with: one version as a rule, all
// of them where they differ.
func builtWith(r *tare.Result) string {
	var versions []string
	for _, g := range gathered(builtContenders(r), func(c tare.Contender) string { return c.Go }) {
		versions = append(versions, g.of)
	}
	return or(strings.Join(versions, " "), r.Machine.Go)
}

// order is the baseline, the contenders, control and null; within these as the
// study lists them.
func (b *bench) order() []tare.Contender {
	place := map[tare.Role]int{tare.RoleBaseline: 0, tare.RoleContender: 1, tare.RoleApart: 2, tare.RoleTrap: 3, tare.RoleControl: 4, tare.RoleNull: 5}
	sorted := slices.Clone(b.r.Contenders)
	slices.SortStableFunc(sorted, func(x, y tare.Contender) int { return place[x.Role] - place[y.Role] })
	return sorted
}

// contender writes what one contender did on one workload, or why that is
// left out.
func (b *bench) contender(workload string, c tare.Contender) {
	var lines, lost []string
	for _, t := range b.r.Trials {
		if t.Contender != c.ID || t.Tau > 1 {
			continue
		}
		if t.Error != nil {
			lost = append(lost, fmt.Sprintf("left out: %s in round %d: %s", c.ID, t.Round, t.Error))
			continue
		}
		if !t.Counts(workload) {
			lost = append(lost, fmt.Sprintf("left out: %s on %s in round %d: %s", c.ID, workload, t.Round, voidWhy(t, workload)))
			continue
		}
		if line := b.line(workload, c, t); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines)+len(lost) == 0 && c.Error == "" {
		return // it cannot do this workload, or was not asked
	}
	if why := b.leftOut(workload, c); why != "" {
		b.comment("left out: " + c.ID + " on " + workload + ": " + why)
		return
	}
	for _, why := range lost {
		b.comment(why)
	}
	for _, f := range voiding(b.r, c.ID, workload) { // none of them of everything
		b.comment(fmt.Sprintf("left out: %s of %s on %s: void by %s: %s", f.Metric, c.ID, workload, f.Check, f.Message))
	}
	if b.own() && len(lines) > 0 {
		b.out.WriteString(b.side(workload, c))
	}
	for _, line := range lines {
		b.out.WriteString(line)
	}
}

// leftOut is why a contender's figures are no measurement; empty where they
// are.
func (b *bench) leftOut(workload string, c tare.Contender) string {
	var why []string
	if c.Role == tare.RoleTrap {
		why = append(why, "a trap")
	}
	for _, f := range b.r.Voids(c.ID, workload) {
		why = append(why, "void by "+f.Check+": "+f.Message)
	}
	if c.Error != "" && len(why) == 0 {
		why = append(why, c.Error)
	}
	return strings.Join(why, "; ")
}

// line is one trial; empty where it measured nothing.
func (b *bench) line(workload string, c tare.Contender, t tare.Trial) string {
	var values strings.Builder
	sample := t.Samples[workload]
	for _, u := range b.units() {
		void := slices.ContainsFunc(voiding(b.r, c.ID, workload), func(f tare.Finding) bool { return f.Metric == u.metric })
		if x, ok := sample[u.key]; ok && !void && x >= 0 && !math.IsInf(x, 1) {
			fmt.Fprintf(&values, "\t%s %s", strconv.FormatFloat(x, 'f', -1, 64), u.unit)
		}
	}
	if values.Len() == 0 {
		return ""
	}
	values.WriteString(reported(sample))
	ops := int64(1) // not recorded
	if n := max(sample["ops"], sample[tare.KeyRequests]); n >= 1 && n < math.MaxInt64 {
		ops = int64(n)
	}
	name := fmt.Sprintf("Benchmark%s/workload=%s/contender=%s", b.name, nameValue(workload), nameValue(c.ID))
	if b.own() {
		name = b.workload(workload).Op
	}
	switch n := t.Evidence.GOMAXPROCS; {
	case n > 1:
		name += "-" + strconv.Itoa(n)
	default:
		name = guarded(name)
	}
	return fmt.Sprintf("%s\t%d%s\n", name, ops, values.String())
}

// benchUnit is a metric in the benchmark format.
type benchUnit struct {
	key    string // in samples
	unit   string
	better tare.Direction
	metric string // it tells of
}

// units are what lines hold: what go test -benchmem tells and the CPU time,
// and of the other metrics those the study names.
func (b *bench) units() []benchUnit {
	ofBenchmem := []string{"time", "bytes", "allocs"}
	var out []benchUnit
	for _, m := range tare.Metrics() {
		unit := m.Unit
		if !slices.Contains(ofBenchmem, m.Name) {
			if m.Name != "cpu" && !slices.Contains(b.r.Metrics, m.Name) {
				continue
			}
			unit = m.Name + "-" + m.Unit
			if strings.HasSuffix(m.Key, "_per_op") && !strings.HasSuffix(unit, "/op") {
				unit += "/op"
			}
		}
		out = append(out, benchUnit{m.Key, unit, m.Direction, m.Name})
	}
	if served(b.r) {
		out = append(out, benchUnit{tare.KeyRate, "requests/s", tare.HigherIsBetter, "time"})
	}
	return out
}

func (b *bench) comment(text string) { b.out.WriteString("# " + brief(text) + "\n") }

// brief is text in one line that no reader finds too long.
func brief(text string) string {
	return shortened(oneLine(text), 400)
}

// benchmarkName is a study's id as what follows Benchmark: json-encode is
// JsonEncode.
func benchmarkName(study string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(study, func(r rune) bool { return !wordy(r) }) {
		runes := []rune(word)
		b.WriteRune(unicode.ToUpper(runes[0]))
		b.WriteString(string(runes[1:]))
	}
	return or(b.String(), "Study")
}

// nameValue is an id as a value inside a benchmark's name: / separates parts
// there and becomes :, and what it must not hold becomes %XX.
func nameValue(id string) string {
	var b strings.Builder
	for i, size := 0, 0; i < len(id); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(id[i:])
		switch {
		case r == '/':
			b.WriteByte(':')
		case r == ':' || r == '%' || !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == utf8.RuneError && size == 1:
			for _, c := range []byte(id[i : i+size]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		default:
			b.WriteString(id[i : i+size])
		}
	}
	return b.String()
}

// guarded is a name whose end cannot be taken for a GOMAXPROCS: the hyphen
// before closing digits becomes %2D.
func guarded(name string) string {
	rest := strings.TrimRight(name, "0123456789")
	if rest == name || !strings.HasSuffix(rest, "-") {
		return name
	}
	return strings.TrimSuffix(rest, "-") + "%2D" + name[len(rest):]
}
