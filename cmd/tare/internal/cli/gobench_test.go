package cli_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
	"github.com/tarebench/tare/cmd/tare/internal/cli"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/internal/trial"
)

const benchedTests = `package tiny

import (
	"fmt"
	"testing"
)

var sink []byte

func BenchmarkMake(b *testing.B) {
	fmt.Println("a word of its own")
	for i := 0; i < b.N; i++ {
		sink = make([]byte, Size)
		sink = make([]byte, Extra)
	}
	b.ReportMetric(3, "things/op")
}

func BenchmarkFails(b *testing.B) { b.Fatal("no luck") }
`

// filesBelow lists the regular files below dir.
func filesBelow(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// call runs tare in dir and returns what it wrote.
func call(t *testing.T, dir, home string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Chdir(dir)
	return callHere(t, home, args...)
}

// callHere runs tare in the working directory.
func callHere(t *testing.T, home string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	env := map[string]string{"TARE_CACHE": filepath.Join(home, "cache"), "TARE_DATA": filepath.Join(home, "data"), "TARE_LOCK": ownLock, cmdenv.EnvCounts: "off"}
	var out, said strings.Builder
	replaced := cmdenv.Lab{Guard: func(string) (*trial.Guardian, error) { return nil, nil }}
	code = cli.Main(t.Context(), cmdenv.Env{Args: args, Getenv: func(name string) string { return env[name] }, In: strings.NewReader(""), Out: &out, Err: &said, Lab: replaced})
	return code, out.String(), said.String()
}

// newModuleDir returns a directory for a module and one for tare's files, and a function that writes a file of the
// module. It skips the test if one of commands is missing.
func newModuleDir(t *testing.T, commands ...string) (dir, home string, put func(name, text string)) {
	t.Helper()
	for _, name := range commands {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("no " + name + " command")
		}
	}
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	dir, home = t.TempDir(), t.TempDir()
	return dir, home, func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// One comparison from end to end: base and head differ by one allocation.
func TestBench(t *testing.T) {
	dir, home, put := newModuleDir(t, "git", "go")
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	put("go.mod", "module example.com/tiny\n\ngo 1.20\n")
	put("tiny.go", "package tiny\n\nvar Size, Extra = 100, 0\n")
	put("tiny_test.go", benchedTests)
	git("init", "-q", "-b", "main")
	git("add", "-A")
	git("commit", "-qm", "one")
	put("tiny.go", "package tiny\n\nvar Size, Extra = 100, 10\n")
	before := git("status", "--porcelain", "--ignored")

	file := filepath.Join(home, "result.json")
	code, out, said := call(t, dir, home, "bench", "--base", "HEAD", "--rounds", "2", "--procs", "1", "--slice", "1ms", "--no-lock", "-q", "-o", file, "--env", "DATABASE_URL=CANARY")
	if code != cmdenv.ExitOK || said != "" {
		t.Fatalf("exit code %d: %s", code, said)
	}
	for _, want := range []string{"time ", "BenchmarkMake ", "1 more", "16 more", "things/op", "(p=", "2 rounds in ", "BenchmarkFails: both sides: it fails: tiny_test.go:19: no luck"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadDir(filepath.Join(home, "data", "results"))
	if err != nil || len(kept) != 1 {
		t.Errorf("%v, %v", kept, err)
	}
	for _, name := range filesBelow(t, home) { // what --env set is in none of them
		if text, err := os.ReadFile(name); err != nil || strings.Contains(string(text), "CANARY") {
			t.Errorf("%s has the value of DATABASE_URL (%v)", name, err)
		}
	}
	var r tare.Result
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Contenders) != 3 || r.Contenders[0].Launch != tare.LaunchGobench || r.Workloads[0].ID != "example.com/tiny.BenchmarkMake" || len(r.Trials) != 6 {
		t.Errorf("%d contenders, the first by %q; workload %s; %d trials", len(r.Contenders), r.Contenders[0].Launch, r.Workloads[0].ID, len(r.Trials))
	}
	if after := git("status", "--porcelain", "--ignored"); after != before {
		t.Errorf("the worktree was changed: %s", after)
	}
	if left, _ := filepath.Glob(filepath.Join(home, "cache", "bench", "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}

	code, out, said = call(t, dir, home, "report", "--format", "benchfmt", file)
	if code != cmdenv.ExitOK {
		t.Fatalf("exit code %d: %s", code, said)
	}
	lines := map[string]int{}
	for b := benchfmt.NewReader(strings.NewReader(out), "x"); b.Scan(); {
		if res, ok := b.Result().(*benchfmt.Result); ok {
			if things, _ := res.Value("things/op"); things == 3 && res.GetConfig("pkg") == "example.com/tiny" {
				lines[res.GetConfig("contender")+" "+res.Name.String()]++
			}
		}
	}
	for _, id := range []string{"base", "head", "control"} {
		if lines[id+" Make"] != 2 {
			t.Errorf("lines of the benchmark format: %v, want two of each contender\n%s", lines, out)
		}
	}
}

func TestBenchRefuses(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	for _, tt := range []struct {
		args string
		want string
	}{
		{"", "there is nothing to compare"},
		{"--base HEAD", "a revision needs a git repository"},
		{"--base x --bench (", `--bench "("`},
		{"--base x --shard 3/2", `--shard "3/2" is not a part`},
		{"--base x --budget quick", "--budget quick is for studies"},
		{"--base x --budget 1m --rounds 3", "contradict each other"},
		{"--base x --max 1m --rounds 3", "--max and --rounds contradict each other"},
		{"--base x --max 1m --budget 30s", "--max and --budget contradict each other"},
		{"--base x --layouts 3", "--layouts 3: it is 0 or 1"},
		{"--base x --max -1s", "--max -1s"},
		{"--base x --allow 5", `--allow "5" is not a share`},
		{"--go gopher", `--go "gopher" is not a Go release`},
		{"--go go1.25.1,go1.25.2,go1.25.3", "one toolchain"},
		{"--env GOGC", `--env "GOGC" is no variable`},
		{"--with x", "neither module@version"},
		{"--tags x", "no go.mod in"},
	} {
		code, out, said := call(t, dir, home, append([]string{"bench", "-q", "--no-lock"}, strings.Fields(tt.args)...)...)
		if code != cmdenv.ExitUsage || out != "" || !strings.Contains(said, tt.want) || strings.Count(said, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q, %q; want 2 and one line with %q", tt.args, code, out, said, tt.want)
		}
	}
}

// A package whose TestMain needs a port for itself is measured next to others, and a
// line of a log that looks like a result is none.
func TestBenchOneProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("builds three packages twice, and measures them in rounds")
	}
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	dir, home := t.TempDir(), t.TempDir()
	from := filepath.Join("..", "benchstudy", "testdata", "strangers")
	for _, name := range []string{"go.mod", "fixedport/f_test.go", "healthy/h_test.go", "logline/l_test.go"} {
		text, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(home, "result.json")
	code, _, said := call(t, dir, home, "bench", "--env", "GOGC=50", "--rounds", "2", "--layouts", "1", "--no-lock", "-q", "-o", file)
	if code != cmdenv.ExitOK || said != "" {
		t.Fatalf("exit code %d: %s", code, said)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r tare.Result
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"fixedport.BenchmarkPort", "healthy.BenchmarkHealthy", "logline.BenchmarkRows"} {
		n := 0
		for _, trial := range r.Trials {
			s := trial.Samples["example.org/cases/"+name]
			if ns := s["time_ns_per_op"]; trial.Error == nil && s["errors"] == 0 && ns > 0 {
				n++
				if name == "logline.BenchmarkRows" && ns == 1.5 {
					t.Errorf("%s: the figure of its log is its result", name)
				}
			}
		}
		if want := 3 * r.RoundsDone; n < want || r.RoundsDone != 2 {
			t.Errorf("%s has %d results, want at least %d: %v, %v", name, n, want, r.Findings, r.NotWeighed)
		}
	}
}

// A request that is wrong is told so while another tare measures.
func TestWrongRequestsDoNotWait(t *testing.T) {
	for _, name := range []string{"git", "go"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("no " + name + " command")
		}
	}
	dir, home := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/tiny\n\ngo 1.20\n", "tiny_test.go": benchedTests, "tare.yaml": "bench: {run: NoSuch}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-qm", "one"}, {"commit", "-qm", "two", "--allow-empty"}} {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	release, err := machine.LockHost(t.Context(), ownLock, nil)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	t.Chdir(dir)
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"bench", "--base", "nosuch"}, cmdenv.ExitUsage, `--base: no revision "nosuch"`},
		{[]string{"bench", "--base", "HEAD", "--bench", "NoSuch"}, cmdenv.ExitUsage, "no benchmark in ./... matches NoSuch"},
		{[]string{"bench", "--base", "HEAD", "--bench", "Make/[x"}, cmdenv.ExitUsage, "missing closing ]"},
		{[]string{"bisect", "--good", "nosuch", "--bench", "Make"}, cmdenv.ExitUsage, `no revision "nosuch"`},
		{[]string{"bisect", "--good", "HEAD~1", "--bench", "NoSuch"}, cmdenv.ExitUsage, "no benchmark in ./... matches NoSuch"},
		{[]string{"gate", "--base", "nosuch"}, cmdenv.ExitUsage, `no revision "nosuch"`},
		{[]string{"gate", "--base", "HEAD~1"}, cmdenv.ExitOK, ""},
	} {
		type result struct {
			code int
			text string
		}
		ended := make(chan result, 1)
		go func() {
			code, out, said := callHere(t, home, tt.args...)
			ended <- result{code, out + said}
		}()
		select {
		case r := <-ended:
			if r.code != tt.code || !strings.Contains(r.text, tt.want) {
				t.Errorf("%v: exit code %d, %q; want %d with %q", tt.args, r.code, r.text, tt.code, tt.want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%v waits for the lock", tt.args)
		}
	}
}

// Every note that tare bench makes can be explained.
func TestBenchNotesAreExplained(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	for _, n := range benchstudy.Notes() {
		code, out, said := call(t, dir, home, "explain", n.ID)
		if code != cmdenv.ExitOK || !strings.HasPrefix(out, n.ID+" (check)\n") || !strings.Contains(out, "severity: note") {
			t.Errorf("%s: exit code %d, %q, %q", n.ID, code, out, said)
		}
	}
}
