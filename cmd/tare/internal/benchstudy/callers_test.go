package benchstudy

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/counts"
)

// callsOf returns calls per operation; a key is "caller:line callee".
func callsOf(calls map[string]float64) map[counts.Call]float64 {
	all := map[counts.Call]float64{}
	for text, n := range calls {
		site, callee, _ := strings.Cut(text, " ")
		caller, line, _ := strings.Cut(site, ":")
		all[counts.Call{Place: counts.Place{Function: caller, File: "/src/x.go", Line: len(line)}, Callee: callee}] = n
	}
	return all
}

// Callers of the user are found through functions of the standard library whose calls differ, and
// not through those whose calls do not. The line is the one whose calls differ.
func TestFindCallers(t *testing.T) {
	base := callsOf(map[string]float64{
		"shop.io/m.Route:1 strings.Join":      1,
		"shop.io/m.Other:1 strings.Repeat":    4,
		"strings.Join:1 runtime.mallocgc":     1,
		"strings.Repeat:1 runtime.mallocgc":   4,
		"runtime.mallocgc:1 runtime.nextFree": 5,
		"shop.io/m.Serve:1 shop.io/m.Route":   1,
		"testing.(*B).runN:1 shop.io/m.Serve": 1,
	})
	head := callsOf(map[string]float64{
		"shop.io/m.Route:1 strings.Join":      1,
		"shop.io/m.Route:111 strings.Join":    2.004,
		"shop.io/m.Other:1 strings.Repeat":    4,
		"strings.Join:1 runtime.mallocgc":     3.004,
		"strings.Repeat:1 runtime.mallocgc":   4,
		"runtime.mallocgc:1 runtime.nextFree": 7.004,
		"runtime.nextFree:1 runtime.mallocgc": 1, // they call each other
		"shop.io/m.Serve:1 shop.io/m.Route":   1,
		"testing.(*B).runN:1 shop.io/m.Serve": 1,
	})
	g := newCallGraph(base, head, func(path string) bool { return path == "shop.io/m" })
	route := tare.Caller{Function: "shop.io/m.Route", File: "x.go", Line: 3, From: 1, To: 3.004}
	through := route
	through.Callee = "strings.Join"
	for function, want := range map[string][]tare.Caller{
		"strings.Join":     {route},
		"runtime.nextFree": {through},
		"shop.io/m.Route":  {{Function: "shop.io/m.Serve", File: "x.go", Line: 1, From: 1, To: 1}},
		"shop.io/m.Serve":  {{Function: "testing.(*B).runN", File: "x.go", Line: 1, From: 1, To: 1}}, // nothing of the user's calls it
		"nothing.Calls":    nil,
	} {
		if got := g.findCallers(function); !slices.Equal(got, want) {
			t.Errorf("%s: %+v, want %+v", function, got, want)
		}
	}
}

// A call in the runtime's code is not one of the function that callgrind ascribes it to after a change
// of stacks.
func TestMisplacedCalls(t *testing.T) {
	site := func(function, file string) counts.Call {
		return counts.Call{Place: counts.Place{Function: function, File: file, Line: 1017}, Callee: "runtime.(*mheap).allocSpan"}
	}
	base := map[counts.Call]float64{
		site("shop.io/m.Parse", "/usr/local/go/src/runtime/mheap.go"): 2.81,
		site("shop.io/m.Grow", "runtime/mheap.go"):                    3.03,
		site("runtime.(*mheap).alloc", "runtime/mheap.go"):            1,
		site("shop.io/m.Copy", "/src/shop/runtime.go"):                1,
	}
	g := newCallGraph(base, nil, func(path string) bool { return path == "shop.io/m" })
	var callers []string
	for _, c := range g.callers["runtime.(*mheap).allocSpan"] {
		callers = append(callers, c.Function)
	}
	slices.Sort(callers)
	if want := []string{"runtime.(*mheap).alloc", "shop.io/m.Copy"}; !slices.Equal(callers, want) {
		t.Errorf("callers %v, want %v", callers, want)
	}
}

// The causes of a row have the callers that were counted, or why there are none.
func TestFunctionsHaveCallers(t *testing.T) {
	b := counted(t)
	const more = "m.BenchmarkMore"
	explain := func() tare.Explanation {
		r := &tare.Result{}
		b.counted.addFunctions(r)
		if len(r.Explanations) != 1 || r.Explanations[0].Workload != more || len(r.Explanations[0].Work) != 2 {
			t.Fatalf("%+v", r.Explanations)
		}
		return r.Explanations[0]
	}
	b.counted.calls = map[string]*callGraph{more: newCallGraph(nil, callsOf(map[string]float64{"m.Serve:1 route": 2}), func(path string) bool { return path == "m" })}
	want := []tare.Caller{{Function: "m.Serve", File: "x.go", Line: 1, To: 2}}
	if e := explain(); e.Work[0].Function != "route" || !slices.Equal(e.Work[0].Callers, want) || len(e.Work[1].Callers) > 0 || e.Why != "" {
		t.Errorf("%+v", e)
	}
	b.counted.calls, b.counted.whyNoCalls = nil, map[string]string{more: "callers: it fails"}
	if e := explain(); e.Why != "callers: it fails" || len(e.Work[0].Callers) > 0 {
		t.Errorf("%+v", e)
	}
}
