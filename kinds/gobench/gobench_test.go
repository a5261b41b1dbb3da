package gobench_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/kinds/gobench"
)

const goMod = "module example.com/tiny\n\ngo 1.12\n"

const tinyTest = `package tiny

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

var sink []byte
var setUp = false

func TestMain(m *testing.M) {
	flag.Parse()
	setUp = flag.Lookup("test.bench").Value.String() != ""
	port := os.Getenv("TINY_PORT") // that two processes cannot have
	if port != "" {
		if file, err := os.OpenFile(port, os.O_CREATE|os.O_EXCL, 0666); err != nil {
			panic(err)
		} else {
			file.Close()
		}
		time.Sleep(20 * time.Millisecond)
	}
	code := m.Run()
	if port != "" {
		time.Sleep(20 * time.Millisecond)
		os.Remove(port)
	}
	os.Exit(code)
}

func BenchmarkPlain(b *testing.B) {
	if !setUp {
		b.Fatal("TestMain did not run")
	}
	for i := 0; i < b.N; i++ {
		sink = make([]byte, 64)
	}
}

func BenchmarkSub(b *testing.B) {
	for _, name := range []string{"a b", "x[1]/y", "a b"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				time.Now()
			}
			b.ReportMetric(7, "things/op")
		})
	}
}

func BenchmarkBytes(b *testing.B) {
	b.SetBytes(1000)
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		time.Now()
	}
}

func BenchmarkPrints(b *testing.B) {
	fmt.Print("1234\t", b.N)
	for i := 0; i < b.N; i++ {
		time.Now()
	}
	fmt.Print("\nand more 5\t6 ns/op without an end")
}

func BenchmarkParallel(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			time.Now()
		}
	})
}

func BenchmarkPortions(b *testing.B) {
	if b.N == 1 {
		time.Sleep(time.Millisecond) // portions as of this run have one iteration
	}
	b.RunParallel(func(pb *testing.PB) {
		b.ReportMetric(float64(reflect.ValueOf(pb).Elem().FieldByName("grain").Uint()), "grain")
		for pb.Next() {
		}
	})
}

func BenchmarkFailsLater(b *testing.B) {
	if b.N > 1 {
		b.Fatal("no luck with", b.N)
	}
}

// What a benchmark prints and logs looks like results, and like failures of others.
func BenchmarkLooksLikeResults(b *testing.B) {
	for i := 0; i < b.N; i++ {
		time.Now()
	}
	b.Logf("%d\t%.2f ns/op\t(per row)\n--- FAIL: BenchmarkPlain", b.N, 1e9)
	fmt.Printf("\nBenchmarkLooksLikeResults \t%d\t%.2f ns/op\n--- FAIL: BenchmarkPlain\nBenchmarkLooksLikeResults/ghost\t%d\t5 ns/op\n", b.N, 1e9, b.N)
}

func BenchmarkFailsWithResult(b *testing.B) {
	b.Fatalf("%d\t%.2f ns/op", b.N, 1.5)
}

func BenchmarkLooksAround(b *testing.B) {
	for i := 0; i < b.N; i++ {
		time.Now()
	}
	for name, want := range map[string]string{"test.bench": ".", "test.benchtime": "1s", "test.v": "false"} {
		if got := flag.Lookup(name).Value.String(); got != want {
			b.Fatalf("-%s=%s, want %s", name, got, want)
		}
	}
	if dir, _ := os.Getwd(); dir != os.Getenv("PWD") {
		b.Fatalf("it runs in %s, and PWD=%s", dir, os.Getenv("PWD"))
	}
	if path, _ := exec.LookPath("go"); filepath.Dir(path) != strings.Split(os.Getenv("PATH"), string(os.PathListSeparator))[0] {
		b.Fatalf("the go command is %s, and PATH=%s", path, os.Getenv("PATH"))
	}
}

func BenchmarkStops(b *testing.B) {
	for i := 0; i < b.N; i++ {
		b.StopTimer()
		time.Sleep(time.Millisecond)
		b.StartTimer()
	}
}

func BenchmarkExits(b *testing.B) { os.Exit(3) }
func BenchmarkExitsWell(b *testing.B) { os.Exit(0) }
func BenchmarkHangs(b *testing.B) { time.Sleep(time.Hour) }
func Benchmarked(b *testing.B)    {}
`

const externalTest = `package tiny_test

import "testing"

func BenchmarkExternal(b *testing.B) {
	for i := 0; i < b.N; i++ {
		_ = make([]int, i%8)
	}
}
`

// suite builds the module above with the files of an overlay, and opens a
// trial of it.
func suite(t *testing.T) trial.Conn { return changedSuite(t, nil) }

