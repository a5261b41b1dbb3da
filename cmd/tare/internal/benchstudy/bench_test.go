package benchstudy_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/kinds/gobench"
)

// Repositories of tests are built as they are, whatever is set around the tests.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{"GOFLAGS": "", "GOWORK": "", "GOPROXY": "off"} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// repository is a git repository with files, committed and tagged one.
func repository(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for _, name := range []string{"git", "go"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("no " + name + " command")
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "init", "-q", "-b", "main")
	write(t, dir, files)
	git(t, dir, "add", "-A", "-f")
	git(t, dir, "commit", "-qm", "one")
	git(t, dir, "tag", "one")
}

// newBench builds what a asks for, with a limit of two seconds for each
// benchmark.
func newBench(t *testing.T, a benchstudy.Request) (*benchstudy.Bench, *tare.Result, error) {
	t.Helper()
	cache := t.TempDir()
	b, err := benchstudy.NewBench(t.Context(), a, benchstudy.Setup{Cache: cache, RunLimit: 5 * time.Second, Say: func(string) {}})
	if err != nil {
		if left, _ := filepath.Glob(filepath.Join(cache, "bench", "*")); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
		return nil, nil, err
	}
	t.Cleanup(b.Close)
	r := &tare.Result{}
	b.Finish(r)
	return b, r, nil
}

func ids(b *benchstudy.Bench) (ids []string) {
	for _, w := range b.Study.Workloads {
		ids = append(ids, strings.TrimPrefix(w.ID, "example.com/"))
	}
	return ids
}

// left is why something is not measured.
func left(r *tare.Result, what string) string {
	for _, n := range r.NotWeighed {
		if n.What == "example.com/"+what {
			return n.Why
		}
	}
	return ""
}

const tinyMod = "module example.com/tiny\n\ngo 1.25\n"

const tinyTests = `package tiny

import (
	"fmt"
	"os"
	"testing"
	"time"
)

func BenchmarkSum(b *testing.B) {
	for _, n := range []int{1, 2} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			for b.Loop() {
				Sum(n)
			}
		})
	}
	b.Run("skipped", func(b *testing.B) { b.Skip("not here") })
}

func BenchmarkSetsUp(b *testing.B) {
	time.Sleep(30 * time.Millisecond)
	for b.Loop() {
		Sum(1)
	}
}

func BenchmarkPrints(b *testing.B) {
	fmt.Print("hello ")
	for b.Loop() {
		Sum(1)
	}
	fmt.Println("1 world")
}

func BenchmarkPanics(b *testing.B) { panic("boom") }
func BenchmarkFails(b *testing.B)  { b.Fatal("no luck") }
func BenchmarkSkips(b *testing.B)  { b.Skip("not today") }
func BenchmarkExits(b *testing.B)  { os.Exit(3) }
func BenchmarkHangs(b *testing.B)  { time.Sleep(time.Hour) }
func BenchmarkSleeps(b *testing.B) { time.Sleep(10 * time.Millisecond) }

func busy(n int) (sum int) {
	for i := range n {
		sum += i * sum
	}
	return sum
}

func BenchmarkAround(b *testing.B) {
	time.Sleep(100 * time.Millisecond)
	for i := 0; i < b.N; i++ {
		Sum(busy(100))
	}
}
`

