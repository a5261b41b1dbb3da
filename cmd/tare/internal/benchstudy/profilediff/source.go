package profilediff

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/profile"
)

// Flags make the compiler print what it decides about inlining, escapes and
// bounds checks.
const Flags = "-m=2 -d=ssa/check_bce/debug=1"

// Source contains the compiler's output for packages, with paths relative to Dir.
type Source struct {
	Dir  string
	Said string
}

// maxDecisions limits the lines of each sort.
const maxDecisions = 12

// decisionKey is a decision or call in one function, without its line.
type decisionKey struct{ function, text string }

// sideFacts contains the facts of one side.
type sideFacts struct {
	decisions, calls map[decisionKey][]tare.Decision
}

// compareSources finds the decisions and calls that only one side has, first in the functions and
// sites of e and then in other hot functions.
func (q Question) compareSources(ctx context.Context, e *tare.Explanation, hot []string) error {
	var names []string
	for _, c := range slices.Concat(e.Functions, e.Sites) {
		names = append(names, declaredFunction(c.Function))
	}
	if len(names) == 0 && !e.Waits() {
		return nil
	}
	for _, h := range hot {
		names = append(names, declaredFunction(h))
	}
	slices.Reverse(names) // so that the first of a name is what counts
	rank := map[string]int{}
	for i, n := range names {
		rank[n] = len(names) - i
	}
	var packages []string
	for n := range rank {
		if p := packageOf(n); q.Users(p) && !slices.Contains(packages, p) {
			packages = append(packages, p)
		}
	}
	slices.Sort(packages)
	var sides [2]sideFacts
	for i, side := range []Side{q.Base, q.Head} {
		if side.Source == nil {
			return nil
		}
		s, err := side.Source(ctx, packages)
		if err != nil {
			return err
		}
		sides[i] = parseOutput(s, side.ID)
	}
	e.Decisions = selectOneSided(sides[0].decisions, sides[1].decisions, rank)
	e.Calls = selectOneSided(sides[0].calls, sides[1].calls, rank)
	return nil
}

// selectOneSided returns the facts that one side has more often than the other, in the functions
// that have a rank.
func selectOneSided(base, head map[decisionKey][]tare.Decision, rank map[string]int) []tare.Decision {
	out := []tare.Decision{}
	for _, pair := range [][2]map[decisionKey][]tare.Decision{{base, head}, {head, base}} {
		for what, all := range pair[0] {
			if other := len(pair[1][what]); rank[what.function] > 0 && len(all) > other {
				out = append(out, all[other])
			}
		}
	}
	slices.SortFunc(out, func(a, b tare.Decision) int {
		for _, d := range []int{
			rank[a.Function] - rank[b.Function], textWeight(a.Text) - textWeight(b.Text), strings.Compare(b.Side, a.Side), a.Line - b.Line,
		} {
			if d != 0 {
				return d
			}
		}
		return strings.Compare(a.Text, b.Text)
	})
	return out[:min(maxDecisions, len(out))]
}

// textWeight orders decisions: the most costly first.
func textWeight(text string) int {
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

var lineRE = regexp.MustCompile(`^(.+\.go):(\d+):(\d+): (.*)$`)

// parseOutput parses the compiler's output, and the sources that it is about.
func parseOutput(s Source, id string) sideFacts {
	f := sideFacts{map[decisionKey][]tare.Decision{}, map[decisionKey][]tare.Decision{}}
	files := map[string]*file{}
	seen := map[string]bool{}
	pkg := ""
	for text := range strings.Lines(s.Said) {
		text = strings.TrimRight(text, "\n")
		if rest, ok := strings.CutPrefix(text, "# "); ok {
			pkg, _, _ = strings.Cut(rest, " ")
			continue
		}
		m := lineRE.FindStringSubmatch(text)
		if m == nil || seen[text] {
			continue
		}
		seen[text] = true
		path := m[1]
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.Dir, path)
		}
		at, known := files[path]
		if !known {
			at = parseFile(path, pkg)
			files[path] = at
			at.addCalls(f.calls, id)
		}
		decision, ok := parseDecision(m[4])
		number, _ := strconv.Atoi(m[2])
		function := at.functionAt(number)
		if !ok || function == "" {
			continue
		}
		key := decisionKey{function, decision}
		f.decisions[key] = append(f.decisions[key], tare.Decision{Side: id, Function: function, File: filepath.Base(path), Line: number, Text: decision})
	}
	return f
}

// parseDecision returns the decision in a line of the compiler, without details that change by
// themselves, such as a cost. ok is false if it is of no interest.
func parseDecision(text string) (string, bool) {
	switch {
	case strings.HasPrefix(text, "can inline "):
		return "", false // only cannot is worth a line
	case strings.HasPrefix(text, "cannot inline "):
		text, _, _ = strings.Cut(text, ": cost ")
		return profile.Plain(text), true
	case strings.HasPrefix(text, "inlining call to "):
		return profile.Plain(text), true
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

// file finds functions by their lines.
type file struct {
	set       *token.FileSet
	functions []*ast.FuncDecl
	pkg, path string
}

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

// functionAt returns the name of the function around a line, as profiles have it.
func (f *file) functionAt(at int) string {
	for _, d := range f.functions {
		if f.lineOf(d.Pos()) <= at && at <= f.lineOf(d.End()) {
			return f.functionName(d)
		}
	}
	return ""
}

func (f *file) lineOf(p token.Pos) int { return f.set.PositionFor(p, false).Line }

func (f *file) functionName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return f.pkg + "." + d.Name.Name
	}
	of := d.Recv.List[0].Type
	form := "%"
	if star, ok := of.(*ast.StarExpr); ok {
		of, form = star.X, "(*%)"
	}
	switch generic := of.(type) {
	case *ast.IndexExpr:
		of = generic.X
	case *ast.IndexListExpr:
		of = generic.X
	}
	return f.pkg + "." + strings.Replace(form, "%", types.ExprString(of), 1) + "." + d.Name.Name
}

// addCalls adds the calls in each function of the file.
func (f *file) addCalls(to map[decisionKey][]tare.Decision, id string) {
	for _, d := range f.functions {
		if d.Body == nil {
			continue
		}
		name := f.functionName(d)
		add := func(at token.Pos, text string) {
			key := decisionKey{name, text}
			to[key] = append(to[key], tare.Decision{Side: id, Function: name, File: filepath.Base(f.path), Line: f.lineOf(at), Text: text})
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

var literalRE = regexp.MustCompile(`\.(func\d+|gowrap\d+|deferwrap\d+).*$`)

// declaredFunction returns the declared function around a function literal.
func declaredFunction(function string) string { return literalRE.ReplaceAllString(function, "") }

// packageOf returns the import path in a function's name.
func packageOf(function string) string {
	slash := strings.LastIndexByte(function, '/')
	dot := strings.IndexByte(function[slash+1:], '.')
	if dot < 0 {
		return ""
	}
	return function[:slash+1] + strings.ReplaceAll(function[slash+1:slash+1+dot], "%2e", ".")
}
