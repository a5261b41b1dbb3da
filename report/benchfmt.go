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
	"github.com/tarebench/tare/internal/format"
)

// Benchfmt writes the rounds of r in the Go benchmark format (https://go.dev/design/14313-benchmark-format), for
// benchstat -col /contender. The error is the writer's.
//
// A line is about one contender on one workload in one round. It has the number of timed operations
// and the values of the round. These are ns/op, cpu-ns/op, B/op, allocs/op and others such as p99-ns. Servers also
// have requests/s. cpu-ns/op includes the CPU time of an idle process, which the report subtracts. The settings
// procs (GOMAXPROCS) and env are in the configuration.
//
// The name is BenchmarkStudy/workload=…/contender=…. Study is the id of the study in camel case. In ids / is
// written as :, and other disallowed characters as %XX. As in go test, -N follows if GOMAXPROCS is not 1. The
// baseline comes first, because benchstat compares with the first column.
//
// A user's benchmarks (kind gobench) keep their names and their own metrics. Configuration lines above them name
// the package and the contender, for benchstat -col contender.
//
// Comments replace the values that must not be compared. These are void values, and traps (contenders with a
// deliberate mistake).
func Benchfmt(w io.Writer, r *tare.Result) error {
	b := &benchWriter{r: r, name: benchmarkName(r.Study)}
	b.writeHead()
	for _, work := range r.Workloads {
		if work.Traffic != nil {
			b.writeComment(work.ID + ": " + describeTraffic(r, *work.Traffic))
		}
		for _, c := range b.orderContenders() {
			b.writeContender(work.ID, c)
		}
	}
	if _, err := io.WriteString(w, b.out.String()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

type benchWriter struct {
	r    *tare.Result
	name string // benchmarkName of the study
	out  strings.Builder
}

// writeHead writes comments and the configuration. A key without a value clears the value of an earlier result in
// the file.
func (b *benchWriter) writeHead() {
	r := b.r
	b.writeComment(fmt.Sprintf("%s of study %s, seed %s, %s, stopped: %s", tare.ResultSchema, r.Study, r.Seed, countNoun(r.RoundsDone, "round"), r.Stopped))
	if !r.Started.IsZero() {
		b.writeComment("started " + r.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	b.writeComment("one line is one round: a fresh process per contender; benchstat compares medians and does not know that rounds are paired")
	if b.isUserBench() {
		b.writeComment("benchstat -col contender -filter '-contender:" + tare.ControlID + "' holds the sides against each other")
	} else {
		b.writeComment("benchstat -col /contender -filter '-/contender:" + tare.NullID + "' leaves out what does nothing")
	}
	for _, c := range b.orderContenders() {
		b.writeComment(c.ID + ": " + describeRole(r, c))
	}
	for _, text := range append([]string{describeToolchains(r)}, describeModules(r)...) {
		if text != "" {
			b.writeComment(text)
		}
	}
	for _, config := range []struct{ key, value string }{
		{"goos", r.Machine.OS},
		{"goarch", r.Machine.Arch},
		{"pkg", r.Study},
		{"cpu", r.Machine.CPU},
		{"go", goVersions(r)},
		{"isolation", string(r.Plan.Isolation)},
		{"procs", formatPositiveInt(r.Procs)},
		{"env", strings.Join(r.Env, " ")},
	} {
		b.out.WriteString(strings.TrimRight(config.key+": "+fitLine(config.value), " ") + "\n")
	}
	for _, u := range b.listUnits() {
		fmt.Fprintf(&b.out, "Unit %s better=%s\n", u.unit, u.better)
	}
}

func describeRole(r *tare.Result, c tare.Contender) string {
	library := orDefault(describeIdentity(c), c.String())
	switch c.Role {
	case tare.RoleBaseline:
		return "the baseline, " + c.String()
	case tare.RoleControl:
		return "the baseline a second time; whatever it differs by is noise"
	case tare.RoleNull:
		if hasServers(r) {
			return "does as little as a server can; its figures are the harness itself"
		}
		return "does nothing; its figures are the harness itself"
	case tare.RoleApart:
		return library + "; " + statusOnlyNote
	}
	return library
}

// goVersions returns the Go versions of the contenders, separated by spaces. Usually there is one.
func goVersions(r *tare.Result) string {
	var versions []string
	for _, group := range groupBy(builtContenders(r), func(c tare.Contender) string { return c.Go }) {
		versions = append(versions, group.key)
	}
	return orDefault(strings.Join(versions, " "), r.Machine.Go)
}

// orderContenders sorts the contenders by role. Equal roles stay in the order of the study.
func (b *benchWriter) orderContenders() []tare.Contender {
	order := map[tare.Role]int{tare.RoleBaseline: 0, tare.RoleContender: 1, tare.RoleApart: 2, tare.RoleTrap: 3, tare.RoleControl: 4, tare.RoleNull: 5}
	sorted := slices.Clone(b.r.Contenders)
	slices.SortStableFunc(sorted, func(x, y tare.Contender) int { return order[x.Role] - order[y.Role] })
	return sorted
}

// writeContender writes the lines of one contender on one workload, or why they are omitted.
func (b *benchWriter) writeContender(workload string, c tare.Contender) {
	var lines []string // of trials
	var lost []string  // reasons for trials without a line
	for _, t := range b.r.Trials {
		if t.Contender != c.ID || t.Tau > 1 { // a round of longer slices (timed pieces), which only checks the slice length
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
		if line := b.formatTrial(workload, c, t); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines)+len(lost) == 0 && c.Error == "" {
		return // unsupported workload, or contender not selected
	}
	if why := b.whyOmitted(workload, c); why != "" {
		b.writeComment("left out: " + c.ID + " on " + workload + ": " + why)
		return
	}
	for _, why := range lost {
		b.writeComment(why)
	}
	for _, f := range listVoids(b.r, c.ID, workload) { // findings that void everything were handled above
		b.writeComment(fmt.Sprintf("left out: %s of %s on %s: void by %s: %s", f.Metric, c.ID, workload, f.Check, f.Message))
	}
	if b.isUserBench() && len(lines) > 0 {
		b.out.WriteString(b.formatSide(workload, c))
	}
	for _, line := range lines {
		b.out.WriteString(line)
	}
}

// whyOmitted returns why a contender's values must not be used, or "".
func (b *benchWriter) whyOmitted(workload string, c tare.Contender) string {
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

// formatTrial returns the line of one trial, or "" if it measured nothing:
//
//	BenchmarkJsonEncode/workload=small:marshal/contender=stdlib-2	1000000	1234.5 ns/op	1200 cpu-ns/op	64 B/op	2 allocs/op
func (b *benchWriter) formatTrial(workload string, c tare.Contender, t tare.Trial) string {
	var values strings.Builder
	sample := t.Samples[workload]
	for _, u := range b.listUnits() {
		isVoid := slices.ContainsFunc(listVoids(b.r, c.ID, workload), func(f tare.Finding) bool { return f.Metric == u.metric })
		x, ok := sample[u.key]
		isValid := x >= 0 && !math.IsInf(x, 1)
		if ok && isValid && !isVoid {
			fmt.Fprintf(&values, "\t%s %s", strconv.FormatFloat(x, 'f', -1, 64), u.unit)
		}
	}
	if values.Len() == 0 {
		return ""
	}
	values.WriteString(formatReported(sample))
	ops := int64(1) // the format requires a number
	if n := max(sample["ops"], sample[tare.KeyRequests]); n >= 1 && n < math.MaxInt64 {
		ops = int64(n)
	}
	name := fmt.Sprintf("Benchmark%s/workload=%s/contender=%s", b.name, escapeNameValue(workload), escapeNameValue(c.ID))
	if b.isUserBench() {
		name = b.findWorkload(workload).Op
	}
	if n := t.Evidence.GOMAXPROCS; n > 1 {
		name += "-" + strconv.Itoa(n)
	} else {
		name = guardDigits(name)
	}
	return fmt.Sprintf("%s\t%d%s\n", name, ops, values.String())
}

type benchUnit struct {
	key    string // key of the value in samples
	unit   string // unit in the benchmark format, such as ns/op or p99-ns
	better tare.Direction
	metric string // a finding that voids this metric voids the value
}

// listUnits returns the metrics of a line: those of go test -benchmem, CPU time, and others of the study.
func (b *benchWriter) listUnits() []benchUnit {
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
		out = append(out, benchUnit{key: m.Key, unit: unit, better: m.Direction, metric: m.Name})
	}
	if hasServers(b.r) {
		out = append(out, benchUnit{key: tare.KeyRate, unit: "requests/s", better: tare.HigherIsBetter, metric: "time"})
	}
	return out
}

func (b *benchWriter) writeComment(text string) { b.out.WriteString("# " + fitLine(text) + "\n") }

// maxLine limits the characters of a comment or configuration value.
const maxLine = 400

func fitLine(text string) string { return format.Clip(oneLine(text), maxLine) }

// benchmarkName converts a study's id to a benchmark name: json-encode becomes JsonEncode.
func benchmarkName(study string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(study, func(r rune) bool { return !isWordRune(r) }) {
		runes := []rune(word)
		b.WriteRune(unicode.ToUpper(runes[0]))
		b.WriteString(string(runes[1:]))
	}
	return orDefault(b.String(), "Study")
}

// escapeNameValue returns an id as a value in a benchmark's name. / separates parts there and becomes :. Other
// disallowed characters become %XX.
func escapeNameValue(id string) string {
	var b strings.Builder
	for i, size := 0, 0; i < len(id); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(id[i:])
		switch {
		case r == '/':
			b.WriteByte(':')
		case needsNameEscape(r), r == utf8.RuneError && size == 1: // an invalid byte
			for _, c := range []byte(id[i : i+size]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		default:
			b.WriteString(id[i : i+size])
		}
	}
	return b.String()
}

// needsNameEscape reports whether r is disallowed in a name, or is used by the escapes.
func needsNameEscape(r rune) bool {
	return r == ':' || r == '%' || !unicode.IsGraphic(r) || unicode.IsSpace(r)
}

// guardDigits escapes a hyphen before final digits, which would be parsed as GOMAXPROCS. contender=json-2 becomes
// contender=json%2D2.
func guardDigits(name string) string {
	start := strings.TrimRight(name, "0123456789")
	hasDigits := start != name
	if !hasDigits || !strings.HasSuffix(start, "-") {
		return name
	}
	return strings.TrimSuffix(start, "-") + "%2D" + name[len(start):]
}
