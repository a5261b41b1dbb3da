package project

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// reader reads the fields of a project. A yamlfile.Take is a function that reads the value of one key
// into a variable. After the first error, in Err, the methods do nothing.
type reader struct{ *yamlfile.Reader }

// Parse parses a tare.yaml; name is the path of the file, for messages. Every error is a
// *yamlfile.Error. Missing keys have the values of [Default].
func Parse(name string, src []byte) (Project, error) {
	yr, root, err := yamlfile.Open(name, src, yamlfile.Format{Noun: "project", Begin: "tare init writes one with comments"})
	if err != nil {
		return Project{}, err
	}
	r := reader{yr}
	p := Default(filepath.Dir(name))
	p.File = name
	r.Mapping(root, "", "begin with bench: or gate:", map[string]yamlfile.Take{
		"bench":   func(n ast.Node, path string) { r.readBench(&p.Bench, n, path) },
		"studies": r.List(r.readStudy(&p.Studies)),
		"json":    r.List(r.readFile(&p.JSON, "a JSON document or NDJSON, its path from this file's directory, e.g. json: [testdata/order.json]")),
		"routes":  r.List(r.readFile(&p.Routes, "an OpenAPI document or a list of routes, its path from this file's directory, e.g. routes: api/openapi.yaml")),
		"load":    r.List(func(n ast.Node, path string) { p.Load = append(p.Load, r.readLoad(n, path, p.Load)) }),
		"gate":    func(n ast.Node, path string) { r.readGate(&p.Gate, n, path) },
		"accept":  r.List(func(n ast.Node, path string) { p.Accept = append(p.Accept, r.readWaiver(n, path)) }),
	}, nil)
	if len(p.Routes) > 1 {
		pos, _ := r.At("routes[1]")
		r.Fail(pos, "a second file of routes", "a server has one table of routes; a study each can have others")
	}
	if r.Err != nil {
		return Project{}, r.Err
	}
	return p, nil
}

var (
	packagePattern  = lazyregexp.New(`^[^\s-][^\s]*$`)               // ./codec, but no flag of the go command
	tagName         = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.]*$`) // integration
	variablePattern = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*=`)     // GOGC=200
)

func (r reader) readBench(b *Bench, n ast.Node, path string) {
	var packages []string
	r.Mapping(n, path, "e.g. bench: {packages: [./...]}", map[string]yamlfile.Take{
		"packages": r.readDistinct(&packages, packagePattern, "is not a pattern of packages", "as go list takes them, e.g. ./... or ./codec"),
		"run":      r.readExpression(&b.Run),
		"tags":     r.readDistinct(&b.Tags, tagName, "is not a build tag", "e.g. tags: [integration]"),
		"env":      r.readDistinct(&b.Env, variablePattern, "is not a variable", "NAME=value, e.g. env: [GOGC=200]"),
		"budget":   r.Duration(&b.Budget),
		"max":      r.Duration(&b.Max),
	}, nil)
	if len(packages) > 0 {
		b.Packages = packages
	}
	for i, kv := range b.Env {
		name, _, _ := strings.Cut(kv, "=")
		pos, _ := r.At(fmt.Sprintf("%s.env[%d]", path, i))
		switch {
		case strings.HasPrefix(strings.ToUpper(name), "TARE_"):
			r.Fail(pos, name+" is not taken: TARE_ variables are tare's own", "leave it out")
		case slices.ContainsFunc(b.Env[:i], func(s string) bool { return strings.HasPrefix(s, name+"=") }):
			r.Fail(pos, name+" is given twice", "give it one value")
		}
	}
}

// readDistinct reads a list of different texts. An error ends with isNot, e.g. "is not a build tag".
func (r reader) readDistinct(dst *[]string, shape *lazyregexp.Regexp, isNot, hint string) yamlfile.Take {
	return r.List(func(n ast.Node, path string) {
		var s string
		r.Shaped(&s, shape, isNot, hint)(n, path)
		if r.Err == nil && slices.Contains(*dst, s) {
			r.Fail(r.Of(n), fmt.Sprintf("%q is listed twice", s), "")
		}
		*dst = append(*dst, s)
	})
}

// readExpression reads an expression as for go test -bench: slashes separate the names of
// sub-benchmarks.
func (r reader) readExpression(dst *string) yamlfile.Take {
	const hint = "as go test -bench takes it, e.g. run: Encode|Decode"
	return func(n ast.Node, path string) {
		r.Text(dst, hint)(n, path)
		if r.Err != nil {
			return
		}
		if _, err := regexp.Compile(*dst); err != nil || *dst == "" {
			r.Fail(r.Of(n), fmt.Sprintf("%q is not a regular expression", *dst), hint)
		}
	}
}

