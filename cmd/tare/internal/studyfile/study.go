package studyfile

import (
	"cmp"
	"fmt"

	"github.com/goccy/go-yaml/ast"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/suggest"
	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
	"github.com/tarebench/tare/internal/check"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file decodes a study: a YAML file that says which programs (contenders) tare compares, and on which inputs
// (workloads). For example:
//
//	study: json-encode
//	kind: codec
//	contenders: [encoding-json, goccy]
//
// Each readX function decodes a part of the file. It calls Mapping with a yamlfile.Take for each known key: a
// function that decodes the value of that key. Errors go to r.Err; see [reader].

const quoteRule = `a comparison in quotes, e.g. "<= 0.5"`

// Forms of names in a study.
var (
	studyName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)                                 // e.g. json-encode
	idName    = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._+-]*(/[A-Za-z0-9][A-Za-z0-9._+-]*)*$`) // e.g. devices-50/marshal
)

// readStudy reads a study from the root of its file. The result is valid only if r.Err is nil.
func (r *reader) readStudy(n ast.Node) (s tare.Study) {
	r.Mapping(n, "", "begin with study: NAME", map[string]yamlfile.Take{
		"study":       r.takeName(&s.ID),
		"question":    r.Text(&s.Question, ""),
		"answer":      r.List(func(n ast.Node, path string) { s.Answer = append(s.Answer, r.readAnswer(n, path)) }),
		"recommended": r.List(func(n ast.Node, path string) { s.Recommended = append(s.Recommended, r.readAnswer(n, path)) }),
		"sources":     r.List(func(n ast.Node, path string) { s.Sources = append(s.Sources, r.readSource(n, path)) }),
		"kind":        r.takeKind(&s.Kind),
		"kinds":       r.takeKind(&s.Kind), // older files list a single kind
		"baseline":    r.takeID(&s.Baseline),
		"contenders":  r.List(func(n ast.Node, path string) { s.Contenders = append(s.Contenders, r.readEntry(n, path)) }),
		"workloads":   r.List(func(n ast.Node, path string) { s.Workloads = append(s.Workloads, r.readWorkload(n, path)) }),
		"metrics":     r.Texts(&s.Metrics, "known: "+tare.MetricNames()),
		"criteria":    r.List(func(n ast.Node, path string) { s.Criteria = append(s.Criteria, r.readCriterion(n, path)) }),
		"claims":      r.List(func(n ast.Node, path string) { s.Claims = append(s.Claims, r.readClaim(n, path)) }),
		"decompose":   r.List(func(n ast.Node, path string) { s.Decompose = append(s.Decompose, r.readDecomposition(n, path)) }),
		"break_even":  r.List(func(n ast.Node, path string) { s.BreakEven = append(s.BreakEven, r.readBreakEven(n, path)) }),
		"budget":      func(n ast.Node, path string) { s.Budget = r.readBudget(n, path) },
	}, map[string]string{ // keys that are an error, with their hints
		"factors": "list a contender once per level and give each its set, e.g. {id: gin-pty, use: gin-new, set: {log: pty}}",
	})
	return s
}

// readEntry reads a contender: an id, or a mapping. A mapping without the key id gets the id in use, the
// contender of the catalog to start from.
func (r *reader) readEntry(n ast.Node, path string) (e tare.Entry) {
	if _, ok := n.(*ast.StringNode); ok {
		r.takeID(&e.ID)(n, path)
		return e
	}
	keys := map[string]yamlfile.Take{
		"id":      r.takeID(&e.ID),
		"use":     r.takeID(&e.Use),
		"program": r.Text(&e.Program, "the directory of a Go module, relative to this file"),
		"command": r.takeCommand(&e.Command),
		"url":     r.takeURL(&e.URL),
		"set":     r.takeSet(&e.Set),
		"with":    r.takePins(&e.With),
		"go":      r.takeRelease(&e.Go),
		"given":   r.Shaped(&e.Given, moduleName, "cannot be the path of a module", "e.g. github.com/bytedance/sonic"),
		"expect":  func(n ast.Node, path string) { e.Expect = r.readExpect(n, path) },
	}
	r.addPeerKeys(keys, &e)
	r.Mapping(n, path, "write an id, or {id: …, use: …}", keys, nil)
	r.checkLaunch(path)
	r.checkCommandKeys(path)
	if e.ID == "" { // {use: gin-new} is the same as the id gin-new
		e.ID, e.Use = e.Use, ""
	}
	return e
}

// readExpect reads the checks that are expected to void a contender, that is to disqualify it. A contender
// that repeats a known mistake has such checks.
func (r *reader) readExpect(n ast.Node, path string) (e tare.Expect) {
	hint := "e.g. expect: {void: wrong-answer}"
	r.Mapping(n, path, hint, map[string]yamlfile.Take{"void": r.Texts(&e.Void, hint)}, nil)
	if r.Err == nil && e.IsZero() {
		r.Fail(r.Where(path), "expect without a check", hint)
	}
	for i, id := range e.Void {
		r.checkVoids(id, fmt.Sprintf("%s.void[%d]", path, i))
	}
	return e
}

// checkVoids records an error unless id is the id of a check that can void contenders.
func (r *reader) checkVoids(id, path string) {
	r.checkKnown(id, path)
	if c, ok := check.Named(id); r.Err == nil && ok && !c.Expectable() {
		r.Fail(r.Where(path), fmt.Sprintf("the check %q never voids a contender", id), "name one that does, e.g. wrong-answer; tare list checks shows them")
	}
}

// checkKnown records an error if there is no check with an id.
func (r *reader) checkKnown(id, path string) {
	if _, ok := check.Named(id); ok || r.Err != nil {
		return
	}
	var known []string
	for _, c := range check.All() {
		known = append(known, c.ID)
	}
	r.Fail(r.Where(path), fmt.Sprintf("unknown check %q", id), cmp.Or(suggest.Hint(id, known), "tare list checks shows them"))
}

// readWorkload reads a workload: the input of the contenders, and the operation on it.
func (r *reader) readWorkload(n ast.Node, path string) (w tare.Workload) {
	keys := map[string]yamlfile.Take{
		"id":      r.takeID(&w.ID),
		"fixture": r.takeID(&w.Fixture),
		"file":    r.Text(&w.File, "a path relative to this file"),
		"n":       r.Count(&w.N),
		"op":      r.takeID(&w.Op),
		"pool":    r.Count(&w.Pool),
		"heap":    r.takeMemory(&w.Heap),
		"set":     r.takeSet(&w.Set),

		"contenders": r.takeIDs(&w.Contenders),
	}
	finishTraffic := r.addTrafficKeys(keys)
	r.Mapping(n, path, "e.g. {id: devices-50/marshal, fixture: devices, n: 50, op: marshal}", keys, nil)
	w.Traffic = finishTraffic(path)
	return w
}

// readCriterion reads a criterion: a condition on a measured value, such as a ratio of at most 0.5. The key
// of is only for a condition on a difference: it names the workload that the difference is a share of.
func (r *reader) readCriterion(n ast.Node, path string) (c tare.Criterion) {
	r.Mapping(n, path, `e.g. {metric: time, ratio: "<= 0.5"}`, map[string]yamlfile.Take{
		"contender":  r.takeID(&c.Contender),
		"workload":   r.takeID(&c.Workload),
		"metric":     r.Text(&c.Metric, "known: "+tare.MetricNames()),
		"ratio":      r.Text(&c.Ratio, quoteRule),
		"equivalent": r.Text(&c.Equivalent, "a percentage with its sign, e.g. 3%"),
		"value":      r.Text(&c.Value, `a comparison in quotes, e.g. "<= 50ms"`),
		"difference": r.Text(&c.Difference, `a comparison in quotes, e.g. "<= 5%"`),
		"of":         r.takeID(&c.Of),
	}, nil)
	if pos, found := r.At(path + ".of"); found && c.Difference == "" {
		r.Fail(pos, "of without a difference", `it names the workload that a difference is a share of, e.g. difference: "<= 5%"`)
	}
	return c
}

// readBudget reads how long a run of the study may measure.
func (r *reader) readBudget(n ast.Node, path string) (b tare.Budget) {
	r.Mapping(n, path, "e.g. budget: {quick: 40s, full: 5m}", map[string]yamlfile.Take{
		"quick": r.Duration(&b.Quick),
		"full":  r.Duration(&b.Full),

		"quick_workloads": r.Texts(&b.QuickWorkloads, "names of workloads, e.g. [one/static, socket/health]"),
	}, nil)
	return b
}

// takeName returns a Take for the name of the study, which also names a directory.
func (r *reader) takeName(dst *string) yamlfile.Take {
	return r.takeMatching(dst, studyName, "a study's name is letters, digits, - . and _, e.g. json-encode")
}

// takeKind returns a Take for a kind, which in older files is a list of one.
func (r *reader) takeKind(dst *tare.Kind) yamlfile.Take {
	return func(n ast.Node, path string) {
		var all []string
		r.Texts(&all, "e.g. kind: codec")(n, path)
		if r.Err != nil || len(all) == 0 {
			return
		}
		if len(all) > 1 || *dst != "" {
			r.Fail(r.Of(n), path+": a study has one kind", "split it")
			return
		}
		*dst = tare.Kind(all[0])
	}
}

// takeID returns a Take for an id with parts separated by slashes.
func (r *reader) takeID(dst *string) yamlfile.Take {
	return r.takeMatching(dst, idName, "an id is letters, digits, - . _ + and /, e.g. devices-50/marshal")
}

// takeMatching returns a Take for a name that must match shape.
func (r *reader) takeMatching(dst *string, shape *lazyregexp.Regexp, hint string) yamlfile.Take {
	return func(n ast.Node, path string) {
		r.Text(dst, "")(n, path)
		if r.Err == nil && !shape.MatchString(*dst) {
			r.Fail(r.Of(n), fmt.Sprintf("%q cannot be a name", *dst), hint)
		}
	}
}
