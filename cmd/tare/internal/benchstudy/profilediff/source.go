package profilediff

import (
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/profile"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file finds decisions of the compiler, and calls, that only base or head has. For example,
// the compiler prints "./scan.go:12:6: cannot inline scan: …" for head only.

// Flags make the compiler print what it decides about inlining, escapes and bounds checks.
const Flags = "-m=2 -d=ssa/check_bce/debug=1"

// Source contains the compiler's output for packages, with paths relative to Dir.
type Source struct {
	Dir    string
	Output string
}

const maxDecisions = 12

type factKey struct{ function, text string }

type facts map[factKey][]tare.Decision

type sideFacts struct{ decisions, calls facts }

func (f facts) addFact(d tare.Decision) {
	key := factKey{d.Function, d.Text}
	f[key] = append(f[key], d)
}

// compareSources adds to e the decisions and calls that one side has more often than the other.
// Those in the functions of e come first, then those in other hot functions.
func (q Question) compareSources(ctx context.Context, e *tare.Explanation, hot []string) error {
	var names []string // the most important function first
	for _, c := range slices.Concat(e.Functions, e.Sites) {
		names = append(names, profile.DeclaredFunction(c.Function))
	}
	hasCauses := len(names) > 0 || e.Waits()
	if !hasCauses || q.Base.Source == nil || q.Head.Source == nil {
		return nil
	}
	for _, h := range hot {
		names = append(names, profile.DeclaredFunction(h))
	}
	var packages []string
	for _, n := range names {
		if p := profile.PackageOf(n); q.IsUser(p) {
			packages = append(packages, p)
		}
	}
	slices.Sort(packages)
	packages = slices.Compact(packages)
	base, err := q.Base.readFacts(ctx, packages)
	if err != nil {
		return err
	}
	head, err := q.Head.readFacts(ctx, packages)
	if err != nil {
		return err
	}
	rank := map[string]int{} // the first occurrence of a name counts
	for i, n := range slices.Backward(names) {
		rank[n] = i + 1
	}
	e.Decisions = selectOneSided(base.decisions, head.decisions, rank)
	e.Calls = selectOneSided(base.calls, head.calls, rank)
	return nil
}

func (side Side) readFacts(ctx context.Context, packages []string) (sideFacts, error) {
	source, err := side.Source(ctx, packages)
	if err != nil {
		return sideFacts{}, err
	}
	return parseOutput(source, side.ID), nil
}

// selectOneSided returns the facts that one side has more often, in functions with a rank. They are
// sorted by rank and cost.
func selectOneSided(base, head facts, rank map[string]int) []tare.Decision {
	out := []tare.Decision{}
	addSurplus := func(side, other facts) {
		for key, occurrences := range side {
			if n := len(other[key]); rank[key.function] > 0 && len(occurrences) > n {
				out = append(out, occurrences[n])
			}
		}
	}
	addSurplus(base, head)
	addSurplus(head, base)
	slices.SortFunc(out, func(a, b tare.Decision) int {
		return cmp.Or(
			rank[a.Function]-rank[b.Function],
			costRank(a.Text)-costRank(b.Text),
			strings.Compare(b.Side, a.Side), // head before base
			a.Line-b.Line,
			strings.Compare(a.Text, b.Text),
		)
	})
	return out[:min(maxDecisions, len(out))]
}

// costRank returns the rank of a decision by its probable cost: 0 costs most.
func costRank(text string) int {
	for i, start := range []string{"cannot inline", "moved to heap", "devirtualizing", "PGO devirtualizing"} {
		if strings.HasPrefix(text, start) {
			return i
		}
	}
	switch {
	case strings.HasSuffix(text, "escapes to heap"):
		return 2
	case strings.HasPrefix(text, "bounds check"):
		return 4
	}
	return 5
}

// lineRE matches a line of the compiler, e.g. "./scan.go:12:6: moved to heap: buf".
var lineRE = lazyregexp.New(`^(.+\.go):(\d+):(\d+): (.*)$`)

// parseOutput returns the decisions in the compiler's output, and the calls in the source files that
// it names. A line "# import/path" starts the output of a package.
func parseOutput(s Source, id string) sideFacts {
	f := sideFacts{decisions: facts{}, calls: facts{}}
	files := map[string]*file{}
	seen := map[string]bool{}
	pkg := ""
	for text := range strings.Lines(s.Output) {
		text = strings.TrimRight(text, "\n")
		if rest, ok := strings.CutPrefix(text, "# "); ok {
			pkg, _, _ = strings.Cut(rest, " ")
			continue
		}
		groups := lineRE.FindStringSubmatch(text)
		if groups == nil || seen[text] {
			continue
		}
		seen[text] = true
		path := groups[1]
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.Dir, path)
		}
		source, known := files[path]
		if !known {
			source = parseFile(path, pkg)
			files[path] = source
			source.addCalls(f.calls, id)
		}
		decision, ok := parseDecision(groups[4])
		number, _ := strconv.Atoi(groups[2]) // lineRE matches digits only
		function := source.functionAt(number)
		if !ok || function == "" {
			continue
		}
		f.decisions.addFact(tare.Decision{Side: id, Function: function, File: filepath.Base(path), Line: number, Text: decision})
	}
	return f
}