// changedSuite opens a trial of the module with its packages changed.
func changedSuite(t *testing.T, change func(map[string]gobench.Package)) trial.Conn {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	dir, work := t.TempDir(), t.TempDir()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	assert.NoError(t, "command", err)
	goRoot := strings.TrimSpace(string(root))
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	changed, err := gobench.ParallelFiles(goRoot)
	assert.NoError(t, "parallel files", err)
	for name, text := range changed {
		overlay.Replace[name] = filepath.Join(work, filepath.Base(name))
		assert.NoError(t, "write a file", os.WriteFile(overlay.Replace[name], text, 0o644))
	}
	packages := map[string]gobench.Package{}
	binary := filepath.Join(work, "tiny.test")
	for name, text := range map[string]string{"go.mod": goMod, "tiny.go": "package tiny\n", "tiny_test.go": tinyTest, "external_test.go": externalTest} {
		assert.NoError(t, "write a file", os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		pkg, names, err := gobench.Benchmarks(filepath.Join(dir, name))
		assert.NoError(t, "benchmarks", err)
		f := gobench.TestFile{Package: pkg, Names: names}
		source, err := f.Source()
		assert.NoError(t, "source", err)
		file := filepath.Join(work, f.Name())
		assert.NoError(t, "write a file", os.WriteFile(file, source, 0o644))
		overlay.Replace[filepath.Join(dir, f.Name())] = file
		packages[strings.Replace(pkg, "tiny", "example.com/tiny", 1)] = gobench.Package{Binary: binary, Dir: dir, Test: f.Test()}
	}
	text, err := json.Marshal(overlay)
	assert.NoError(t, "marshal", err)
	file := filepath.Join(work, "overlay.json")
	assert.NoError(t, "write a file", os.WriteFile(file, text, 0o644))
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-overlay="+file, "-o", binary, ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, out)
	}
	path := filepath.Join(work, "suite.json")
	if change != nil {
		change(packages)
	}
	if err := (gobench.Suite{Packages: packages, Go: runtime.Version(), GOROOT: goRoot, Procs: 1}).Save(path); err != nil {
		t.Fatal(err)
	}
	conn, err := gobench.New().Open(t.Context(), build.Program{Path: path}, trial.Spec{Name: "head/round 1", Env: []string{"GOMAXPROCS=1"}})
	assert.NoError(t, "open", err)
	return conn
}

func ask(t *testing.T, c trial.Conn, q wire.Request) wire.Reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a, err := c.Do(ctx, q)
	if err != nil {
		t.Fatalf("%s %s: %v", q.Op, q.On, err)
	}
	return a
}

func prepare(t *testing.T, c trial.Conn, name string) wire.Reply {
	t.Helper()
	pkg := "example.com/tiny"
	if name == "BenchmarkExternal" {
		pkg += "_test"
	}
	return ask(t, c, wire.Request{Op: wire.OpPrepare, Workload: &wire.Workload{ID: name, Fixture: pkg, Op: name}})
}

