package studyfile

import (
	"cmp"
	"fmt"
	"regexp"

	"github.com/goccy/go-yaml/ast"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/near"
	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
	"github.com/tarebench/tare/internal/check"
)

const quoteRule = `a comparison in quotes, e.g. "<= 0.5"`

// study reads the whole file.
func (r *reader) study(n ast.Node) (s tare.Study) {
	r.Mapping(n, "", "begin with study: NAME", map[string]yamlfile.Take{
		"study":       r.name(&s.ID),
		"question":    r.Text(&s.Question, ""),
		"answer":      r.List(func(n ast.Node, path string) { s.Answer = append(s.Answer, r.answer(n, path)) }),
		"recommended": r.List(func(n ast.Node, path string) { s.Recommended = append(s.Recommended, r.answer(n, path)) }),
		"sources":     r.List(func(n ast.Node, path string) { s.Sources = append(s.Sources, r.source(n, path)) }),
		"kind":        r.kind(&s.Kind),
		"kinds":       r.kind(&s.Kind), // as files had it that listed one
		"baseline":    r.id(&s.Baseline),
		"contenders":  r.List(func(n ast.Node, path string) { s.Contenders = append(s.Contenders, r.entry(n, path)) }),
		"workloads":   r.List(func(n ast.Node, path string) { s.Workloads = append(s.Workloads, r.workload(n, path)) }),
		"metrics":     r.Texts(&s.Metrics, "known: "+tare.MetricNames()),
		"criteria":    r.List(func(n ast.Node, path string) { s.Criteria = append(s.Criteria, r.criterion(n, path)) }),
		"claims":      r.List(func(n ast.Node, path string) { s.Claims = append(s.Claims, r.claim(n, path)) }),
		"decompose":   r.List(func(n ast.Node, path string) { s.Decompose = append(s.Decompose, r.decompose(n, path)) }),
		"break_even":  r.List(func(n ast.Node, path string) { s.BreakEven = append(s.BreakEven, r.breakEven(n, path)) }),
		"budget":      func(n ast.Node, path string) { s.Budget = r.budget(n, path) },
	}, map[string]string{"factors": "list a contender once per level and give each its set, e.g. {id: gin-pty, use: gin-new, set: {log: pty}}"})
	return s
}

// entry reads a contender: its id alone, or a mapping. A contender that only
// says what it uses is called like it.
func (r *reader) entry(n ast.Node, path string) (e tare.Entry) {
	if _, ok := n.(*ast.StringNode); ok {
		r.id(&e.ID)(n, path)
		return e
	}
	keys := map[string]yamlfile.Take{
		"id":      r.id(&e.ID),
		"use":     r.id(&e.Use),
		"program": r.Text(&e.Program, "the directory of a Go module, relative to this file"),
		"command": r.command(&e.Command),
		"url":     r.url(&e.URL),
		"set":     r.set(&e.Set),
		"with":    r.pins(&e.With),
		"go":      r.release(&e.Go),
		"given":   r.Shaped(&e.Given, moduleName, "cannot be the path of a module", "e.g. github.com/bytedance/sonic"),
		"expect":  func(n ast.Node, path string) { e.Expect = r.expect(n, path) },
	}
	r.peer(keys, &e)
	r.Mapping(n, path, "write an id, or {id: …, use: …}", keys, nil)
	r.launched(path)
	r.commanded(path)
	if e.ID == "" {
		e.ID, e.Use = e.Use, ""
	}
	return e
}

func (r *reader) expect(n ast.Node, path string) (e tare.Expect) {
	hint := "e.g. expect: {void: wrong-answer}"
	r.Mapping(n, path, hint, map[string]yamlfile.Take{"void": r.Texts(&e.Void, hint)}, nil)
	if r.Err == nil && e.IsZero() {
		r.Fail(r.Where(path), "expect without a check", hint)
	}
	for i, id := range e.Void {
		r.voids(id, fmt.Sprintf("%s.void[%d]", path, i))
	}
	return e
}

// voids fails where id is not a check that voids contenders.
func (r *reader) voids(id, path string) {
	r.known(id, path)
	if c, ok := check.Named(id); r.Err == nil && ok && !c.Expectable() {
		r.Fail(r.Where(path), fmt.Sprintf("the check %q never voids a contender", id), "name one that does, e.g. wrong-answer; tare list checks shows them")
	}
}