// bundledName matches names of bundled studies, e.g. json-encode.
var bundledName = lazyregexp.New(`^[a-z0-9][a-z0-9-]*$`)

// readStudy reads a path inside the project, or the name of a bundled study.
func (r reader) readStudy(dst *[]File) yamlfile.Take {
	const hint = "the path of a study file from this file's directory, or the name of a bundled study, e.g. studies: [bench/encode.yaml]"
	takeFile := r.readFile(dst, hint)
	return func(n ast.Node, fieldPath string) {
		takeFile(n, fieldPath)
		if r.Err != nil {
			return
		}
		if last := (*dst)[len(*dst)-1]; last.Bundled() && !bundledName.MatchString(last.Path) {
			r.Fail(r.Of(n), fmt.Sprintf("%q is not a study", last.Path), hint)
		}
	}
}

// readFile reads a path inside the project and appends it to dst, which must not contain it.
func (r reader) readFile(dst *[]File, hint string) yamlfile.Take {
	return func(n ast.Node, fieldPath string) {
		var s string
		r.readPath(&s, hint)(n, fieldPath)
		s = path.Clean(s)
		if r.Err == nil && slices.ContainsFunc(*dst, func(f File) bool { return f.Path == s }) {
			r.Fail(r.Of(n), fmt.Sprintf("%q is listed twice", s), "")
		}
		*dst = append(*dst, File{Path: s, Place: r.placeOf(n)})
	}
}

// maxMargin is the maximum margin in percent. percentPattern allows three digits before the point and
// six after it.
const maxMargin = 999.999999

func (r reader) readGate(g *Gate, n ast.Node, fieldPath string) {
	var metrics []string
	allocs, onInconclusive := string(g.Allocs), string(g.OnInconclusive)
	r.Mapping(n, fieldPath, "e.g. gate: {base: origin/main, margin: 5%}", map[string]yamlfile.Take{
		"base":            r.Shaped(&g.Base, revisionPattern, "is not a revision", "e.g. origin/main, or merge-base, or merge-base origin/main"),
		"margin":          r.readShare(&g.Margin, maxMargin, "the slowdown that matters, with its sign, e.g. margin: 5%"),
		"margins":         r.List(func(n ast.Node, path string) { g.Margins = append(g.Margins, r.readMargin(n, path)) }),
		"alpha":           r.readShare(&g.Alpha, 20, "the family-wise error rate of the table, with its sign, from 0.1% to 20%, e.g. alpha: 5%"),
		"metrics":         r.readMetrics(&metrics),
		"instructions":    r.readShare(&g.Instructions, maxMargin, "how many more instructions an operation may execute, with its sign, e.g. instructions: 2%"),
		"allocs":          r.readWord(&allocs, string(AllocsExact), string(AllocsMargin), string(AllocsIgnore)),
		"on_inconclusive": r.readWord(&onInconclusive, string(PassOpen), string(WarnOpen), string(FailOpen)),
		"review":          r.Shaped(&g.Review, reviewPattern, "is not what a reviewer can write on a line", "one to sixty letters, digits, spaces and marks, e.g. review: accept slowdown"),
		"reference":       r.Shaped(&g.Reference, referencePattern, "is not a revision", "a tag or a commit that stays, e.g. reference: v1.4.0"),
	}, nil)
	if len(metrics) > 0 {
		g.Metrics = metrics
	}
	g.Allocs, g.OnInconclusive = Allocs(allocs), OnInconclusive(onInconclusive)
}

func (r reader) readMargin(n ast.Node, path string) (m Margin) {
	const hint = "e.g. {benchmark: BenchmarkParse/, metric: time, margin: 10%}"
	var expression string
	r.Mapping(n, path, hint, map[string]yamlfile.Take{
		"benchmark": r.readExpression(&expression),
		"metric":    r.readWord(&m.Metric, judgedMetrics()...),
		"margin":    r.readShare(&m.Share, maxMargin, "the slowdown that matters, with its sign, e.g. margin: 10%"),
	}, nil)
	_, found := r.At(path + ".margin")
	switch {
	case r.Err != nil: // r.Mapping has failed
	case !found:
		r.Fail(r.Of(n), "an entry without margin", hint)
	case expression == "" && m.Metric == "":
		r.Fail(r.Of(n), "an entry for everything", "gate: {margin: 10%} is that of everything")
	case expression != "":
		m.Benchmark = regexp.MustCompile(expression)
	}
	return m
}