// The whole conversation with a suite, on this version of Go: RunBenchmarks of
// package testing is exported and not promised.
func TestConversation(t *testing.T) {
	c := suite(t)
	if a := ask(t, c, wire.Request{Op: wire.OpHello, Protocol: wire.Protocol}); a.Kind != gobench.Name || a.Protocol != wire.Protocol {
		t.Errorf("hello: %+v", a)
	}
	for _, name := range []string{"BenchmarkPlain", "BenchmarkSub/a_b", "BenchmarkSub/a_b#01", "BenchmarkSub/x[1]/y", "BenchmarkBytes", "BenchmarkPrints", "BenchmarkParallel", "BenchmarkLooksLikeResults", "BenchmarkLooksAround", "BenchmarkExternal"} {
		prepare(t, c, name)
		if a := ask(t, c, wire.Request{Op: wire.OpWarm, On: name, MinNS: 1e6, CapNS: 1e9}); a.Errors > 0 || a.Ops < 1 || a.WallNS < 1e6 { // one may take all of the time
			t.Errorf("%s: warm: %+v", name, a)
		}
		if a := ask(t, c, wire.Request{Op: wire.OpSlice, On: name, Ops: 1234, Until: "ops"}); a.Errors > 0 || a.Ops != 1234 || a.WallNS < 1234 || a.WallNS > 1e9 || a.Answers != nil {
			t.Errorf("%s: slice: %+v", name, a)
		}
		a := ask(t, c, wire.Request{Op: wire.OpStats, On: name, Ops: 100})
		if name == "BenchmarkPlain" && (a.Bytes != 6400 || a.Allocs != 100) {
			t.Errorf("%s: 100 operations allocate %d bytes in %d objects, want 6400 in 100", name, a.Bytes, a.Allocs)
		}
		own, _ := c.(trial.Gauger).Gauges(name)
		if want := strings.HasPrefix(name, "BenchmarkSub/"); want != (own[tare.KeyReported+"things/op"] == 7) {
			t.Errorf("%s reported %v", name, own)
		}
		if want := name == "BenchmarkBytes"; want != (own[tare.KeyReported+"MB/s"] > 0) {
			t.Errorf("%s reported %v", name, own)
		}
	}
	prepare(t, c, "BenchmarkSub")
	if a := ask(t, c, wire.Request{Op: wire.OpAnswer, On: "BenchmarkSub", Cases: []int{0}}); len(a.Answers) != 1 || strings.Count(string(a.Answers[0].Output), "ns/op") != 3 || a.WallNS < 1 {
		t.Errorf("answer: %+v", a)
	}
	prepare(t, c, "BenchmarkLooksLikeResults")
	var outcomes []gobench.Outcome
	a := ask(t, c, wire.Request{Op: wire.OpAnswer, On: "BenchmarkLooksLikeResults", Cases: []int{0}})
	if err := json.Unmarshal(a.Answers[0].Output, &outcomes); err != nil || len(outcomes) != 1 || outcomes[0].Failed || outcomes[0].Name != "BenchmarkLooksLikeResults" || outcomes[0].Values["ns/op"] > 1e8 {
		t.Errorf("outcomes of a benchmark that prints and logs results: %+v, %v", outcomes, err)
	}
	if a := prepare(t, c, "BenchmarkNone"); !a.Unsupported {
		t.Errorf("a benchmark that is not there: %+v", a)
	}
	e := c.Close(t.Context())
	if e.GOMAXPROCS != 1 || e.CPUSeconds <= 0 {
		t.Errorf("evidence: %+v", e)
	}
}

// With a fixed number of iterations testing takes the portions of RunParallel from the run of one
// iteration.
func TestPortions(t *testing.T) {
	c := suite(t)
	ask(t, c, wire.Request{Op: wire.OpHello, Protocol: wire.Protocol})
	const name = "BenchmarkPortions"
	prepare(t, c, name)
	for range 2 {
		if a := ask(t, c, wire.Request{Op: wire.OpSlice, On: name, Ops: 1e5}); a.Errors > 0 || a.Ops != 1e5 {
			t.Errorf("slice: %+v", a)
		}
	}
	if own, _ := c.(trial.Gauger).Gauges(name); own[tare.KeyReported+"grain"] < 2 {
		t.Errorf("goroutines get %v iterations at a time, want some 100 µs of them", own[tare.KeyReported+"grain"])
	}
	c.Close(t.Context())
}

// In whole runs every slice has the iterations that the workload says. Where
// nothing is timed an operation is a run, and always allocates something.
func TestWholeRuns(t *testing.T) {
	c := suite(t)
	ask(t, c, wire.Request{Op: wire.OpHello, Protocol: wire.Protocol})
	const name = "BenchmarkPlain"
	ask(t, c, wire.Request{Op: wire.OpPrepare, Workload: &wire.Workload{ID: name, Fixture: "example.com/tiny", Op: name, Set: map[string]string{gobench.SetRun: "1000"}}})
	if a := ask(t, c, wire.Request{Op: wire.OpWarm, On: name, MinNS: 1, CapNS: 1e9}); a.Ops != 1 || a.WallNS < 1000 {
		t.Errorf("warm: %+v, want a run of 1000 iterations", a)
	}
	if a := ask(t, c, wire.Request{Op: wire.OpStats, On: name, Ops: 7}); a.Ops != 1 || a.Bytes <= 64000 || a.Allocs <= 1000 {
		t.Errorf("stats before a slice: %+v, want more than 1000 iterations allocate", a)
	}
	for _, asked := range []int64{1, 5} {
		if a := ask(t, c, wire.Request{Op: wire.OpSlice, On: name, Ops: asked}); a.Ops != 1000 || a.WallNS < 1 || a.Errors > 0 {
			t.Errorf("a slice of %d: %+v, want 1000 operations", asked, a)
		}
	}
	if a := ask(t, c, wire.Request{Op: wire.OpStats, On: name, Ops: 7}); a.Ops != 1000 || a.Bytes != 64000 || a.Allocs != 1000 {
		t.Errorf("stats: %+v, want those of the last slice", a)
	}
	c.Close(t.Context())
}

