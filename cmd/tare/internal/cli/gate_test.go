package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gate"
	"github.com/tarebench/tare/cmd/tare/internal/cli"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/project"
)

// gated is a repository with a change, and what its benchmarks are to show.
type gated struct {
	t     *testing.T
	dir   string
	bench gate.Bench
	asked []gate.Request
	env   map[string]string

	stdout, stderr bytes.Buffer
}

func newGated(t *testing.T) *gated {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here")
	}
	g := &gated{t: t, dir: t.TempDir(), env: map[string]string{}}
	g.git("init", "--quiet", "--initial-branch=main")
	g.write("go.mod", "module example.com/m\n")
	g.write("sub/x_test.go", "package x\n\nimport \"testing\"\n\nfunc BenchmarkX(b *testing.B) {}\n")
	g.git("add", ".")
	g.git("commit", "--quiet", "-m", "base")
	g.write("sub/x.go", "package x\n")
	t.Chdir(filepath.Join(g.dir, "sub"))
	return g
}

func (g *gated) git(args ...string) {
	g.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", g.dir, "-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		g.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (g *gated) write(name, text string) {
	g.t.Helper()
	path := filepath.Join(g.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		g.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		g.t.Fatal(err)
	}
}

// run is tare gate with args.
func (g *gated) run(args ...string) int {
	g.stdout.Reset()
	g.stderr.Reset()
	ctx := gate.WithBench(context.Background(), func(ctx context.Context, ask gate.Request) (gate.Measured, error) {
		g.asked = append(g.asked, ask)
		return g.bench(ctx, ask)
	})
	return cli.Main(ctx, cmdenv.Env{
		Args: append([]string{"gate"}, args...), Getenv: func(k string) string { return g.env[k] }, In: strings.NewReader(""), Out: &g.stdout, Err: &g.stderr,
		Now: func() time.Time { return time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC) },
	})
}

// shows is benchmarks of which the first is by so much slower, in rounds that
// swing by noise; a void one is void.
func shows(ratio, noise float64, void bool) gate.Bench {
	return func(context.Context, gate.Request) (gate.Measured, error) {
		const id, n = "example.com/m/sub.BenchmarkX", 27
		r := &tare.Result{
			Schema: tare.ResultSchema, Study: "bench",
			Design: tare.Design{
				Metrics: []string{"time", "allocs"}, Plan: tare.Plan{Looks: []int{n}},
				Workloads: []tare.Workload{{ID: id}},
			},
			Measured: tare.Measured{RoundsDone: n}, Run: tare.Run{Seconds: 27},
		}
		e := tare.Effects{Workload: id, Metric: "time", A: gate.HeadID, B: gate.BaseID}
		for i := range n {
			e.Effects = append(e.Effects, math.Log(ratio)+noise*math.Sin(float64(7*i)))
			for _, side := range []string{gate.BaseID, gate.HeadID} {
				r.Trials = append(r.Trials, tare.Trial{Round: i + 1, Tau: 1, Contender: side, Samples: map[string]tare.Sample{id: {"allocs_per_op": 1}}})
			}
		}
		r.Rounds = []tare.Effects{e}
		r.Values = []tare.Value{{Workload: id, Contender: gate.BaseID, Metric: "time", Value: 1000}, {Workload: id, Contender: gate.HeadID, Metric: "time", Value: 1000 * ratio}}
		if void {
			r.Findings = []tare.Finding{{Check: "error-in-loop", Severity: tare.Void, Contender: gate.HeadID, Workload: id, Message: "it failed"}}
		}
		return gate.Measured{Head: "worktree", Results: []*tare.Result{r}}, nil
	}
}