// known fails where there is no check of that name.
func (r *reader) known(id, path string) {
	if _, ok := check.Named(id); ok || r.Err != nil {
		return
	}
	var known []string
	for _, c := range check.All() {
		known = append(known, c.ID)
	}
	r.Fail(r.Where(path), fmt.Sprintf("unknown check %q", id), cmp.Or(near.Hint(id, known), "tare list checks shows them"))
}

func (r *reader) workload(n ast.Node, path string) (w tare.Workload) {
	keys := map[string]yamlfile.Take{
		"id":      r.id(&w.ID),
		"fixture": r.id(&w.Fixture),
		"file":    r.Text(&w.File, "a path relative to this file"),
		"n":       r.Count(&w.N),
		"op":      r.id(&w.Op),
		"pool":    r.Count(&w.Pool),
		"heap":    r.memory(&w.Heap),
		"set":     r.set(&w.Set),

		"contenders": r.ids(&w.Contenders),
	}
	t := r.traffic(keys)
	r.Mapping(n, path, "e.g. {id: devices-50/marshal, fixture: devices, n: 50, op: marshal}", keys, nil)
	w.Traffic = t(path)
	return w
}

func (r *reader) criterion(n ast.Node, path string) (c tare.Criterion) {
	r.Mapping(n, path, `e.g. {metric: time, ratio: "<= 0.5"}`, map[string]yamlfile.Take{
		"contender":  r.id(&c.Contender),
		"workload":   r.id(&c.Workload),
		"metric":     r.Text(&c.Metric, "known: "+tare.MetricNames()),
		"ratio":      r.Text(&c.Ratio, quoteRule),
		"equivalent": r.Text(&c.Equivalent, "a percentage with its sign, e.g. 3%"),
		"value":      r.Text(&c.Value, `a comparison in quotes, e.g. "<= 50ms"`),
		"difference": r.Text(&c.Difference, `a comparison in quotes, e.g. "<= 5%"`),
		"of":         r.id(&c.Of),
	}, nil)
	if at, given := r.At(path + ".of"); given && c.Difference == "" {
		r.Fail(at, "of without a difference", `it names the workload that a difference is a share of, e.g. difference: "<= 5%"`)
	}
	return c
}

func (r *reader) budget(n ast.Node, path string) (b tare.Budget) {
	r.Mapping(n, path, "e.g. budget: {quick: 40s, full: 5m}", map[string]yamlfile.Take{
		"quick": r.Duration(&b.Quick),
		"full":  r.Duration(&b.Full),

		"quick_workloads": r.Texts(&b.QuickWorkloads, "names of workloads, e.g. [one/static, socket/health]"),
	}, nil)
	return b
}

var (
	studyName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	idName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]*(/[A-Za-z0-9][A-Za-z0-9._+-]*)*$`)
)

// name reads the name of the study, which also names a directory.
func (r *reader) name(into *string) yamlfile.Take {
	return r.matching(into, studyName, "a study's name is letters, digits, - . and _, e.g. json-encode")
}

// kind reads a kind, which older files have as a list of one.
func (r *reader) kind(into *tare.Kind) yamlfile.Take {
	return func(n ast.Node, path string) {
		var all []string
		r.Texts(&all, "e.g. kind: codec")(n, path)
		if r.Err != nil || len(all) == 0 {
			return
		}
		if len(all) > 1 || *into != "" {
			r.Fail(r.Of(n), path+": a study has one kind", "split it")
			return
		}
		*into = tare.Kind(all[0])
	}
}

// id reads an id, which may have parts separated by slashes.
func (r *reader) id(into *string) yamlfile.Take {
	return r.matching(into, idName, "an id is letters, digits, - . _ + and /, e.g. devices-50/marshal")
}

func (r *reader) matching(into *string, ok *regexp.Regexp, hint string) yamlfile.Take {
	return func(n ast.Node, path string) {
		r.Text(into, "")(n, path)
		if r.Err == nil && !ok.MatchString(*into) {
			r.Fail(r.Of(n), fmt.Sprintf("%q cannot be a name", *into), hint)
		}
	}
}
