package studyfile

import (
	"fmt"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
)

const claimKinds = "known: ratio, statement, count, trend, growth, share, rate, cause, reported"

// readClaim reads a claim, a published statement that the study checks.
func (r *reader) readClaim(n ast.Node, path string) (c tare.Claim) {
	r.Mapping(n, path, "e.g. {id: F0.9, kind: ratio, contender: …, workload: …, metric: time, baseline: …, value: …, statement: …}", map[string]yamlfile.Take{
		"id":     r.takeID(&c.ID),
		"source": r.Text(&c.Source, ""),
		"place":  r.Text(&c.Place, "the heading that it stands under"),
		"shown":  r.List(func(n ast.Node, path string) { c.Shown = append(c.Shown, r.readShown(n, path)) }),
		"kind": func(n ast.Node, path string) {
			var s string
			r.Text(&s, claimKinds)(n, path)
			c.Kind = tare.ClaimKind(s)
		},
		"check":         r.Text(&c.Check, "the id of a check; tare list checks shows them"),
		"contender":     r.takeID(&c.Contender),
		"stand_in":      r.takeID(&c.StandIn),
		"workload":      r.takeID(&c.Workload),
		"workloads":     r.takeIDs(&c.Workloads),
		"metric":        r.Text(&c.Metric, "known: "+tare.MetricNames()),
		"baseline":      r.Number(&c.Baseline),
		"value":         r.Number(&c.Value),
		"unit":          r.Text(&c.Unit, "e.g. ns/op"),
		"whole":         r.Number(&c.Whole),
		"whole_of":      r.Text(&c.WholeOf, "what the figures are parts of, as a noun, e.g. a frame at 60 a second"),
		"decomposition": r.takeID(&c.Decomposition),
		"causes":        r.takeIDs(&c.Causes),
		"of":            func(n ast.Node, path string) { c.Of = r.readClaimOf(n, path) },
		"plus":          r.Text(&c.Plus, "known: "+tare.MetricNames()),
		"target":        r.Number(&c.Target),
		"except":        r.Texts(&c.Except, "rows of the table of meanings, e.g. float digits"),
		"side":          r.Text(&c.Side, "lower or higher"),
		"because":       r.Text(&c.Because, "why nothing here measures it, in one line"),
		"statement":     r.Text(&c.Statement, ""),
	}, nil)
	for _, foreign := range foreignKeys(c.Kind) {
		if pos, found := r.At(path + "." + foreign.key); found {
			r.Fail(pos, foreign.problem, foreign.hint)
		}
	}
	if pos, found := r.At(path + ".value"); found && c.Kind == tare.ClaimReported && !(c.Value > 0) {
		r.Fail(pos, "a published figure that is not above zero", "omit it if there is no such figure")
	}
	if c.Kind == tare.ClaimStatement && c.Check != "" {
		r.checkKnown(c.Check, path+".check")
	}
	return c
}

func (r *reader) readShown(n ast.Node, path string) (s tare.Shown) {
	var line float64
	r.Mapping(n, path, "e.g. {repository: github.com/owner/name, commit: …, path: main.go, line: 12, says: …}", map[string]yamlfile.Take{
		"repository": r.Shaped(&s.Repository, moduleName, "cannot be a repository", "e.g. github.com/owner/name"),
		"commit":     r.Text(&s.Commit, "its digits"),
		"path":       r.Text(&s.Path, "within the repository"),
		"line":       r.Number(&line),
		"says":       r.Text(&s.Says, "what the line shows"),
	}, nil)
	s.Line = int(line)
	return s
}

func (r *reader) readSource(n ast.Node, path string) (s tare.Source) {
	r.Mapping(n, path, "e.g. {name: …, url: …}", map[string]yamlfile.Take{
		"name": r.Text(&s.Name, "as claims have it"),
		"url":  r.Text(&s.URL, "e.g. https://github.com/owner/name/blob/COMMIT/README.md"),
	}, nil)
	return s
}

func (r *reader) readClaimOf(n ast.Node, path string) (of tare.ClaimOf) {
	r.Mapping(n, path, "e.g. {workload: ten, metric: time}", map[string]yamlfile.Take{
		"contender": r.takeID(&of.Contender),
		"workload":  r.takeID(&of.Workload),
		"metric":    r.Text(&of.Metric, "known: "+tare.MetricNames()),
	}, nil)
	return of
}

type foreignKey struct{ key, problem, hint string }