// Of a package whose processes cannot run side by side there is one only while a
// request is carried out: two trials take turns. What a slice allocated is known
// after its process has ended.
func TestAlone(t *testing.T) {
	port := filepath.Join(t.TempDir(), "port")
	var trials [2]trial.Conn
	for i := range trials {
		trials[i] = changedSuite(t, func(packages map[string]gobench.Package) {
			for key, p := range packages {
				p.Alone = true
				packages[key] = p
			}
		})
		ask(t, trials[i], wire.Request{Op: wire.OpHello, Protocol: wire.Protocol})
	}
	t.Setenv("TINY_PORT", port)
	const name = "BenchmarkPlain"
	w := wire.Workload{ID: name, Fixture: "example.com/tiny", Op: name, Set: map[string]string{gobench.SetRun: "1000"}}
	for range 2 {
		for _, c := range trials {
			ask(t, c, wire.Request{Op: wire.OpPrepare, Workload: &w})
			for range 2 {
				began := time.Now()
				a := ask(t, c, wire.Request{Op: wire.OpSlice, On: name, Ops: 1})
				took := time.Since(began).Nanoseconds()
				const startAndEnd = 40e6 // its TestMain sleeps that long, in ns
				if a.Errors > 0 || a.Ops != 1000 || a.UntimedNS < startAndEnd || a.WallNS+a.UntimedNS > took {
					t.Errorf("slice: %+v, want the start and end of its process with the time that is not timed, of %d ns", a, took)
				}
			}
			if a := ask(t, c, wire.Request{Op: wire.OpStats, On: name, Ops: 1}); a.Ops != 1000 || a.Allocs != 1000 {
				t.Errorf("stats: %+v", a)
			}
			if _, err := os.Stat(port); err == nil {
				t.Error("a process goes on after its request")
			}
		}
	}
	for _, c := range trials {
		c.Close(t.Context())
	}
}

// What go test prints is read by the benchmark's name and number of iterations.
func TestPrintedResults(t *testing.T) {
	const printed = "BenchmarkA-2   \t100\t 9 ns/op\n1000\t 7 ns/op\n  1000\t        12.5 ns/op\t 3 B/op\n--- BENCH: BenchmarkA-2\n    x.go:1: 1000\t1 ns/op\n" +
		"BenchmarkA/b-2-2 \t 5\t  20 ns/op\nBenchmarkFails-2 \t--- FAIL: BenchmarkFails-2\n    x.go:3: 5\t6 ns/op\nBenchmarkA-2   \t  1000\t 13 ns/op\n"
	for _, tt := range []struct {
		name  string
		procs int
		ops   int64
		want  []float64
	}{
		{"BenchmarkA", 2, 1000, []float64{12.5, 13}}, {"BenchmarkA", 2, 0, []float64{12.5, 13}}, {"BenchmarkA", 0, 100, []float64{9}},
		{"BenchmarkA/b-2", 2, 0, []float64{20}}, {"BenchmarkA/b", 2, 0, nil}, {"BenchmarkA", 1, 0, nil}, {"BenchmarkFails", 2, 0, nil},
	} {
		if got := gobench.PrintedResults(printed, tt.name, tt.procs, tt.ops); !slices.Equal(got, tt.want) {
			t.Errorf("%s of %d processors, %d iterations: %v, want %v", tt.name, tt.procs, tt.ops, got, tt.want)
		}
	}
	if got := gobench.Exactly("BenchmarkMux/route:/a.b"); got != `^BenchmarkMux$/^route:$/^a\.b$` {
		t.Error(got)
	}
}

// A warm-up ends by its cap although nearly all time of the benchmark passes while its
// timer is stopped: as many iterations as last 50 ms by the timer take minutes.
func TestWarmCountsAllTime(t *testing.T) {
	c := suite(t)
	ask(t, c, wire.Request{Op: wire.OpHello, Protocol: wire.Protocol})
	const name = "BenchmarkStops"
	prepare(t, c, name)
	// Of timed time alone 50 ms would be more than 100,000 operations. How many take 200 ms depends on how busy the
	// machine is while their number is chosen.
	if a := ask(t, c, wire.Request{Op: wire.OpWarm, On: name, MinNS: 50e6, CapNS: 200e6}); a.Errors > 0 || a.Ops < 2 || a.Ops > 20_000 || a.UntimedNS < a.Ops*1e6 {
		t.Errorf("warm: %+v, want few operations, at least 1 ms of each not timed", a)
	}
	if a := ask(t, c, wire.Request{Op: wire.OpStats, On: name, Ops: 20}); a.Ops != 20 || a.UntimedNS < 20e6 {
		t.Errorf("stats: %+v, want 20 ms that are not timed", a)
	}
	c.Close(t.Context())
}