var (
	// revisionPattern matches one or two words, e.g. merge-base origin/main, but not options of git.
	revisionPattern = lazyregexp.New(`^[^\s-]\S*( [^\s-]\S*)?$`)
	// referencePattern matches one revision, but not an option of git.
	referencePattern = lazyregexp.New(`^[^\s-]\S*$`)
	// reviewPattern matches 1 to 60 printable characters that neither begin nor end with a space.
	reviewPattern = lazyregexp.New(`^[^\s\pC](?:[^\pC]{0,58}[^\s\pC])?$`)
)

// Metrics returns the metrics that a gate can compare with its margin.
func Metrics() []string { return []string{"time", "cpu", "bytes"} }

func judgedMetrics() []string { return append(Metrics(), "allocs", tare.MetricInstructions) }

func (r reader) readMetrics(dst *[]string) yamlfile.Take {
	known := Metrics()
	hint := "known: " + strings.Join(known, ", ")
	return r.List(func(n ast.Node, path string) {
		var s string
		r.Text(&s, hint)(n, path)
		switch {
		case r.Err != nil: // r.Text has failed
		case s == "allocs":
			r.Fail(r.Of(n), "allocations have a key of their own", "gate: {allocs: exact}")
		case s == tare.MetricInstructions:
			r.Fail(r.Of(n), "instructions have a limit of their own", "gate: {instructions: 2%}")
		case !slices.Contains(known, s):
			r.Fail(r.Of(n), fmt.Sprintf("unknown metric %q", s), hint)
		case slices.Contains(*dst, s):
			r.Fail(r.Of(n), fmt.Sprintf("%q is listed twice", s), "")
		}
		*dst = append(*dst, s)
	})
}

func (r reader) readWord(dst *string, known ...string) yamlfile.Take {
	hint := "one of " + strings.Join(known, ", ")
	return func(n ast.Node, path string) {
		r.Text(dst, hint)(n, path)
		if r.Err == nil && !slices.Contains(known, *dst) {
			r.Fail(r.Of(n), fmt.Sprintf("%q is not known", *dst), hint)
		}
	}
}

// percentPattern matches a percentage with its sign, e.g. 2.5% or 5 %. The group is the number.
var percentPattern = lazyregexp.New(`^([0-9]{1,3}(?:\.[0-9]{1,6})?) ?%$`)

// readShare reads a percentage from 0.1 % to limit percent.
func (r reader) readShare(dst *float64, limit float64, hint string) yamlfile.Take {
	return func(n ast.Node, path string) {
		var s string
		r.Shaped(&s, percentPattern, "is not a percentage", hint)(n, path)
		if r.Err != nil {
			return
		}
		x, _ := strconv.ParseFloat(percentPattern.FindStringSubmatch(s)[1], 64) // Shaped has matched it
		if x < 0.1 || x > limit {
			r.Fail(r.Of(n), fmt.Sprintf("%s is not from 0.1%% to %g%%", s, limit), hint)
			return
		}
		*dst = x / 100
	}
}

// readWaiver reads an entry of accept: a slowdown that the gate accepts until a day. Only the metric is
// optional. Without a reason or a last day, a waiver would stay for ever.
func (r reader) readWaiver(n ast.Node, path string) (w Waiver) {
	const hint = "e.g. {benchmark: BenchmarkEncode, until: 2026-12-31, reason: waits for the new codec}"
	const dateHint = "the last day on which it holds, e.g. until: 2026-12-31"
	var expression, until string
	r.Mapping(n, path, hint, map[string]yamlfile.Take{
		"benchmark": r.readExpression(&expression),
		"metric":    r.readWord(&w.Metric, judgedMetrics()...),
		"until":     r.Text(&until, dateHint),
		"reason":    r.Shaped(&w.Reason, lazyregexp.New(`\S`), "is no reason", "one line for the reader of the gate"),
	}, nil)
	pos := r.Of(n)
	w.Line, w.Col = pos.Line, pos.Col
	for _, key := range []string{"benchmark", "until", "reason"} {
		if _, found := r.At(path + "." + key); !found {
			r.Fail(pos, "a waiver without "+key, hint)
		}
	}
	if r.Err != nil {
		return w
	}
	w.Benchmark = regexp.MustCompile(expression)
	day, err := time.Parse(time.DateOnly, until)
	if err != nil {
		pos, _ := r.At(path + ".until")
		r.Fail(pos, fmt.Sprintf("%q is not a day", until), dateHint)
		return w
	}
	w.Until = day.AddDate(0, 0, 1) // the last day is included
	return w
}
