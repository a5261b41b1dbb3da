package benchstudy

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/cmd/tare/internal/counts"
	"github.com/tarebench/tare/cmd/tare/internal/profile"
)

// This file counts how often functions call each other in a benchmark. It names the callers of a
// function that executes more instructions in head than in base. For example, "parse.Scan calls it
// twice as often".

const (
	maxCallers         = 3
	minCallsDifference = 0.05 // calls per operation
)

// countCallers counts the calls of the benchmarks that differ most, at most maxExplained. It returns
// the calls by benchmark, and why there are none by benchmark. A benchmark without time left is in
// neither.
func (b *countBuilds) countCallers(ctx context.Context, c *comparisonCounts) (map[string]*callGraph, map[string]string) {
	var rows []tare.Comparison
	for _, row := range c.rows {
		if noFloor := 0.0; row.Differs(noFloor) != tare.NotShown { // counts have no noise floor
			rows = append(rows, row)
		}
	}
	sortByChange(rows)
	rows = rows[:min(len(rows), maxExplained)]
	graphs, failures := map[string]*callGraph{}, map[string]string{}
	isUser := newUserFilter(b.bench.Sources)
	var mu sync.Mutex
	done := 0
	counts.Concurrently(rows, func(row tare.Comparison) {
		i := slices.IndexFunc(b.bench.benchmarks, func(m suite.Benchmark) bool { return m.ID() == row.Workload })
		base, head, err := b.countCalls(ctx, b.bench.benchmarks[i], c.pairs[row.Workload])
		mu.Lock()
		defer mu.Unlock()
		done++
		b.setup.Say(fmt.Sprintf("counting calls: %d of %d benchmarks", done, len(rows)))
		switch {
		case err == nil:
			graphs[row.Workload] = newCallGraph(base, head, isUser)
		case ctx.Err() == nil:
			failures[row.Workload] = "callers: " + firstLine(err.Error())
		}
	})
	return graphs, failures
}

// countCalls returns the calls per operation of a benchmark in base and in head.
func (b *countBuilds) countCalls(ctx context.Context, m suite.Benchmark, p *counts.Pair) (base, head map[counts.Call]float64, err error) {
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	defer b.lockPackage(m.Package)()
	if base, err = p.Base.CountCalls(ctx); err != nil {
		return nil, nil, err
	}
	head, err = p.Head.CountCalls(ctx)
	return base, head, err
}

// callGraph holds the calls of a benchmark, per operation.
type callGraph struct {
	callers map[string][]tare.Caller // by the name of the called function, which is also in Caller.Callee
	isUser  func(path string) bool   // reports whether the user is told about functions of a package
}

// newCallGraph makes the graph of all calls per operation in base and head. A caller may call the
// same function at several lines. Its Line is the one with the largest change or, without changes,
// with most calls.
func newCallGraph(base, head map[counts.Call]float64, isUser func(path string) bool) *callGraph {
	type edge struct{ caller, callee string }
	edges := map[edge]*tare.Caller{}
	largest := map[edge]float64{}
	for _, site := range sortSites(base, head) {
		key := edge{site.Function, site.Callee}
		c := edges[key]
		if c == nil {
			c = &tare.Caller{Function: site.Function, Callee: site.Callee}
			edges[key] = c
		}
		baseCalls, headCalls := base[site], head[site]
		c.From += baseCalls
		c.To += headCalls
		change := math.Abs(headCalls - baseCalls)
		if change < minCallsDifference {
			change = 0
		}
		if hasNoLine := c.Line == 0; hasNoLine || change > largest[key] {
			c.File, c.Line, largest[key] = path.Base(site.File), site.Line, change
		}
	}
	g := &callGraph{callers: map[string][]tare.Caller{}, isUser: isUser}
	for key, c := range edges {
		g.callers[key.callee] = append(g.callers[key.callee], *c)
	}
	return g
}

// sortSites returns the lines with a call, those with most calls first.
func sortSites(base, head map[counts.Call]float64) []counts.Call {
	calls := map[counts.Call]float64{} // calls in base and head together
	for _, side := range []map[counts.Call]float64{base, head} {
		for site, n := range side {
			if !isMisplaced(site) {
				calls[site] += n
			}
		}
	}
	return slices.SortedFunc(maps.Keys(calls), func(a, b counts.Call) int {
		return cmp.Or(cmp.Compare(calls[b], calls[a]), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
}

// isMisplaced reports whether Callgrind ascribes a call in the runtime to another package. That
// happens when the runtime switches stacks.
func isMisplaced(site counts.Call) bool {
	dir := path.Dir(site.File)
	isRuntimeFile := dir == "runtime" || strings.HasSuffix(dir, "/src/runtime")
	return isRuntimeFile && profile.PackageOf(site.Function) != "runtime"
}

// findCallers returns the callers of a function, at most maxCallers, those whose calls differ most
// first.
//
// It searches from the function to its callers, and on through callers in the standard library whose
// calls differ. At the first function of the user it stops: this one is named, with the function
// that it calls in Callee. If it finds no function of the user, it returns the direct callers.
func (g *callGraph) findCallers(function string) []tare.Caller {
	var found []tare.Caller
	visited := map[string]bool{function: true}
	for queue := []string{function}; len(queue) > 0; queue = queue[1:] {
		callee := queue[0]
		for _, c := range g.callers[callee] {
			isChanged := math.Abs(c.To-c.From) >= minCallsDifference
			isUser := g.isUser(profile.PackageOf(c.Function))
			switch {
			case isUser && (isChanged || callee == function):
				found = append(found, c)
			case !isUser && isChanged && !visited[c.Function]:
				visited[c.Function] = true
				queue = append(queue, c.Function)
			}
		}
	}
	if len(found) == 0 {
		found = slices.Clone(g.callers[function])
	}
	for i := range found {
		if found[i].Callee == function {
			found[i].Callee = ""
		}
	}
	slices.SortFunc(found, func(a, b tare.Caller) int {
		return cmp.Or(cmp.Compare(math.Abs(b.To-b.From), math.Abs(a.To-a.From)), cmp.Compare(b.From+b.To, a.From+a.To), cmp.Compare(a.Function, b.Function))
	})
	return found[:min(len(found), maxCallers)]
}