func TestGateExitCodes(t *testing.T) {
	g := newGated(t)
	for name, c := range map[string]struct {
		bench gate.Bench
		yaml  string
		want  int
	}{
		"passes":                 {shows(1, 0.001, false), "", cmdenv.ExitOK},
		"slower":                 {shows(1.2, 0.001, false), "", cmdenv.ExitNotMet},
		"slower, within more":    {shows(1.2, 0.001, false), "gate: {margin: 30%}", cmdenv.ExitOK},
		"slower, within its own": {shows(1.2, 0.001, false), "gate: {margins: {benchmark: BenchmarkX, metric: time, margin: 30%}}", cmdenv.ExitOK},
		"faster":                 {shows(0.5, 0.001, false), "", cmdenv.ExitOK},
		"slower, waived":         {shows(1.2, 0.001, false), "accept: {benchmark: BenchmarkX, until: 2026-06-01, reason: x}", cmdenv.ExitOK},
		"slower, waiver over":    {shows(1.2, 0.001, false), "accept: {benchmark: BenchmarkX, until: 2026-05-31, reason: x}", cmdenv.ExitNotMet},
		"open":                   {shows(1, 0.4, false), "", cmdenv.ExitOK},
		"open, and that fails":   {shows(1, 0.4, false), "gate: {on_inconclusive: fail}", cmdenv.ExitInconclusive},
		"void":                   {shows(1, 0.001, true), "", cmdenv.ExitVoid},
		"interrupted": {func(context.Context, gate.Request) (gate.Measured, error) {
			return gate.Measured{}, cmdenv.ErrInterrupted
		}, "", cmdenv.ExitInterrupted},
		"something failed": {func(context.Context, gate.Request) (gate.Measured, error) {
			return gate.Measured{}, errors.New("disk on fire")
		}, "", cmdenv.ExitFailure},
		"does not build": {func(context.Context, gate.Request) (gate.Measured, error) {
			return gate.Measured{}, cmdenv.Usage("head does not build", "")
		}, "", cmdenv.ExitUsage},
		"no benchmarks": {func(context.Context, gate.Request) (gate.Measured, error) {
			return gate.Measured{Nothing: "no benchmark in ./..."}, nil
		}, "", cmdenv.ExitOK},
		"a bad tare.yaml": {shows(1, 0.001, false), "gate: {margin: 5}", cmdenv.ExitUsage},
	} {
		g.bench = c.bench
		g.write("tare.yaml", c.yaml+"\n")
		if c.yaml == "" {
			g.write("tare.yaml", "bench:\n  run: .\n")
		}
		if got := g.run(); got != c.want {
			t.Errorf("%s: exit code %d, want %d\n%s%s", name, got, c.want, g.stdout.String(), g.stderr.String())
		}
	}
}

func TestGateAsksAsTheProjectSays(t *testing.T) {
	g := newGated(t)
	g.bench = shows(1, 0.001, false)
	g.write("tare.yaml", "bench: {packages: ./sub, run: X, env: [GOGC=50], budget: 30s}\ngate: {base: merge-base main, metrics: [time, bytes]}\n")
	if code := g.run("--seed", "7"); code != cmdenv.ExitOK {
		t.Fatalf("exit code %d: %s", code, g.stderr.String())
	}
	ask := g.asked[0]
	if ask.Project.Dir != g.real() || len(ask.Base) != 40 || ask.Head != gate.Worktree || ask.Seed != 7 || ask.Project.Bench.Run != "X" || ask.Project.Gate.Base != "merge-base main" {
		t.Errorf("asked %+v", ask)
	}
	if c := ask.Criteria("head", nil); len(c) != 2 || c[0].Ratio != "<= 1.05" || c[1].Metric != "bytes" {
		t.Errorf("criteria %+v", c)
	}
	if code := g.run("--base", "main"); code != cmdenv.ExitOK || g.asked[1].Base != "main" {
		t.Errorf("exit code %d, base %q", code, g.asked[1].Base)
	}
}

// real is the repository without links in its path, as the working directory is.
func (g *gated) real() string {
	dir, err := filepath.EvalSymlinks(g.dir)
	if err != nil {
		g.t.Fatal(err)
	}
	return dir
}