// parseDecision returns the decision in a line of the compiler, without details such as a cost,
// which other changes affect. It returns false if the decision is of no interest.
func parseDecision(text string) (decision string, ok bool) {
	switch {
	case strings.HasPrefix(text, "can inline "):
		return "", false // only "cannot inline" costs time
	case strings.HasPrefix(text, "cannot inline "):
		text, _, _ = strings.Cut(text, ": cost ")
		return profile.WithoutTypeArgs(text), true
	case strings.HasPrefix(text, "inlining call to "):
		return profile.WithoutTypeArgs(text), true
	case strings.HasPrefix(text, "moved to heap: "),
		strings.HasPrefix(text, "devirtualizing "), strings.HasPrefix(text, "PGO devirtualizing "):
		return text, true
	case strings.HasSuffix(text, " escapes to heap"):
		return text, true
	case text == "Found IsInBounds":
		return "bounds check of an index", true
	case text == "Found IsSliceInBounds":
		return "bounds check of a slice", true
	}
	return "", false
}

type file struct {
	set       *token.FileSet
	functions []*ast.FuncDecl
	pkg, path string
}

// parseFile parses a file. A file that cannot be read has no functions.
func parseFile(path, pkg string) *file {
	f := &file{set: token.NewFileSet(), pkg: pkg, path: path}
	parsed, _ := parser.ParseFile(f.set, path, nil, parser.SkipObjectResolution)
	if parsed == nil {
		return f
	}
	for _, d := range parsed.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			f.functions = append(f.functions, fn)
		}
	}
	return f
}

func (f *file) functionAt(line int) string {
	for _, d := range f.functions {
		if f.lineOf(d.Pos()) <= line && line <= f.lineOf(d.End()) {
			return f.functionName(d)
		}
	}
	return ""
}

func (f *file) lineOf(p token.Pos) int { return f.set.PositionFor(p, false).Line }

// functionName returns the name of a function as profiles write it, e.g. path.(*Type).Name.
func (f *file) functionName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return f.pkg + "." + d.Name.Name
	}
	receiver, format := d.Recv.List[0].Type, "%s"
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver, format = star.X, "(*%s)"
	}
	switch generic := receiver.(type) {
	case *ast.IndexExpr:
		receiver = generic.X
	case *ast.IndexListExpr:
		receiver = generic.X
	}
	return f.pkg + "." + fmt.Sprintf(format, types.ExprString(receiver)) + "." + d.Name.Name
}

// addCalls adds the calls, go and defer statements in each function of the file to calls. It omits
// direct calls of function literals.
func (f *file) addCalls(calls facts, id string) {
	for _, d := range f.functions {
		if d.Body == nil {
			continue
		}
		name := f.functionName(d)
		add := func(pos token.Pos, text string) {
			calls.addFact(tare.Decision{Side: id, Function: name, File: filepath.Base(f.path), Line: f.lineOf(pos), Text: text})
		}
		ast.Inspect(d.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.DeferStmt:
				add(n.Pos(), "defer")
			case *ast.GoStmt:
				add(n.Pos(), "go")
			case *ast.CallExpr:
				if _, literal := n.Fun.(*ast.FuncLit); !literal {
					add(n.Pos(), types.ExprString(n.Fun))
				}
			}
			return true
		})
	}
}
