package gobench

import (
	"go/ast"
	"go/types"

	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is a part of the rule unlike-work, which finds comparisons whose sides do different
// work. Here one side does less with its input than another:
//
//	{"all", func(s string) { re.FindAllString(s, -1) }}
//	{"fast", func(s string) { re.FindString(s) }} // stops at the first match
//
// A side is one of the things compared: a sub-benchmark, or a function in a table. A side may work
// on a part of its input, only check it, write only its beginning, or ignore it. The rule judges
// this by the names of the functions that the side calls. It skips sides that are meant to do less
// by their own name.

// reportPartial reports sides that do less with their input than another side.
func (in *input) reportPartial(sides []side) {
	var works []sideWork
	for _, s := range sides {
		works = append(works, in.readSide(s))
	}
	report := func(partial []sideWork, text string) {
		for _, w := range partial {
			in.report(w.side.node, "this side of the comparison %s", text)
		}
	}
	all, partial := splitSides(works,
		func(w sideWork) bool { return w.worksOnAll },
		func(w sideWork) bool { return w.worksOnPart && !w.isDeclared })
	if all > 0 && 2*len(partial) <= len(sides) {
		report(partial, "works on one part of its input, but another side works on all parts of it")
	}
	decoders, checkers := splitSides(works,
		func(w sideWork) bool { return w.decodes },
		func(w sideWork) bool { return w.checks && !declaredPartName.MatchString(w.side.name) })
	if decoders > 0 && decoders+len(checkers) == len(sides) {
		report(checkers, "only checks its input, but another side decodes it")
	}
	writers, heads := splitSides(works,
		func(w sideWork) bool { return w.writesAll },
		func(w sideWork) bool { return w.writesHead && !w.isDeclared })
	if writers > 0 && writers+len(heads) == len(sides) {
		report(heads, "writes only the beginning of its input, but another side writes all of it")
	}
	_, ignoring := splitSides(works,
		func(w sideWork) bool { return w.isDeclared },
		func(w sideWork) bool { return in.ignoresInput(w.side) })
	if len(ignoring) < len(sides) {
		report(ignoring, "does nothing with its input, but another side works on it")
	}
}

// splitSides counts the sides for which hasAll returns true. Of the others it returns those for
// which hasPart returns true.
func splitSides(works []sideWork, hasAll, hasPart func(w sideWork) bool) (all int, partial []sideWork) {
	for _, w := range works {
		if hasAll(w) {
			all++
		} else if hasPart(w) {
			partial = append(partial, w)
		}
	}
	return all, partial
}

// sideWork says what a side does with its input.
type sideWork struct {
	side        side
	worksOnAll  bool
	worksOnPart bool // and has no loop
	decodes     bool
	checks      bool
	writesAll   bool
	writesHead  bool // writes only the beginning
	isDeclared  bool // is meant to do less
}

// readSide judges a side by the names of the functions that it calls.
func (in *input) readSide(s side) sideWork {
	hasLoop, names := in.readWork(s.body, 0)
	w := sideWork{side: s, isDeclared: isDeclaredLess(s.name)}
	for _, name := range names {
		isHead := headWriterName.MatchString(name)
		w.worksOnAll = w.worksOnAll || wholeName.MatchString(name)
		w.worksOnPart = w.worksOnPart || partName.MatchString(name) && !hasLoop
		w.decodes = w.decodes || decoderName.MatchString(name)
		w.checks = w.checks || checkerName.MatchString(name)
		w.writesAll = w.writesAll || writerName.MatchString(name) && !isHead
		w.writesHead = w.writesHead || isHead
	}
	return w
}

// isDeclaredLess reports whether a side with this name is meant to do less than others.
func isDeclaredLess(name string) bool {
	return declaredPartName.MatchString(name) || declaredMakerName.MatchString(name)
}

var (
	// wholeName matches functions that work on all parts of their input, such as FindAll.
	wholeName = lazyregexp.New(`^(Find|Replace|Read|Get|Scan|Split|Parse|Decode|List|Match|Collect|Extract)\w*All|` +
		`^All[A-Z]|All(Index|String|Submatch|$)`)
	// partName matches functions that work on a part of their input, or only check it.
	partName = lazyregexp.New(`^(Next|First|Peek|Head|Skip|Valid|IsValid|Has[A-Z]|Contains|Index|Find|Match|Cut)`)
	// decoderName and checkerName match functions that decode their input, or only check it.
	decoderName = lazyregexp.New(`^(Unmarshal|Decode)`)
	checkerName = lazyregexp.New(`^(Valid|IsValid|Validate|Skip|Peek)`)
	// headWriterName matches functions that write the beginning of their input.
	headWriterName = lazyregexp.New(`^(Append|Write|Encode|Marshal|Put)(Head|Header|Prefix|Length|Size|Count)$`)
	// writerName matches functions that write their input, or its beginning.
	writerName = lazyregexp.New(`^(Append|Write|Encode|Marshal|Put)`)
	// declaredPartName matches sides that are meant to do less.
	declaredPartName = lazyregexp.New(`(?i)next|first|peek|head|skip|valid|has|contains|index|one|single|prefix|` +
		`noop|no-op|nop|baseline|empty|overhead|none|null|discard`)
)

// ignoresInput reports whether a side uses none of its parameters, except a *testing.B.
func (in *input) ignoresInput(s side) bool {
	if s.function == nil || len(s.body.List) == 0 {
		return false
	}
	hasParam, isUsed := false, false
	for _, p := range flow.Params(s.function) {
		if isNamed(in.pass.TypesInfo.TypeOf(p.Type), "testing") || p.Name == nil {
			continue
		}
		if v, ok := in.pass.TypesInfo.Defs[p.Name].(*types.Var); ok {
			hasParam, isUsed = true, isUsed || in.usesVariable(s.body, v)
		}
	}
	return hasParam && !isUsed
}

// reportEmptyOutput reports sides that allocate their output and write nothing into it. All other
// sides must write theirs, and must be at least half of the sides.
func (in *input) reportEmptyOutput(sides []side) {
	var empty []side
	writing := 0
	for _, s := range sides {
		makes, writes := in.readOutput(s.body, map[ast.Node]bool{}, 0)
		switch {
		case writes:
			writing++
		case makes && in.callsOther(s.body) && !isDeclaredLess(s.name):
			empty = append(empty, s)
		}
	}
	if writing == 0 || writing+len(empty) != len(sides) || 2*len(empty) > len(sides) {
		return
	}
	for _, s := range empty {
		in.report(s.node, "this side of the comparison makes room for its output and writes nothing into it, but another side writes its own")
	}
}

// callsOther reports whether a side calls a function that is no maker. Otherwise reportMakers
// reports it.
func (in *input) callsOther(body ast.Node) bool {
	for call := range nodesOf[*ast.CallExpr](body) {
		if fn := in.callee(call); fn != nil && !makerName.MatchString(fn.Name()) {
			return true
		}
	}
	return false
}

// readOutput reports whether body makes a slice of bytes, and whether it may write into one. It
// also reads the functions of the package that body calls, once each. The depth counts the calls
// around body.
func (in *input) readOutput(body ast.Node, seen map[ast.Node]bool, depth int) (makes, writes bool) {
	info := in.pass.TypesInfo
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				_, isElement := lhs.(*ast.IndexExpr)
				writes = writes || isElement
			}
		case *ast.CallExpr:
			if info.Types[n.Fun].IsType() || isBuiltin(info, n, "len") || isBuiltin(info, n, "cap") {
				return true
			}
			if isBuiltin(info, n, "make") {
				makes = makes || isBytes(info.TypeOf(n))
				return true
			}
			fn := in.callee(n)
			isPool := isMethodOf(fn, "sync", "Pool", "Get", "Put")
			switch {
			case isBuiltin(info, n, "append"), isBuiltin(info, n, "copy"):
				writes = true
			case isPool || fn == nil || fn.Pkg() == nil || fn.Pkg().Path() == "testing":
				// This writes no output, as far as known.
			case isFunc(fn, "slices", "Grow"):
				makes = makes || isBytes(info.TypeOf(n))
			case fn.Pkg() != in.pass.Pkg:
				writes = true
			default:
				f := in.flowGraph().Declared(fn)
				if f.Body == nil || depth == maxTimedDepth {
					writes = true
				} else if !seen[f.Node] {
					seen[f.Node] = true
					innerMakes, innerWrites := in.readOutput(f.Body, seen, depth+1)
					makes, writes = makes || innerMakes, writes || innerWrites
				}
			}
		}
		return !writes
	})
	return makes, writes
}
