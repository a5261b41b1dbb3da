// Package gobench reads Go benchmarks and finds what makes their figures those
// of something else. Each rule is a file, an analyzer for go vet -vettool, and a
// directory of testdata with a bad and a good example, which documentation shows.
package gobench

import (
	"cmp"
	"embed"
	"fmt"
	"go/ast"
	"go/token"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// rule is an audit rule with the function that reports what breaks it in a package.
type rule struct {
	audit.Rule
	find func(*input)
}

// Commands of tare that measure properly. NAME becomes a pattern of the benchmark.
const (
	compareRevisions = "tare bench --bench NAME --base main"
	compareFull      = "tare bench --bench NAME --base main --max 30m"
	loadServer       = "tare load -c 50 -d 10s --start './SERVER -port $PORT' /PATH"
	compareRouters   = "tare routes openapi.yaml"
	compareCodecs    = "tare json FILE.json"
)

// list returns the rules in the order of docs/audit.md and of tare audit --rules.
func list() []rule {
	return []rule{
		noLoop(), loopMixed(), parallelN(), resetInLoop(), timerStopped(), pausedInLoop(), sleepInLoop(), bytesOfN(),
		errorDiscarded(), resultUnused(), inputConsumed(), inputOfN(), inputSorted(), stateGrows(), recorderReused(), responseBody(), writerUnflushed(), setupTimed(), parallelLatency(),
		sharedRandom(), randomInput(), randomTimed(), mapOrder(), runInLoop(), deferInLoop(), goroutineUnawaited(), logInLoop(),
		requestLog(), clientPerOp(), checkTimed(), requestInLoop(), inputInLoop(), unlikeWork(), sharedState(), globalsChanged(), unclearIgnore(),
	}
}

// Rules returns the rules for Go benchmarks.
func Rules() []audit.Rule {
	rules := make([]audit.Rule, 0, len(list()))
	for _, r := range list() {
		r.Lang, r.Bad, r.Good = "go", readExample(r.ID, "bad"), readExample(r.ID, "good")
		rules = append(rules, r.Rule)
	}
	return rules
}

//go:embed testdata/src/*/bad_test.go testdata/src/*/good_test.go
var examples embed.FS

// readExample returns the bad or good example of a rule, without the comments
// that the test of the rules reads. It panics if the file is missing, which a test finds.
func readExample(id, name string) string {
	text, err := examples.ReadFile("testdata/src/" + identifier(id) + "/" + name + "_test.go")
	if err != nil {
		panic(err)
	}
	return regexp.MustCompile(`(?m)(^\s*// want .*\n|[ \t]*// want .*)`).ReplaceAllString(strings.ReplaceAll(string(text), "\r\n", "\n"), "")
}

// identifier returns the name that a rule has as an analyzer, and as a package.
func identifier(id string) string { return strings.ReplaceAll(id, "-", "_") }

// ids returns the ids of rules.
func ids(rules []rule) []string {
	out := make([]string, 0, len(rules))
	for _, r := range rules {
		out = append(out, r.ID)
	}
	return out
}

// input is a package with its benchmarks, as a rule reads it.
type input struct {
	pass  *analysis.Pass
	suite *suite
	rule  audit.Rule
	found []audit.Finding

	positions []token.Pos // position of each finding, by the index in found
}

// report adds a finding at node, unless a comment switches the rule off there.
// The formatted text is a sentence without a full stop.
func (in *input) report(node ast.Node, format string, args ...any) {
	at := in.pass.Fset.Position(node.Pos())
	if in.suite.isIgnored(in.rule.ID, at) {
		return
	}
	f := in.rule.NewFinding(at.Filename, at.Line, at.Column, fmt.Sprintf(format, args...))
	f.Name = in.suite.nameAt(node)
	pattern := "."
	if f.Name != "" {
		pattern = "'^" + f.Name + "$'"
	}
	f.Command = strings.ReplaceAll(f.Command, "NAME", pattern)
	in.found = append(in.found, f)
	in.positions = append(in.positions, node.Pos())
}

// diagnose passes the findings to the driver, sorted by position: rules that iterate
// over a map of variables find them in random order.
func (in *input) diagnose() {
	order := make([]int, len(in.found))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(in.positions[a], in.positions[b]) })
	for _, i := range order {
		f := in.found[i]
		in.pass.Report(analysis.Diagnostic{Pos: in.positions[i], Category: f.Rule, Message: fmt.Sprintf("%s: %s; %s", f.Rule, f.What, f.Do)})
	}
}

// newAnalyzers returns an analyzer for each rule. Its result is []audit.Finding.
func newAnalyzers() []*analysis.Analyzer {
	suites := &analysis.Analyzer{
		Name: "benchmarks", Doc: "finds benchmarks and their loops", RunDespiteErrors: true,
		ResultType: reflect.TypeFor[*suite](),
		Run:        func(pass *analysis.Pass) (any, error) { return readSuite(pass, ids(list())), nil },
	}
	var out []*analysis.Analyzer
	for _, r := range list() {
		out = append(out, &analysis.Analyzer{
			Name: identifier(r.ID), Doc: r.Title + "\n\n" + r.Why, RunDespiteErrors: true,
			Requires:   []*analysis.Analyzer{suites},
			ResultType: reflect.TypeFor[[]audit.Finding](),
			Run: func(pass *analysis.Pass) (any, error) {
				in := &input{pass: pass, suite: pass.ResultOf[suites].(*suite), rule: r.Rule}
				// The benchmarks of package testing are about testing.B itself.
				isTesting := pass.Pkg.Path() == "testing" || pass.Pkg.Path() == "testing_test"
				if len(in.suite.benchmarks) > 0 && !isTesting {
					r.find(in)
				}
				in.diagnose()
				return in.found, nil
			},
		})
	}
	return out
}