// What goes wrong with one benchmark is told by its slices, and the others go
// on.
func TestOneBenchmarkSpoilsNoOther(t *testing.T) {
	c := suite(t)
	ask(t, c, wire.Request{Op: wire.OpHello, Protocol: wire.Protocol})
	for name, want := range map[string]string{
		"BenchmarkFailsLater": "no luck with 10", "BenchmarkExits": "exit status 3", "BenchmarkHangs": "no answer to slice within",
		"BenchmarkFailsWithResult": "BenchmarkFailsWithResult failed: tiny_test.go", "BenchmarkExitsWell": "unexpected call to os.Exit(0)",
	} {
		prepare(t, c, name)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		a, err := c.Do(ctx, wire.Request{Op: wire.OpSlice, On: name, Ops: 10})
		cancel()
		if err != nil || a.Errors == 0 || a.Ops < 1 || a.WallNS < 1 || !strings.Contains(a.Message, want) {
			t.Errorf("%s: %+v, %v; want an error with %q", name, a, err, want)
		}
		prepare(t, c, "BenchmarkPlain")
		if a := ask(t, c, wire.Request{Op: wire.OpSlice, On: "BenchmarkPlain", Ops: 10}); a.Errors > 0 {
			t.Errorf("after %s: %+v", name, a)
		}
	}
	c.Close(t.Context())
}

func TestBenchmarks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x_test.go")
	assert.NoError(t, "write a file", os.WriteFile(file, []byte(tinyTest+"func BenchmarkNot(t *testing.T) {}\nfunc (x T) BenchmarkMethod(b *testing.B) {}\n"), 0o644))
	pkg, names, err := gobench.Benchmarks(file)
	want := []string{"BenchmarkPlain", "BenchmarkSub", "BenchmarkBytes", "BenchmarkPrints", "BenchmarkParallel", "BenchmarkPortions", "BenchmarkFailsLater", "BenchmarkLooksLikeResults", "BenchmarkFailsWithResult", "BenchmarkLooksAround", "BenchmarkStops", "BenchmarkExits", "BenchmarkExitsWell", "BenchmarkHangs"}
	if pkg != "tiny" || !slices.Equal(names, want) || err != nil {
		t.Errorf("package %s with %v, %v; want tiny with %v", pkg, names, err, want)
	}
}

func TestInput(t *testing.T) {
	k := gobench.New()
	if _, err := k.Input(tare.Workload{ID: "w", Fixture: "devices", Op: "marshal"}, "", ""); err == nil || !strings.Contains(err.Error(), "BenchmarkParse/small") {
		t.Errorf("a workload that is no benchmark: %v", err)
	}
	in, err := k.Input(tare.Workload{ID: "w", Fixture: "example.com/a", Op: "BenchmarkX/y", Set: map[string]string{gobench.SetRun: "3"}}, "", "")
	if err != nil || in.Fixture != "example.com/a" || in.Op != "BenchmarkX/y" || in.Set[gobench.SetRun] != "3" {
		t.Errorf("%+v, %v", in, err)
	}
}

// The null contender takes no time and needs no process.
func TestNull(t *testing.T) {
	c, err := gobench.New().Open(t.Context(), build.Program{Contender: tare.Contender{ID: tare.NullID}}, trial.Spec{})
	assert.NoError(t, "open", err)
	for _, op := range []string{wire.OpHello, wire.OpPrepare, wire.OpWarm, wire.OpSlice, wire.OpStats, wire.OpBye} {
		a := ask(t, c, wire.Request{Op: op, Ops: 10})
		if measures := op == wire.OpWarm || op == wire.OpSlice; measures && (a.Ops < 10 || a.WallNS != 1) {
			t.Errorf("%s: %+v", op, a)
		}
	}
	if e := c.Close(t.Context()); e.PID != 0 {
		t.Errorf("evidence of a process: %+v", e)
	}
}

// No two trials of a study have the same layout, and a study run again has the
// same ones.
func TestLayoutSeed(t *testing.T) {
	seen := map[uint64]string{}
	for _, study := range []string{"1", "2"} {
		for _, trial := range []string{"base/round 1", "base/round 2", "head/round 1", "control/round 1", "base/pilot"} {
			for _, pkg := range []string{"a", "a_test"} {
				seed, of := gobench.LayoutSeed(study, trial, pkg), study+trial+pkg
				if gobench.LayoutSeed(study, trial, pkg) != seed || seen[seed] != "" {
					t.Errorf("%s: %x, which %q has too", of, seed, seen[seed])
				}
				seen[seed] = of
			}
		}
	}
}
