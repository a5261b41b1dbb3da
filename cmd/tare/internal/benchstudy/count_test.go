package benchstudy_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/causestest"
	"github.com/tarebench/tare/cmd/tare/internal/counts"
)

// shapes are functions that do so many turns of some work; every turn does the same.
const shapes = `package shapes

import (
	"fmt"
	"sort"
	"strings"
	"testing"
)

var sink int
var text string
var kept []byte

type adder interface{ add(int) int }
type one struct{ n int }

func (o *one) add(x int) int { return o.n + x }

var adders = []adder{&one{1}, &one{2}}
var table = map[int]int{1: 1, 2: 2, 3: 3, 5: 5, 8: 8}

//go:noinline
func depth(n int) int {
	if n == 0 {
		return 1
	}
	return depth(n-1) + 1
}

func larger[T int | string](a, b T) T {
	if a > b {
		return a
	}
	return b
}

//go:noinline
func turn(shape string) {
	switch shape {
	case "loop":
		for i := 0; i < 64; i++ {
			sink = sink*31 + i
		}
	case "alloc":
		kept = make([]byte, 100)
	case "map":
		for i := 0; i < 8; i++ {
			sink += table[i]
		}
	case "fmt":
		text = fmt.Sprintf("%d of %s", 12, "twenty")
	case "sort":
		a := [...]int{5, 3, 9, 1, 7, 2, 8, 4, 6, 0}
		sort.Ints(a[:])
		sink += a[3]
	case "interface":
		for i := 0; i < 16; i++ {
			sink = adders[i%2].add(sink)
		}
	case "channel":
		c := make(chan int, 4)
		for i := 0; i < 4; i++ {
			c <- i
		}
		sink += <-c
	case "generic":
		sink += larger(3, 4) + len(larger("three", "four"))
		text = larger(text[:0], "x")
	case "strings":
		text = strings.Join([]string{"a", "b", "c"}, "/")
	case "recursion":
		sink += depth(20)
	}
}

func BenchmarkShapes(b *testing.B) {
	for _, shape := range []string{"loop", "map", "fmt", "channel", "alloc", "sort", "interface", "generic", "strings", "recursion"} {
		for name, turns := range map[string]int{"more": planted, "same": 100} {
			b.Run(shape+"/"+name, func(b *testing.B) {
				for i := 0; i < b.N; i++ {
					for j := 0; j < turns; j++ {
						turn(shape)
					}
				}
			})
		}
	}
}

`

