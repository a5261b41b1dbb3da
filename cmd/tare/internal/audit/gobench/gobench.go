// Package gobench reads the source of Go benchmarks and finds mistakes in them. An example:
//
//	for b.Loop() {
//		json.Unmarshal(data, &v) // error-discarded: … no test or benchmark of the package checks it
//	}
//
// All files use these words. A loop, if nothing else is stated, repeats the work of a benchmark. It
// ends by b.N, b.Loop or pb.Next. An iteration is one run of its body. The timed region is the code
// in a loop that runs while the timer runs. The operation is the code that the benchmark wants to
// measure. A test helper is a function of the test files that a test or benchmark calls. A deep
// walk enters test helpers.
//
// A rule has a file, an analyzer for go vet -vettool, and examples in testdata. Start with
// suite.go, which finds the benchmarks and their loops. Then timed.go walks the timed region.
// Package flow finds the functions that a call may run.
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

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// rule is an audit rule with its search. The function find reports the mistakes in a package.
type rule struct {
	audit.Rule
	find func(*input)
}

// Commands of tare that rules recommend. reportAs replaces NAME by the benchmark.
const (
	compareRevisions = "tare bench --bench NAME --base main"
	compareFull      = "tare bench --bench NAME --base main --max 30m"
	loadServer       = "tare load -c 50 -d 10s --start './SERVER -port $PORT' /PATH"
	compareRouters   = "tare routes openapi.yaml"
	compareCodecs    = "tare json FILE.json"
)

// allRules returns the rules in the order of docs/audit.md.
func allRules() []rule {
	return []rule{
		noLoop(), loopMixed(), parallelN(), resetInLoop(), timerStopped(), pausedInLoop(), sleepInLoop(), bytesOfN(),
		errorDiscarded(), resultUnused(), inputConsumed(), inputOfN(), inputSorted(), stateGrows(), recorderReused(), responseBody(), writerUnflushed(), setupTimed(), parallelLatency(),
		sharedRandom(), randomInput(), randomTimed(), mapOrder(), runInLoop(), deferInLoop(), goroutineUnawaited(), logInLoop(),
		requestLog(), clientPerOp(), checkTimed(), requestInLoop(), inputInLoop(), unlikeWork(), sharedState(), globalsChanged(), unclearIgnore(),
	}
}

// Rules returns the rules for Go benchmarks.
func Rules() []audit.Rule {
	var rules []audit.Rule
	for _, r := range allRules() {
		r.Lang, r.Bad, r.Good = "go", readExample(r.ID, "bad"), readExample(r.ID, "good")
		rules = append(rules, r.Rule)
	}
	return rules
}

//go:embed testdata/src/*/bad_test.go testdata/src/*/good_test.go
var examples embed.FS

// readExample returns the bad or good example of a rule without the comments for its test. It
// panics if the file is missing. A test reads all examples.
func readExample(id, name string) string {
	text, err := examples.ReadFile("testdata/src/" + identifier(id) + "/" + name + "_test.go")
	if err != nil {
		panic(err)
	}
	return regexp.MustCompile(`(?m)(^\s*// want .*\n|[ \t]*// want .*)`).ReplaceAllString(strings.ReplaceAll(string(text), "\r\n", "\n"), "")
}

// identifier returns the id of a rule as the name of a directory or an analyzer: bytes_of_n for
// bytes-of-n.
func identifier(id string) string { return strings.ReplaceAll(id, "-", "_") }

func ruleIDs(rules []rule) []string {
	out := make([]string, 0, len(rules))
	for _, r := range rules {
		out = append(out, r.ID)
	}
	return out
}

// input has the package and the benchmarks that a rule reads. It collects the findings.
type input struct {
	pass     *analysis.Pass // the package
	suite    *suite         // its benchmarks
	rule     audit.Rule
	findings []finding
	reported map[findingKey]bool
}

// finding is a finding with its position in the files of the pass.
type finding struct {
	audit.Finding
	pos token.Pos
}

// findingKey identifies a finding, so that it is reported only once.
type findingKey struct {
	pos  token.Pos
	text string
}

// report adds a finding at node. The formatted text is a sentence without a full stop. A comment
// tare:ignore at this place suppresses the finding.
func (in *input) report(node ast.Node, format string, args ...any) {
	in.reportAs(in.rule.Severity, node, format, args...)
}

// reportAs is report with a severity other than the rule's.
func (in *input) reportAs(severity tare.Severity, node ast.Node, format string, args ...any) {
	position := in.pass.Fset.Position(node.Pos())
	if in.suite.isIgnored(in.rule.ID, position) {
		return
	}
	rule := in.rule
	rule.Severity = severity
	f := rule.NewFinding(position.Filename, position.Line, position.Column, fmt.Sprintf(format, args...))
	key := findingKey{pos: node.Pos(), text: f.What}
	if in.reported[key] { // several loops may call the function around node
		return
	}
	in.reported[key] = true
	f.Name = in.suite.nameAt(node)
	pattern := "." // all benchmarks
	if f.Name != "" {
		pattern = "'^" + f.Name + "$'"
	}
	f.Command = strings.ReplaceAll(f.Command, "NAME", pattern)
	in.findings = append(in.findings, finding{Finding: f, pos: node.Pos()})
}

// diagnose passes the findings to the driver of the analyzers and returns them. It sorts them,
// because some rules iterate over maps.
func (in *input) diagnose() []audit.Finding {
	slices.SortStableFunc(in.findings, func(a, b finding) int { return cmp.Compare(a.pos, b.pos) })
	var out []audit.Finding
	for _, f := range in.findings {
		in.pass.Report(analysis.Diagnostic{Pos: f.pos, Category: f.Rule, Message: fmt.Sprintf("%s: %s; %s", f.Rule, f.What, f.Do)})
		out = append(out, f.Finding)
	}
	return out
}

// newAnalyzers returns an analyzer for each rule. Its result is []audit.Finding.
func newAnalyzers() []*analysis.Analyzer {
	suites := &analysis.Analyzer{
		Name: "benchmarks", Doc: "finds benchmarks and their loops", RunDespiteErrors: true,
		ResultType: reflect.TypeFor[*suite](),
		Run:        func(pass *analysis.Pass) (any, error) { return readSuite(pass, ruleIDs(allRules())), nil },
	}
	var out []*analysis.Analyzer
	for _, r := range allRules() {
		out = append(out, &analysis.Analyzer{
			Name: identifier(r.ID), Doc: r.Title + "\n\n" + r.Why, RunDespiteErrors: true,
			Requires:   []*analysis.Analyzer{suites},
			ResultType: reflect.TypeFor[[]audit.Finding](),
			Run: func(pass *analysis.Pass) (any, error) {
				in := &input{pass: pass, suite: pass.ResultOf[suites].(*suite), rule: r.Rule, reported: map[findingKey]bool{}}
				// The benchmarks of package testing are about testing.B itself.
				isTesting := pass.Pkg.Path() == "testing" || pass.Pkg.Path() == "testing_test"
				if len(in.suite.benchmarks) > 0 && !isTesting {
					r.find(in)
				}
				return in.diagnose(), nil
			},
		})
	}
	return out
}