func TestGateRefuses(t *testing.T) {
	g := newGated(t)
	g.bench = func(context.Context, gate.Request) (gate.Measured, error) {
		t.Error("measured all the same")
		return gate.Measured{}, nil
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--base", "nosuch"}, `tare: there is no revision "nosuch" to compare the head with`},
		{[]string{"--head", "nosuch"}, `tare: there is no revision "nosuch" to measure; git log shows which there are`},
		{[]string{"--base", "merge-base nosuch"}, `tare: there is no revision "nosuch" to have left`},
		{[]string{"--base=--x"}, "tare: a revision does not begin with -; e.g. --base origin/main"},
		{[]string{"--format", "html"}, `tare: --format "html" is not a format of a gate; one of text, md, json`},
		{[]string{"--json", "--format", "md"}, "tare: --json and --format md contradict each other; give one of them"},
		{[]string{"--rounds", "0"}, "tare: --rounds 0 is not a number of rounds; at least 1"},
		{[]string{"--rounds", "3", "--budget", "9s"}, "tare: --rounds and --budget contradict each other; give one of them"},
		{[]string{"./sub"}, `tare: tare gate: unexpected argument "./sub"; `},
		{[]string{"-o", "."}, "tare: cannot write .: it is a directory; name a file"},
	} {
		if code := g.run(c.args...); code != cmdenv.ExitUsage || !strings.HasPrefix(g.stderr.String(), c.want) {
			t.Errorf("%q: exit code %d: %s", c.args, code, g.stderr.String())
		}
	}
	g.write("tare.yaml", "gate:\n  margn: 5%\n")
	if code := g.run(); code != cmdenv.ExitUsage || g.stderr.String() != "tare: tare.yaml:2:3: unknown key \"margn\"; did you mean margin?\n" {
		t.Errorf("exit code %d: %s", code, g.stderr.String())
	}
	t.Chdir(t.TempDir())
	if code := g.run(); code != cmdenv.ExitUsage || !strings.HasPrefix(g.stderr.String(), "tare: a gate needs a git repository and the git command: ") {
		t.Errorf("outside of a repository: exit code %d: %s", code, g.stderr.String())
	}
}

// What lies between one commit and itself is not measured.
func TestGateOfOneCommit(t *testing.T) {
	g := newGated(t)
	g.bench = func(context.Context, gate.Request) (gate.Measured, error) {
		return gate.Measured{}, errors.New("measured")
	}
	if code := g.run("--base", "main", "--head", "HEAD"); code != cmdenv.ExitOK || !strings.Contains(g.stdout.String(), "nothing to compare: base and head are one and the same commit, ") {
		t.Errorf("exit code %d\n%s%s", code, g.stdout.String(), g.stderr.String())
	}
	if code := g.run(); code != cmdenv.ExitFailure { // the worktree has a change
		t.Errorf("exit code %d\n%s", code, g.stdout.String())
	}
}