// One turn more of a hundred is found as 1 % more instructions, within 0.3 points, in
// functions of different shape; what is the same differs in none, although no two of the
// binaries have their functions in the same order. The function that does it is named, and
// its caller with its calls. A benchmark with the same code is not timed.
func TestCountPlanted(t *testing.T) {
	if testing.Short() {
		t.Skip("counts three benchmarks or more on two sides")
	}
	if _, err := exec.LookPath("valgrind"); err != nil {
		t.Skip("no valgrind: install the package valgrind")
	}
	t.Parallel()
	dir := t.TempDir() + "/repo"
	repository(t, dir, map[string]string{
		"go.mod": "module example.com/shapes\n\ngo 1.25\n", "shapes_test.go": shapes, "planted_test.go": "package shapes\n\nconst planted = 100\n",
		"steady/steady_test.go": "package steady\n\nimport \"testing\"\n\nvar sink int\n\nfunc BenchmarkSteady(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tfor j := 0; j < 500; j++ {\n\t\t\tsink = sink*31 + j\n\t\t}\n\t}\n}\n",
	})
	write(t, dir, map[string]string{"planted_test.go": "package shapes\n\nconst planted = 101\n"})
	pattern, want := "Steady|Shapes/^loop$", 3
	if os.Getenv("TARE_SOAK") != "" {
		pattern, want = "Shapes|Steady", 21
	}
	isSteady := func(id string) bool { return strings.HasSuffix(id, ".BenchmarkSteady") }
	var b *benchstudy.Bench
	var r *tare.Result
	for range 3 { // by chance the counts of the same code differ by some instructions
		var err error
		if b, _, err = newBench(t, benchstudy.Request{Dir: dir, Base: "one", Bench: pattern}); err != nil {
			t.Fatal(err)
		}
		place := benchstudy.Setup{Say: func(string) {}}
		if err := b.Count(t.Context(), benchstudy.Counting{Counter: counts.Valgrind, TimeLimit: 40 * time.Minute, Callers: true}, place); err != nil {
			t.Fatal(err)
		}
		b.SkipSame()
		r = &tare.Result{}
		b.Finish(r)
		if !slices.ContainsFunc(b.Study.Workloads, func(w tare.Workload) bool { return isSteady(w.ID) }) {
			break
		}
	}
	if len(b.Study.Workloads) != want-1 || slices.ContainsFunc(b.Study.Workloads, func(w tare.Workload) bool { return isSteady(w.ID) }) {
		t.Errorf("timed: %+v; only the benchmark with the same code is not", b.Study.Workloads)
	}
	if !slices.ContainsFunc(r.Findings, func(f tare.Finding) bool { return f.Check == benchstudy.NotTimed().ID && isSteady(f.Workload) }) {
		t.Errorf("no note that it is not timed: %+v", r.Findings)
	}
	if r.Counter == nil || len(r.Work) == 0 {
		t.Fatalf("nothing is counted: %+v", r.Findings)
	}
	rows := 0
	for _, c := range r.Comparisons {
		if c.Metric != tare.MetricInstructions {
			continue
		}
		rows++
		t.Logf("%-55s %9.1f %9.1f %.5f [%.5f, %.5f]", c.Workload, c.AgainstValue, c.Value, c.Ratio, c.Low, c.High)
		differs := c.Differs(0) == tare.Significant
		if planted := strings.HasSuffix(c.Workload, "/more"); planted != differs || planted && math.Abs(c.Ratio-1.01) > 0.003 {
			t.Errorf("%s: %.5f [%.5f, %.5f], planted: %v", c.Workload, c.Ratio, c.Low, c.High, planted)
		}
	}
	if rows != want {
		t.Errorf("%d of %d benchmarks are counted: %v", rows, want, r.Findings)
	}
	i := slices.IndexFunc(r.Explanations, func(e tare.Explanation) bool { return strings.HasSuffix(e.Workload, "/loop/more") })
	if i < 0 || len(r.Explanations[i].Work) == 0 || r.Explanations[i].Work[0].Function != "example.com/shapes.turn" || r.Explanations[i].Work[0].Line == 0 {
		t.Fatalf("the function of the loop is not named: %+v", r.Explanations)
	}
	isCaller := func(c tare.Caller) bool {
		return strings.HasPrefix(c.Function, "example.com/shapes.BenchmarkShapes.func") && c.Callee == "" && c.File == "shapes_test.go" && c.Line > 0 &&
			math.Abs(c.From-100) < 0.5 && math.Abs(c.To-101) < 0.5
	}
	if e := r.Explanations[i]; e.Why != "" || !slices.ContainsFunc(e.Work[0].Callers, isCaller) {
		t.Errorf("its caller is not named with 100 and 101 calls: %+v", e)
	}
}

// Of twelve changes with a known cause the function that does the work is named first, and with how many
// instructions it does; of pairs without a change nothing is named.
func TestCountCauses(t *testing.T) {
	if os.Getenv("TARE_SOAK") == "" {
		t.Skip("TARE_SOAK is not set")
	}
	dir := t.TempDir() + "/repo"
	base, head := map[string]string{"go.mod": "module example.com/planted\n\ngo 1.25\n"}, map[string]string{}
	for _, c := range causestest.Causes() {
		for name, text := range causestest.Files(c.Imports[0], c.Base) {
			base[c.Name+"/"+name] = text
			base["same/"+c.Name+"/"+name] = text
		}
		for name, text := range causestest.Files(c.Imports[1], c.Head) {
			head[c.Name+"/"+name] = text
		}
	}
	repository(t, dir, base)
	write(t, dir, head)
	b, _, err := newBench(t, benchstudy.Request{Dir: dir, Base: "one"})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Count(t.Context(), benchstudy.Counting{Counter: counts.Valgrind, Callers: true}, benchstudy.Setup{Say: func(string) {}}); err != nil {
		t.Fatal(err)
	}
	r := &tare.Result{}
	b.Finish(r)
	named := map[string]string{} // first function with its callers, by the name of the cause
	for _, e := range r.Explanations {
		first := e.Work[0]
		name := strings.Split(e.Workload, "/")[2]
		named[strings.TrimSuffix(name, ".BenchmarkWork")] = fmt.Sprint(first.Function, " ", first.Callers)
		t.Logf("%s %+.1f %s:%d %s %v", e.Workload, first.To-first.From, first.File, first.Line, first.Function, first.Callers)
		// Each of 50 calls of mix has six instructions that the inlined code does not have in it.
		if name == "inlining.BenchmarkWork" && math.Abs(first.To-first.From-300) > 30 {
			t.Errorf("%s: %+.1f instructions, want 300", e.Workload, first.To-first.From)
		}
	}
	for _, c := range causestest.Causes() {
		if c.Does != "" && !strings.Contains(named[c.Name], c.Does) {
			t.Errorf("%s: %q is named first, want %q", c.Name, named[c.Name], c.Does)
		}
	}
	if named["same"] != "" {
		t.Errorf("without a change: %s", named["same"])
	}
}