func foreignKeys(kind tare.ClaimKind) (out []foreignKey) {
	// reject adds keys that are an error, with the text of the problem. The hint names otherKind, a
	// kind of claims that have these keys.
	reject := func(problem, otherKind string, keys ...string) {
		for _, key := range keys {
			hint := "leave " + key + " out"
			if otherKind != "" {
				hint += ", or write kind: " + otherKind
			}
			out = append(out, foreignKey{key, problem, hint})
		}
	}
	switch kind {
	case tare.ClaimReported:
		reject("a reported claim is measured nowhere", "ratio", "workload", "metric", "baseline", "side")
		reject("a reported claim is measured nowhere", "trend", "workloads")
		reject("a reported claim is measured nowhere", "statement", "check")
	case tare.ClaimShare:
		reject("a share is of what the baseline takes", "ratio", "baseline", "unit", "side")
		reject("a share is about one workload", "trend", "workloads")
		reject("a share is answered by its figure, not by a check", "statement", "check")
	case tare.ClaimRatio:
		reject("a ratio claim is answered by its figures, not by a check", "statement", "check")
		reject("a ratio claim is about one workload", "trend", "workloads")
	case tare.ClaimStatement:
		reject("a statement has no figures", "ratio", "baseline", "value", "unit", "side")
		reject("a statement is about one workload or all", "trend", "workloads")
	case tare.ClaimCount:
		reject("a count is about a contender's modules, on all workloads", "ratio", "workload", "metric", "baseline", "side")
		reject("a count is about a contender's modules, on all workloads", "trend", "workloads")
		reject("a count is answered by its figure, not by a check", "statement", "check")
	case tare.ClaimTrend:
		reject("a trend is about several workloads", "", "workload")
		reject("a trend has no figures", "ratio", "baseline", "value", "unit")
		reject("a trend is answered by its workloads, not by a check", "statement", "check")
	case tare.ClaimGrowth:
		reject("a growth is about several workloads", "", "workload")
		reject("a growth is the contender's own, and has an exponent alone", "ratio", "baseline", "unit", "side")
		reject("a growth is answered by its exponent, not by a check", "statement", "check")
	case tare.ClaimRate:
		reject("a rate is about several workloads", "", "workload")
		reject("a rate is answered by the break-even of its workloads", "ratio", "metric", "baseline", "unit", "side")
		reject("a rate is answered by the break-even of its workloads, not by a check", "statement", "check")
	case tare.ClaimCause:
		reject("a cause is of the difference that its decomposition explains", "ratio", "workload", "metric", "baseline", "value", "unit", "side")
		reject("a cause is of the difference that its decomposition explains", "trend", "workloads")
		reject("a cause is answered by its decomposition, not by a check", "statement", "check")
	}
	if kind != tare.ClaimCause {
		reject("only a cause is answered by a decomposition", "cause", "decomposition", "causes")
	}
	if kind != tare.ClaimRatio {
		reject("only the figures of a ratio are parts of a whole", "ratio", "whole", "whole_of")
		reject("only a ratio is of another figure of the contender", "ratio", "of", "plus", "target")
	}
	if kind != tare.ClaimStatement {
		reject("only a statement is answered by a check that finds differences in meaning", "statement", "except")
	}
	if kind != tare.ClaimReported {
		reject("a claim that is measured needs no reason why it is not", "reported", "because")
	}
	return out
}

// takeIDs returns a Take for a list of different ids.
func (r *reader) takeIDs(dst *[]string) yamlfile.Take {
	return r.List(func(n ast.Node, path string) {
		var s string
		r.takeID(&s)(n, path)
		if r.Err == nil && slices.Contains(*dst, s) {
			r.Fail(r.Of(n), fmt.Sprintf("%q is listed twice", s), "")
		}
		*dst = append(*dst, s)
	})
}

// readDecomposition reads a chain of different contenders.
func (r *reader) readDecomposition(n ast.Node, path string) (d tare.Decompose) {
	r.Mapping(n, path, "e.g. {id: log, workload: …, from: nethttp, steps: [{to: gin-new, cause: the framework}]}", map[string]yamlfile.Take{
		"id":       r.takeID(&d.ID),
		"question": r.Text(&d.Question, ""),
		"workload": r.takeID(&d.Workload),
		"metric":   r.Text(&d.Metric, "known: "+tare.MetricNames()),
		"from":     r.takeID(&d.From),
		"steps":    r.List(func(n ast.Node, path string) { d.Steps = append(d.Steps, r.readStep(n, path)) }),
	}, nil)
	seen := []string{d.From}
	for i, s := range d.Steps {
		if r.Err == nil && s.To != "" && slices.Contains(seen, s.To) {
			r.Fail(r.Where(fmt.Sprintf("%s.steps[%d].to", path, i)), fmt.Sprintf("the chain comes back to %q", s.To), "each step is to another contender")
		}
		seen = append(seen, s.To)
	}
	return d
}

// readBreakEven reads the rates of requests at which a difference is judged.
func (r *reader) readBreakEven(n ast.Node, path string) (b tare.BreakEven) {
	r.Mapping(n, path, "e.g. {contender: …, workloads: […], rates: [10/s, 1000/s]}", map[string]yamlfile.Take{
		"contender": r.takeID(&b.Contender),
		"workloads": r.takeIDs(&b.Workloads),
		"rates": r.List(func(n ast.Node, path string) {
			var rate float64
			r.takeRate(&rate)(n, path)
			b.Rates = append(b.Rates, rate)
		}),
	}, nil)
	return b
}

func (r *reader) readStep(n ast.Node, path string) (s tare.DecomposeStep) {
	r.Mapping(n, path, "e.g. {to: gin-new, cause: the framework}", map[string]yamlfile.Take{
		"to":    r.takeID(&s.To),
		"cause": r.Text(&s.Cause, "what the step changes, as a noun, e.g. the framework"),
	}, nil)
	return s
}
