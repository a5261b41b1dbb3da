package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/cfg"
)

// This file is a part of the rule response-body. It finds a way through the code on which nothing
// uses the body of a response. In this example, the way leads from continue to the end of the loop
// body:
//
//	resp, err := client.Do(req)
//	if err != nil { b.Fatal(err) }
//	if resp.StatusCode == 404 { continue }
//	io.Copy(io.Discard, resp.Body)
//	resp.Body.Close()
//
// The search follows the control flow graph, in which a block is a list of statements that run one
// after another. A way that ends with an error does not count, because there is no response.

// findLeak returns the line in which a function or an iteration ends without a use of the body of
// v, or 0. The statement a assigns the response to v. The frame f has the body in which it is: the
// loop, or a function of the test files that it calls.
func (in *input) findLeak(f *frame, a *ast.AssignStmt, v *types.Var) int {
	body := f.body
	if f.node == nil { // in a loop, the end leads to the next iteration
		body = &ast.BlockStmt{List: []ast.Stmt{&ast.ForStmt{Body: f.body}}}
	}
	mayReturn := func(call *ast.CallExpr) bool {
		name := calledName(call)
		return !isOneOf(name, []string{"panic", "Exit", "FailNow"}) && !hasAnyPrefix(name, "Fatal", "Skip")
	}
	s := &leakSearch{in: in, frame: f, assignment: a, response: v, seen: map[*cfg.Block]bool{}}
	if len(a.Lhs) > 1 {
		s.err = in.variable(a.Lhs[len(a.Lhs)-1])
	}
	for _, b := range cfg.New(body, mayReturn).Blocks {
		if i := slices.Index(b.Nodes, ast.Node(a)); i >= 0 {
			return s.follow(b, b.Nodes[i+1:])
		}
	}
	return 0
}

// leakSearch follows the control flow after an assignment of a response.
type leakSearch struct {
	in         *input
	frame      *frame          // the loop, or the function, with the assignment
	assignment *ast.AssignStmt // sets response
	response   *types.Var
	err        *types.Var          // set by the same assignment; may be nil
	seen       map[*cfg.Block]bool // blocks that were followed
}

// follow continues the search at nodes, the rest of block b. It returns a line or 0, as findLeak
// does.
func (s *leakSearch) follow(b *cfg.Block, nodes []ast.Node) int {
	in, end := s.in, s.in.pass.Fset.Position(s.frame.body.Rbrace).Line
	for _, n := range nodes {
		if n == ast.Node(s.assignment) { // next iteration
			return end
		}
		if in.mentionsBody(n, s.response) || in.reportsFailure(n) {
			return 0
		}
		if r, ok := n.(*ast.ReturnStmt); ok {
			return in.lineOfSuccess(r)
		}
	}
	for _, next := range s.successors(b) {
		if s.seen[next] {
			continue
		}
		s.seen[next] = true
		if line := s.follow(next, next.Nodes); line > 0 {
			return line
		}
	}
	isEnd := len(b.Succs) == 0 && b.Live && b.Kind != cfg.KindUnreachable
	if isEnd && !endsInCall(b) {
		return end
	}
	return 0
}

// successors returns the blocks that may run after b and in which there is a response. If b ends
// with err != nil, this is only one of its two successors.
func (s *leakSearch) successors(b *cfg.Block) []*cfg.Block {
	if len(b.Succs) != 2 || len(b.Nodes) == 0 || s.err == nil {
		return b.Succs
	}
	cond, ok := b.Nodes[len(b.Nodes)-1].(*ast.BinaryExpr)
	if !ok || s.in.variable(cond.X) != s.err {
		return b.Succs
	}
	switch cond.Op {
	case token.NEQ: // the first block is for err != nil
		return b.Succs[1:]
	case token.EQL:
		return b.Succs[:1]
	}
	return b.Succs
}

// endsInCall reports whether a block ends in a call. At the end of a way, that call does not
// return, such as b.Fatal.
func endsInCall(b *cfg.Block) bool {
	if len(b.Nodes) == 0 {
		return false
	}
	s, ok := b.Nodes[len(b.Nodes)-1].(*ast.ExprStmt)
	if !ok {
		return false
	}
	_, ok = s.X.(*ast.CallExpr)
	return ok
}

// mentionsBody reports whether a node uses the body of v, or v other than for its fields.
func (in *input) mentionsBody(root ast.Node, v *types.Var) bool {
	var s ast.Stmt // root as a statement, because inspectUses omits root itself
	switch n := root.(type) {
	case ast.Stmt:
		s = n
	case ast.Expr:
		s = &ast.ExprStmt{X: n}
	default:
		return false
	}
	return in.hasUse(&ast.BlockStmt{List: []ast.Stmt{s}}, v, func(_ *ast.Ident, path []ast.Node) bool {
		sel, ok := parent(path, 1).(*ast.SelectorExpr)
		return !ok || sel.Sel.Name == "Body"
	})
}

// reportsFailure reports whether a node calls a method such as b.Error or b.FailNow.
func (in *input) reportsFailure(root ast.Node) bool {
	return hasNode(root, func(call *ast.CallExpr) bool {
		fn := in.callee(call)
		isOfTesting := fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == "testing"
		return isOfTesting && hasAnyPrefix(fn.Name(), "Error", "Fail")
	})
}

// lineOfSuccess returns the line of a return statement, 0 if it returns an error.
func (in *input) lineOfSuccess(r *ast.ReturnStmt) int {
	if len(r.Results) == 0 {
		return in.lineOf(r)
	}
	last := r.Results[len(r.Results)-1]
	if tv := in.pass.TypesInfo.Types[last]; !tv.IsNil() && isError(tv.Type) {
		return 0
	}
	return in.lineOf(r)
}