// A change that also changes its rules gets a warning. Where the base asks for a
// review, the base's rules hold until there is one, which also accepts what is
// worse.
func TestGateOfChangedRules(t *testing.T) {
	g := newGated(t)
	commit := func(yaml string) {
		g.write("tare.yaml", yaml)
		g.git("add", "tare.yaml")
		g.git("commit", "--quiet", "--allow-empty", "-m", "rules")
	}
	reviews := filepath.Join(t.TempDir(), "reviews")
	if err := os.WriteFile(reviews, []byte("Well done.\n\n slower is fine \n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const changed = "warning: this change also changes what it is judged by: gate.margin was 5 % and is 30 %"
	for name, c := range map[string]struct {
		base, head string
		args       []string
		ratio      float64
		want       int
		said       []string
	}{
		"the same rules":           {"gate: {margin: 5%}", "gate: {margin: 5%}", nil, 1.2, cmdenv.ExitNotMet, []string{"blocked: of 1 benchmark 1 is slower"}},
		"no review asked for":      {"gate: {margin: 5%}", "gate: {margin: 30%}", nil, 1.2, cmdenv.ExitOK, []string{changed + "\n"}},
		"no review":                {"gate: {margin: 5%, review: slower is fine}", "gate: {margin: 30%, review: slower is fine}", nil, 1.2, cmdenv.ExitNotMet, []string{changed + `; the base's rules hold until a reviewer accepts the change with a line "slower is fine"`, "a reviewer accepts it, approving the change with a line"}},
		"a review of another word": {"gate: {margin: 5%, review: slower}", "gate: {margin: 30%}", []string{"--reviews", reviews}, 1.2, cmdenv.ExitNotMet, []string{"gate.review was slower and is not set; the base's rules hold"}},
		"a review":                 {"gate: {margin: 5%, review: slower is fine}", "gate: {margin: 30%, review: slower is fine}", []string{"--reviews", reviews}, 1.2, cmdenv.ExitOK, []string{changed + `; a reviewer accepts it with "slower is fine"`}},
		"what a review accepts":    {"gate: {review: slower is fine}", "gate: {review: slower is fine}", []string{"--reviews", reviews}, 1.4, cmdenv.ExitOK, []string{`accepted: a reviewer wrote "slower is fine"`, "1 waived"}},
		"a waiver of its own":      {"gate: {review: slower is fine}", "gate: {review: slower is fine}\naccept: [{benchmark: ., until: 2026-12-31, reason: I say so}]", nil, 1.4, cmdenv.ExitNotMet, []string{"accept was not set and is . until 2026-12-31 (I say so); the base's rules hold"}},
		"rules taken away":         {"gate: {margin: 1%, review: slower is fine}", "", nil, 1.03, cmdenv.ExitNotMet, []string{"gate.margin was 1 % and is 5 %; the base's rules hold"}},
	} {
		commit(c.base)
		g.bench = shows(c.ratio, 0.001, false)
		if g.write("tare.yaml", c.head); c.head == "" {
			if err := os.Remove(filepath.Join(g.dir, "tare.yaml")); err != nil {
				t.Fatal(err)
			}
		}
		if code := g.run(c.args...); code != c.want {
			t.Errorf("%s: exit code %d, want %d\n%s%s", name, code, c.want, g.stdout.String(), g.stderr.String())
		}
		for _, want := range c.said {
			if !strings.Contains(g.stdout.String(), want) {
				t.Errorf("%s: no %q in\n%s", name, want, g.stdout.String())
			}
		}
		if c.base == c.head && strings.Contains(g.stdout.String(), "judged by") {
			t.Errorf("%s: changed rules in\n%s", name, g.stdout.String())
		}
	}
	if code := g.run("--reviews", reviews+"x"); code != cmdenv.ExitUsage {
		t.Errorf("no file of reviews: exit code %d", code)
	}
}

// The rules of the base are those that its own files have for the working
// directory, whatever files the change adds, moves or takes away.
func TestGateFindsTheRulesOfTheBase(t *testing.T) {
	const strict, lenient = "gate: {margin: 1%, review: slower is fine}\n", "gate: {margin: 900%, allocs: ignore}\n"
	for name, c := range map[string]struct {
		base, head map[string]string // files; of the head, an empty one is taken away
		link       string            // tare.yaml of the base, to conf.yaml
		commit     bool              // the head, on a branch
		said       string
	}{
		"another file nearer": {base: map[string]string{"tare.yaml": strict}, head: map[string]string{"sub/tare.yaml": lenient}, said: "the directory of tare.yaml was . and is sub; the base's rules hold"},
		"taken away":          {base: map[string]string{"sub/tare.yaml": strict}, head: map[string]string{"sub/tare.yaml": ""}, said: "the directory of tare.yaml was sub and is ."},
		"moved up":            {base: map[string]string{"sub/tare.yaml": strict}, head: map[string]string{"sub/tare.yaml": "", "tare.yaml": lenient}, said: "gate.allocs was exact and is ignore"},
		"another repository":  {base: map[string]string{"tare.yaml": strict}, head: map[string]string{"sub/.hg/x": "x"}, said: "gate.margin was 1 % and is 5 %"},
		"a link":              {base: map[string]string{"conf.yaml": strict}, link: "tare.yaml", head: map[string]string{"conf.yaml": lenient}, said: "gate.margin was 1 % and is 900 %"},
		"itself as the base":  {base: map[string]string{"tare.yaml": strict}, head: map[string]string{"tare.yaml": "gate: {base: HEAD}\n"}, commit: true, said: "gate.base was merge-base and is HEAD"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGated(t)
			g.bench = shows(1.03, 0.001, false)
			for path, text := range c.base {
				g.write(path, text)
			}
			if c.link != "" {
				if err := os.Symlink("conf.yaml", filepath.Join(g.dir, c.link)); err != nil {
					t.Skip(err)
				}
			}
			g.git("add", "--force", ".")
			g.git("commit", "--quiet", "-m", "rules")
			if c.commit {
				g.git("switch", "--quiet", "-c", "change")
			}
			for path, text := range c.head {
				if g.write(path, text); text == "" {
					if err := os.Remove(filepath.Join(g.dir, filepath.FromSlash(path))); err != nil {
						t.Fatal(err)
					}
				}
			}
			if c.commit {
				g.git("commit", "--quiet", "-am", "change")
			}
			if code := g.run(); code != cmdenv.ExitNotMet || !strings.Contains(g.stdout.String(), c.said) {
				t.Errorf("exit code %d, want %q in\n%s%s", code, c.said, g.stdout.String(), g.stderr.String())
			}
		})
	}
}

// Rules of the base that cannot be read do not make those of the change hold.
func TestGateNeedsTheRulesOfTheBase(t *testing.T) {
	g := newGated(t)
	g.bench = shows(1.03, 0.001, false)
	g.write("tare.yaml", "gate: {margn: 1%}\n")
	g.git("add", "tare.yaml")
	g.git("commit", "--quiet", "-m", "rules")
	g.write("tare.yaml", "gate: {margin: 900%}\n")
	for _, args := range [][]string{nil, {"--base", "HEAD"}} {
		if code := g.run(args...); code != cmdenv.ExitUsage || !strings.Contains(g.stderr.String(), `cannot be read: tare.yaml:1:8: unknown key "margn"; did you mean margin?; correct them there first`) || strings.Count(g.stderr.String(), "\n") != 1 {
			t.Errorf("%q: exit code %d, %s%s", args, code, g.stdout.String(), g.stderr.String())
		}
	}
	out, err := exec.Command("git", "-C", g.dir, "rev-parse", "HEAD:sub").Output()
	if err != nil {
		t.Fatal(err)
	}
	tree := strings.TrimSpace(string(out))
	if err := os.Remove(filepath.Join(g.dir, ".git", "objects", tree[:2], tree[2:])); err != nil {
		t.Fatal(err)
	}
	if code := g.run("--base", "HEAD"); code != cmdenv.ExitFailure || !strings.Contains(g.stderr.String(), "cannot read the rules of the base ") {
		t.Errorf("without a directory of the base: exit code %d, %s%s", code, g.stdout.String(), g.stderr.String())
	}
}

// What is recorded of a branch is measured against the reference, and blocks nothing.
func TestGateRecords(t *testing.T) {
	g := newGated(t)
	g.bench = shows(1.4, 0.001, false)
	if code := g.run("--record"); code != cmdenv.ExitUsage || !strings.Contains(g.stderr.String(), "gate: {reference: v1.4.0}") {
		t.Errorf("without a reference: exit code %d, %s", code, g.stderr.String())
	}
	g.write("tare.yaml", "gate: {reference: v1}\n")
	g.git("tag", "v1")
	g.git("add", ".")
	g.git("commit", "--quiet", "-m", "later")
	if code := g.run("--record"); code != cmdenv.ExitOK || !strings.Contains(g.stdout.String(), "recorded: of 1 benchmark 1 is slower by more than 5 %") {
		t.Errorf("exit code %d, %s%s", code, g.stdout.String(), g.stderr.String())
	}
	if ask := g.asked[len(g.asked)-1]; ask.Base != "v1" {
		t.Errorf("measured against %q", ask.Base)
	}
	if code := g.run("--record", "--base", "v1"); code != cmdenv.ExitUsage {
		t.Errorf("with --base: exit code %d", code)
	}
}

// In GitHub Actions a gate writes annotations, a summary and outputs; stdout
// stays what was asked for.
func TestGateInGitHubActions(t *testing.T) {
	g := newGated(t)
	g.bench = shows(1.2, 0.001, false)
	out := t.TempDir()
	g.env = map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": filepath.Join(out, "summary"), "GITHUB_OUTPUT": filepath.Join(out, "output")}
	if err := os.WriteFile(filepath.Join(out, "summary"), []byte("before\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	quality, doc := filepath.Join(out, "quality.json"), filepath.Join(out, "gate.json")
	if code := g.run("--json", "-o", doc, "--gitlab", quality); code != cmdenv.ExitNotMet {
		t.Fatalf("exit code %d: %s", code, g.stderr.String())
	}
	read := func(path string) string {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(src)
	}
	var rep gate.Report
	if err := json.Unmarshal(g.stdout.Bytes(), &rep); err != nil || rep.Schema != gate.Schema || !rep.Blocked || rep.OnInconclusive != project.WarnOpen || len(rep.Results) != 1 || read(doc) != g.stdout.String() {
		t.Errorf("%v: %+v", err, rep)
	}
	if want := "::error file=sub/x_test.go,line=5,title=tare gate%3A slower by > 5 %25::sub.BenchmarkX: slower by > 5 %25: +20.0 %25 time "; !strings.HasPrefix(g.stderr.String(), want) {
		t.Errorf("annotations: %s", g.stderr.String())
	}
	if s := read(filepath.Join(out, "summary")); !strings.HasPrefix(s, "before\n"+gate.Marker+"\n### tare gate: ❌ blocked: ") {
		t.Errorf("summary: %s", s)
	}
	if s := read(filepath.Join(out, "output")); s != "outcome=worse\nblocked=true\nexit-code=3\nsentence=blocked: of 1 benchmark 1 is slower by more than 5 %\n" {
		t.Errorf("outputs: %s", s)
	}
	if s := read(quality); !strings.Contains(s, `"path": "sub/x_test.go"`) || !strings.Contains(s, `"severity": "major"`) {
		t.Errorf("code quality: %s", s)
	}
}

// Every input that action.yml uses is declared, used and documented, and what
// it hands to the script is what the script reads.
func TestActionAndItsScriptAgree(t *testing.T) {
	text := func(path ...string) string {
		t.Helper()
		src, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "..", ".."}, path...)...))
		if err != nil {
			t.Fatal(err)
		}
		return string(src)
	}
	action, script, docs := text("action.yml"), text("deploy", "ci", "gate.sh"), text("deploy", "ci", "README.md")
	head, steps, _ := strings.Cut(action, "\nruns:")
	_, inputs, _ := strings.Cut(head, "\ninputs:")
	inputs, _, _ = strings.Cut(inputs, "\noutputs:")
	var declared []string
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z-]+):$`).FindAllStringSubmatch(inputs, -1) {
		declared = append(declared, m[1])
		if !strings.Contains(steps, "inputs."+m[1]) || !strings.Contains(docs, "`"+m[1]+"`") {
			t.Errorf("input %s is not used, or not in deploy/ci/README.md", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`inputs\.([a-z-]+)`).FindAllStringSubmatch(steps, -1) {
		if !slices.Contains(declared, m[1]) {
			t.Errorf("input %s is not declared", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^ +(GATE_[A-Z]+):`).FindAllStringSubmatch(steps, -1) {
		if !strings.Contains(script, "${"+m[1]+":-") {
			t.Errorf("the script does not read %s", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`gate\.sh" ([a-z]+)`).FindAllStringSubmatch(steps, -1) {
		if !strings.Contains(script, "\n"+m[1]+"() {") {
			t.Errorf("the script has no step %s", m[1])
		}
	}
}

// Where the action runs code of a pull request, nothing has a token that may write:
// the comment is written in another job, of the artifact.
func TestTheActionMeasuresWithoutATokenToWrite(t *testing.T) {
	type step struct {
		If, Uses, Run string
		With, Env     map[string]any
	}
	read := func(path, text string, into any) {
		t.Helper()
		if err := yaml.Unmarshal([]byte(text), into); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	source := func(path string) string {
		t.Helper()
		src, err := os.ReadFile(filepath.Join("..", "..", "..", "..", filepath.FromSlash(path)))
		if err != nil {
			t.Fatal(err)
		}
		return string(src)
	}
	var action struct{ Runs struct{ Steps []step } }
	read("action.yml", source("action.yml"), &action)
	for _, s := range action.Runs.Steps {
		measures := strings.Contains(s.If, "inputs.report == ''")
		comments := strings.HasSuffix(s.Run, " comment")
		if measures == comments || comments && s.If != "inputs.report != ''" || s.Env["GH_TOKEN"] != nil && !comments && !strings.HasSuffix(s.Run, " reviews") {
			t.Errorf("action.yml: step %q %q where %q, with %v", s.Uses, s.Run, s.If, s.Env)
		}
	}
	gates, reports := 0, 0
	for _, m := range regexp.MustCompile("(?s)```yaml\n(name: (?:gate|tare).*?)```").FindAllStringSubmatch(source("deploy/ci/README.md"), -1) {
		var workflow struct {
			Permissions map[string]string
			Jobs        map[string]struct {
				Permissions map[string]string
				Steps       []step
			}
		}
		read("deploy/ci/README.md", m[1], &workflow)
		for name, job := range workflow.Jobs {
			permissions := job.Permissions
			if permissions == nil {
				permissions = workflow.Permissions
			}
			checkedOut, report := false, false
			for _, s := range job.Steps {
				report = report || s.With["report"] != nil
				if strings.HasPrefix(s.Uses, "actions/checkout@") {
					if checkedOut = true; s.With["persist-credentials"] != false {
						t.Errorf("job %s leaves its token in the checkout", name)
					}
				}
			}
			writes := slices.Contains(slices.Collect(maps.Values(permissions)), "write")
			if permissions == nil || writes != report || checkedOut == report {
				t.Errorf("job %s: permissions %v, a checkout %v, only comments %v", name, permissions, checkedOut, report)
			}
			if report {
				reports++
			} else {
				gates++
			}
		}
	}
	if gates != 2 || reports != 2 {
		t.Errorf("%d jobs measure and %d comment", gates, reports)
	}
}

// Parts of a gate fail nothing by themselves; together they are judged as one.
func TestGateMerge(t *testing.T) {
	g := newGated(t)
	home := t.TempDir()
	var files []string
	for i, ratio := range []float64{1, 1.2} {
		measure := shows(ratio, 0.001, false)
		g.bench = func(ctx context.Context, ask gate.Request) (gate.Measured, error) {
			m, err := measure(ctx, ask)
			if i == 1 { // another benchmark
				text, _ := json.Marshal(m.Results)
				m.Results = nil
				err = errors.Join(err, json.Unmarshal(bytes.ReplaceAll(text, []byte("BenchmarkX"), []byte("BenchmarkY")), &m.Results))
			}
			return m, err
		}
		part := []string{"1/2", "2/2"}[i]
		files = append(files, filepath.Join(home, strings.ReplaceAll(part, "/", "-")+".json"))
		if code := g.run("--shard", part, "--changed", "-o", files[i]); code != cmdenv.ExitOK {
			t.Fatalf("%s: exit code %d: %s", part, code, g.stderr.String())
		}
		if ask := g.asked[i]; ask.Shard.String() != part || !ask.Changed {
			t.Errorf("asked %+v", ask)
		}
	}
	g.bench = nil
	if code := g.run(append([]string{"merge"}, files...)...); code != cmdenv.ExitNotMet || !strings.Contains(g.stdout.String(), "of 2 benchmarks 1 is slower by more than 5 %") {
		t.Errorf("exit code %d: %s%s", code, g.stdout.String(), g.stderr.String())
	}
	forged := filepath.Join(home, "forged.json")
	for results, want := range map[string]string{
		`[null]`:                     `no result: it has no "schema"`,
		`[{}]`:                       `schema "" is not tare.result/1`,
		`[{"schema":"tare.load/1"}]`: `schema "tare.load/1" is not tare.result/1`,
		`[{"schema":"` + tare.ResultSchema + `"}]`: "a result that names no study",
		`{}`: "is no report of tare gate",
	} {
		if err := os.WriteFile(forged, []byte(`{"schema":"`+gate.Schema+`","shard":"2/2","results":`+results+`}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if code := g.run("merge", files[0], forged); code != cmdenv.ExitUsage || !strings.Contains(g.stderr.String(), want) || strings.Count(g.stderr.String(), "\n") != 1 {
			t.Errorf("%s: exit code %d, %s", results, code, g.stderr.String())
		}
	}
	for want, args := range map[string][]string{
		"1 parts of 2 were given; missing: 2/2": {"merge", files[0]},
		"needs the files of the parts":          {"merge"},
		"no file nowhere":                       {"merge", "nowhere"},
		"is no report of tare gate":             {"merge", "x_test.go"},
		`--shard "3/2" is not a part`:           {"--shard", "3/2"},
	} {
		if code := g.run(args...); code != cmdenv.ExitUsage || !strings.Contains(g.stderr.String(), want) {
			t.Errorf("%v: exit code %d, %s", args, code, g.stderr.String())
		}
	}
}
