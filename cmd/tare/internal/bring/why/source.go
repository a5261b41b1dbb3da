package why

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

// Source is what the compiler printed of packages, with paths from Dir.
type Source struct {
	Dir  string
	Said string
}

// mostDecisions is how many lines of each sort are kept.
const mostDecisions = 12

// said is one thing that is so in one function, whatever its line.
type said struct{ function, text string }

// facts are what one side has.
type facts struct{ decisions, calls map[said][]tare.Decision }

// compare finds what was decided, and is called, on one side only, in what was
// named first and then in other hot functions.
func (q Question) compare(ctx context.Context, e *tare.Explanation, hot []string) error {
	var names []string
	for _, c := range slices.Concat(e.Functions, e.Sites) {
		names = append(names, owner(c.Function))
	}
	if len(names) == 0 && !e.Waits() {
		return nil
	}
	for _, h := range hot {
		names = append(names, owner(h))
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
	var sides [2]facts
	for i, side := range []Side{q.Base, q.Head} {
		if side.Source == nil {
			return nil
		}
		s, err := side.Source(ctx, packages)
		if err != nil {
			return err
		}
		sides[i] = read(s, side.ID)
	}
	e.Decisions = onesided(sides[0].decisions, sides[1].decisions, rank)
	e.Calls = onesided(sides[0].calls, sides[1].calls, rank)
	return nil
}

// onesided are the facts that one side has more often than the other, in the
// functions that have a rank.
func onesided(base, head map[said][]tare.Decision, rank map[string]int) []tare.Decision {
	out := []tare.Decision{}
	for _, pair := range [][2]map[said][]tare.Decision{{base, head}, {head, base}} {
		for what, all := range pair[0] {
			if other := len(pair[1][what]); rank[what.function] > 0 && len(all) > other {
				out = append(out, all[other])
			}
		}
	}
	slices.SortFunc(out, func(a, b tare.Decision) int {
		for _, d := range []int{
			rank[a.Function] - rank[b.Function], weight(a.Text) - weight(b.Text), strings.Compare(b.Side, a.Side), a.Line - b.Line,
		} {
			if d != 0 {
				return d
			}
		}
		return strings.Compare(a.Text, b.Text)
	})
	return out[:min(mostDecisions, len(out))]
}

// weight puts first what costs most.
func weight(text string) int {
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

var line = regexp.MustCompile(`^(.+\.go):(\d+):(\d+): (.*)$`)

// read reads what the compiler printed, and the sources that it is about.
func read(s Source, id string) facts {
	f := facts{map[said][]tare.Decision{}, map[said][]tare.Decision{}}
	files := map[string]*file{}
	seen := map[string]bool{}
	pkg := ""
	for text := range strings.Lines(s.Said) {
		text = strings.TrimRight(text, "\n")
		if rest, ok := strings.CutPrefix(text, "# "); ok {
			pkg, _, _ = strings.Cut(rest, " ")
			continue
		}
		m := line.FindStringSubmatch(text)
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
			at = parse(path, pkg)
			files[path] = at
			at.addCalls(f.calls, id)
		}
		decision, ok := decided(m[4])
		number, _ := strconv.Atoi(m[2])
		function := at.function(number)
		if !ok || function == "" {
			continue
		}
		key := said{function, decision}
		f.decisions[key] = append(f.decisions[key], tare.Decision{Side: id, Function: function, File: filepath.Base(path), Line: number, Text: decision})
	}
	return f
}

// decided is what a line of the compiler decides, without what changes by itself,
// such as a cost; not ok: nothing of interest.
func decided(text string) (string, bool) {
	switch {
	case strings.HasPrefix(text, "can inline "):
		return "", false // cannot is what is worth a line
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

// file is where functions are in a file.
type file struct {
	set       *token.FileSet
	functions []*ast.FuncDecl
	pkg, path string
}

func parse(path, pkg string) *file {
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

// function is the name of the function around a line, as profiles have it.
func (f *file) function(at int) string {
	for _, d := range f.functions {
		if f.line(d.Pos()) <= at && at <= f.line(d.End()) {
			return f.name(d)
		}
	}
	return ""
}

func (f *file) line(p token.Pos) int { return f.set.PositionFor(p, false).Line }

func (f *file) name(d *ast.FuncDecl) string {
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
func (f *file) addCalls(to map[said][]tare.Decision, id string) {
	for _, d := range f.functions {
		if d.Body == nil {
			continue
		}
		name := f.name(d)
		add := func(at token.Pos, text string) {
			key := said{name, text}
			to[key] = append(to[key], tare.Decision{Side: id, Function: name, File: filepath.Base(f.path), Line: f.line(at), Text: text})
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

var literal = regexp.MustCompile(`\.(func\d+|gowrap\d+|deferwrap\d+).*$`)

// owner is the declared function that a function literal stands in.
func owner(function string) string { return literal.ReplaceAllString(function, "") }

// packageOf is the import path in a function's name.
func packageOf(function string) string {
	slash := strings.LastIndexByte(function, '/')
	dot := strings.IndexByte(function[slash+1:], '.')
	if dot < 0 {
		return ""
	}
	return function[:slash+1] + strings.ReplaceAll(function[slash+1:slash+1+dot], "%2e", ".")
}