func TestBenchmarksOfTwoRevisions(t *testing.T) {
	if testing.Short() {
		t.Skip("builds many packages twice, and waits for those that hang")
	}
	t.Parallel() // it waits for what hangs
	dir := filepath.Join(t.TempDir(), "repo")
	repository(t, dir, map[string]string{
		"go.mod": tinyMod, "tiny.go": "package tiny\n\nfunc Sum(n int) int { return n }\n", "tiny_test.go": tinyTests,
		"old/old_test.go": "package old\n\nimport \"testing\"\n\nfunc BenchmarkOld(b *testing.B) {}\n",
		"bad/bad_test.go": "package bad\n\nimport \"testing\"\n\nfunc BenchmarkBad(b *testing.B) {}\n",
	})
	git(t, dir, "rm", "-q", "-r", "old")
	write(t, dir, map[string]string{
		"new_test.go":     "package tiny_test\n\nimport \"testing\"\n\nfunc BenchmarkNew(b *testing.B) {\n\tfor b.Loop() {\n\t\t_ = 1\n\t}\n}\n",
		"bad/bad_test.go": "package bad\n\nimport \"testing\"\n\nfunc BenchmarkBad(b *testing.B) { undefined() }\n",
	})
	before := git(t, dir, "status", "--porcelain", "--ignored") + git(t, dir, "write-tree")
	b, r, err := newBench(t, benchstudy.Request{Dir: dir, Base: "one"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ids(b), []string{"tiny.BenchmarkSum/n=1", "tiny.BenchmarkSum/n=2", "tiny.BenchmarkSetsUp", "tiny.BenchmarkPrints", "tiny.BenchmarkAround"}; !slices.Equal(got, want) {
		t.Errorf("measured %q, want %q", got, want)
	}
	for what, want := range map[string]string{
		"tiny.BenchmarkPanics": "both sides: it ends the process: exit status 2: panic: boom",
		"tiny.BenchmarkFails":  "both sides: it fails: tiny_test.go:37: no luck",
		"tiny.BenchmarkSkips":  "both sides: it is skipped: tiny_test.go:38: not today",
		"tiny.BenchmarkExits":  "both sides: it ends the process: exit status 3",
		"tiny.BenchmarkHangs":  "both sides: it takes too long: it did not end within 5s",
		"tiny.BenchmarkSleeps": "both sides: its time does not grow with the iterations asked for: there is no loop over b.N in it",
		"tiny.BenchmarkNew":    "it is in head only",
		"tiny/old":             "it has benchmarks in base only",
		"tiny/bad":             "head does not build: bad/bad_test.go:5:35: undefined: undefined",
	} {
		if got := left(r, what); got != want {
			t.Errorf("%s is left out because %q, want %q", what, got, want)
		}
	}
	if err := b.Study.Validate(); err != nil {
		t.Error(err)
	}
	// On a busy machine testing may take so long around a benchmark that any of
	// them is measured in whole runs; the last one is on every machine.
	for i, w := range b.Study.Workloads {
		whole := slices.ContainsFunc(r.Findings, func(f tare.Finding) bool { return f.Workload == w.ID && f.Check == "whole-runs" })
		if whole != (w.Set[gobench.SetRun] != "") || i == len(b.Study.Workloads)-1 && !whole {
			t.Errorf("%s in whole runs: %v, %v; findings %v", w.ID, whole, w.Set, r.Findings)
		}
		noted := slices.ContainsFunc(r.Findings, func(f tare.Finding) bool { return f.Workload == w.ID && f.Severity == tare.Note })
		if i == 2 && (!noted || !whole && w.Slice <= b.SliceTime) { // it takes 60 ms to set up: once alone and once more
			t.Errorf("slices of %s: %v, findings %v", w.ID, w.Slice, r.Findings)
		}
	}
	if title := b.Sources.Titles; !strings.HasPrefix(title[benchstudy.Base], "one (") || !strings.HasSuffix(title[benchstudy.Head], "with changes") {
		t.Errorf("titles: %v", title)
	}
	if after := git(t, dir, "status", "--porcelain", "--ignored") + git(t, dir, "write-tree"); after != before {
		t.Errorf("the worktree was changed:\n%s\nwas\n%s", after, before)
	}

	budget, err := b.Budget(0)
	if err != nil || budget < 15*time.Second {
		t.Errorf("budget %v, %v", budget, err)
	}
	if _, err := b.Budget(time.Second); err == nil || !strings.Contains(err.Error(), "would do") {
		t.Errorf("a second: %v", err)
	}
	if most, err := b.Budget(budget / 2); err != nil || most > budget/2 {
		t.Errorf("half of the budget: %v, %v", most, err)
	}
}

func TestModulesAroundTheRepository(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the benchmarks of four modules")
	}
	t.Parallel()
	parent := t.TempDir()
	write(t, parent, map[string]string{"beside/go.mod": "module example.com/beside\n\ngo 1.25\n", "beside/beside.go": "package beside\n\nfunc One() int { return 1 }\n"})
	const bench = "package %s\n\nimport (\n\t\"testing\"\n\n\t\"example.com/beside\"\n)\n\nfunc BenchmarkOne(b *testing.B) {\n\tfor b.Loop() {\n\t\tbeside.One()\n\t}\n}\n"
	dir := filepath.Join(parent, "repo")
	repository(t, dir, map[string]string{
		"sub/go.mod":      "module example.com/sub\n\ngo 1.25\n\nrequire example.com/beside v0.0.0\n\nreplace example.com/beside => ../../beside\n",
		"sub/s_test.go":   strings.ReplaceAll(bench, "%s", "sub"),
		"work/go.work":    "go 1.25\n\nuse (\n\t./a\n\t./beside\n)\n",
		"work/out/go.mod": "module example.com/out\n\ngo 1.25\n",
		"work/out/o.go":   "package out\n",
		"work/a/go.mod":   "module example.com/a\n\ngo 1.25\n",
		"work/a/a.go":     "package a\n",
		"work/a/a_t.txt":  "",

		"work/a/a_test.go":      strings.ReplaceAll(bench, "%s", "a"),
		"work/beside/go.mod":    "module example.com/beside\n\ngo 1.25\n",
		"work/beside/beside.go": "package beside\n\nfunc One() int { return 1 }\n",

		"vendored/go.mod":                              "module example.com/vendored\n\ngo 1.25\n\nrequire example.com/beside v1.0.0\n",
		"vendored/v_test.go":                           strings.ReplaceAll(bench, "%s", "vendored"),
		"vendored/vendor/modules.txt":                  "# example.com/beside v1.0.0\n## explicit; go 1.25\nexample.com/beside\n",
		"vendored/vendor/example.com/beside/beside.go": "package beside\n\nfunc One() int { return 1 }\n",
	})
	for _, name := range []string{"sub", "work/a", "vendored"} {
		b, _, err := newBench(t, benchstudy.Request{Dir: filepath.Join(dir, name), Base: "one", OneBuild: true})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := filepath.Base(name) + ".BenchmarkOne"; !slices.Equal(ids(b), []string{want}) {
			t.Errorf("%s: measured %q, want %s", name, ids(b), want)
		}
	}
	b, _, err := newBench(t, benchstudy.Request{Dir: filepath.Join(dir, "work"), Base: "one", OneBuild: true, Packages: []string{"./..."}})
	if err != nil || !slices.Equal(ids(b), []string{"a.BenchmarkOne"}) {
		t.Errorf("above the modules of a go.work: %v, %v", b, err)
	}
	_, _, err = newBench(t, benchstudy.Request{Dir: filepath.Join(dir, "work/out"), Base: "one"})
	var usage *benchstudy.UsageError
	if !errors.As(err, &usage) || usage.Nothing || !strings.Contains(err.Error(), "no module that go.work lists; go work use adds one") {
		t.Errorf("a module that go.work does not list: %v", err)
	}
	if status := git(t, dir, "status", "--porcelain", "--ignored"); status != "" {
		t.Errorf("the worktree was changed:\n%s", status)
	}
}

func TestWhatIsAskedInVain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "repo")
	repository(t, dir, map[string]string{"go.mod": tinyMod, "tiny.go": "package tiny\n\nfunc Sum(n int) int { return n }\n", "tiny_test.go": tinyTests})
	write(t, dir, map[string]string{"tiny.go": "package tiny\n\nfunc Sum(n int) int { return m }\n", "README.md": "changed"})
	git(t, dir, "commit", "-qam", "broken")
	git(t, dir, "tag", "broken")
	for _, tt := range []struct {
		asked benchstudy.Request
		want  string
	}{
		{benchstudy.Request{}, "there is nothing to compare"},
		{benchstudy.Request{Base: "nosuch"}, `--base: no revision "nosuch"`},
		{benchstudy.Request{Base: "one", Head: "nosuch"}, `--head: no revision "nosuch"`},
		{benchstudy.Request{Base: "broken", Head: "one", Bench: "Sum"}, "base does not build: tiny.go:3:30: undefined: m"},
		{benchstudy.Request{Base: "one", Bench: "Sum"}, "head does not build: tiny.go:3:30: undefined: m"},
		{benchstudy.Request{Base: "one", Head: "one", Packages: []string{"./nosuch"}}, "no benchmark in ./nosuch"},
		{benchstudy.Request{Base: "one", Packages: []string{dir}}, "absolute path"},
		{benchstudy.Request{Changed: true, Tags: "x"}, "--changed needs --base"},
		{benchstudy.Request{With: []build.With{{Path: "example.com/other", Version: "v1.0.0"}}}, "does not require example.com/other"},
		{benchstudy.Request{Base: "one", Head: "one", Changed: true}, "is reached by what changed"},
	} {
		tt.asked.Dir = dir
		_, _, err := newBench(t, tt.asked)
		var usage *benchstudy.UsageError
		var broken *suite.BuildError
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") || !errors.As(err, &usage) && !errors.As(err, &broken) {
			t.Errorf("%+v: %v; want one line with %q", tt.asked, err, tt.want)
		}
	}
}

// What is wrong with a request and shows without a build is told by Check.
func TestCheck(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "repo")
	repository(t, dir, map[string]string{"go.mod": tinyMod, "tiny_test.go": tinyTests})
	write(t, dir, map[string]string{"new/new_test.go": "package new\n\nimport \"testing\"\n\nfunc BenchmarkUntracked(b *testing.B) {}\n"})
	for _, tt := range []struct {
		asked benchstudy.Request
		want  string // "" if nothing is wrong
	}{
		{benchstudy.Request{Base: "one"}, ""},
		{benchstudy.Request{Base: "one", Bench: "Sum/n=1|Nothing"}, ""},
		{benchstudy.Request{Base: "one", Bench: "Untracked"}, ""},
		{benchstudy.Request{Base: "one", Head: "one", Bench: "Untracked"}, "no benchmark in ./... matches Untracked"},
		{benchstudy.Request{Base: "one", Bench: "^Sum"}, "no benchmark in ./... matches ^Sum"},
		{benchstudy.Request{Base: "one", Bench: "^Sum", Packages: []string{"example.com/other"}}, ""},
		{benchstudy.Request{Base: "one", Bench: "Sum/[x"}, `--bench "Sum/[x": error parsing regexp`},
		{benchstudy.Request{Base: "nosuch"}, `--base: no revision "nosuch"`},
		{benchstudy.Request{Base: "one", Head: "nosuch"}, `--head: no revision "nosuch"`},
		{benchstudy.Request{Bench: "Sum"}, "there is nothing to compare"},
	} {
		tt.asked.Dir = dir
		err := tt.asked.Check(t.Context())
		var usage *benchstudy.UsageError
		if tt.want == "" && err != nil || tt.want != "" && (!errors.As(err, &usage) || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%+v: %v, want %q", tt.asked, err, tt.want)
		}
	}
}
