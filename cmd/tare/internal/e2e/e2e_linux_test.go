// Package e2e runs the real program on real contenders, the hostile ones
// included, and looks at what stays behind.
package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cli"
	"github.com/tarebench/tare/cmd/tare/internal/testtare"
)

func TestMain(m *testing.M) { os.Exit(testtare.Main(m, cli.RunProcess)) }

// bench is a tare program with a data and a temporary directory of its own. It uses
// the cache that all tests share.
type bench struct {
	bin, cache, data, tmp string
}

func newBench(t *testing.T) bench {
	t.Helper()
	return bench{bin: testtare.Program(t), cache: testtare.Cache(t), data: t.TempDir(), tmp: t.TempDir()}
}

func (b bench) command(args ...string) *exec.Cmd {
	cmd := exec.Command(b.bin, args...)
	cmd.Env = append(os.Environ(), "TARE_CACHE="+b.cache, "TARE_DATA="+b.data, "TMPDIR="+b.tmp, ofBench+b.tmp, "TARE_LOCK=test-"+filepath.Base(filepath.Dir(b.data)))
	return cmd
}

// run runs tare to its end.
func (b bench) run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := b.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, isExit := err.(*exec.ExitError); err != nil && !isExit {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// ofBench is the variable that tells whose a build is: its temporary directory is another.
const ofBench = "TEST_OF_BENCH="

// left lists the processes that the bench's tare started, and tare itself. Contenders
// run out of a shared cache, so the temporary directory tells whose they are.
func (b bench) left() []string {
	var out []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		text, _ := os.ReadFile(filepath.Join(d, "environ")) // or it has ended
		env := strings.Split(string(text), "\x00")
		exe, _ := os.Readlink(filepath.Join(d, "exe"))
		if exe == b.bin || slices.Contains(env, "TMPDIR="+b.tmp) || slices.Contains(env, ofBench+b.tmp) {
			args, _ := os.ReadFile(filepath.Join(d, "cmdline"))
			out = append(out, filepath.Base(d)+" "+exe+" "+strings.TrimRight(strings.ReplaceAll(string(args), "\x00", " "), " "))
		}
	}
	return out
}

// nothingLeft waits a moment for the last processes to go.
func (b bench) nothingLeft(t *testing.T, when string) {
	t.Helper()
	var left []string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if left = b.left(); len(left) == 0 {
			return
		}
	}
	t.Errorf("%s: still running a minute later: %s", when, strings.Join(left, ", "))
}

func TestAStudySurvivesHostileContenders(t *testing.T) {
	if testing.Short() {
		t.Skip("builds ten contenders, and waits for those that hang")
	}
	t.Parallel() // it waits for contenders that hang
	b := newBench(t)
	stdout, stderr, code := b.run(t, "run", "testdata/hostile.yaml", "--rounds", "6", "--json", "--quiet")
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	var r tare.Result
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]struct{ check, says string }{
		"hang":    {"trial", "hung"},
		"crash":   {"trial", "exit status 3"},
		"panic":   {"trial", "panic: made up"},
		"flood":   {"trial", "64 MiB"},
		"garbage": {"trial", "this is not the protocol"},
		"hoard":   {"trial", "memory"},
		"wrong":   {"wrong-answer", "4 of 4"},
		"errors":  {"error-in-loop", "made up"},
		"broken":  {"build", "main.go:6:33: undefined: nonsense"},
	} {
		i := slices.IndexFunc(r.Findings, func(f tare.Finding) bool { return f.Contender == id && f.Check == want.check })
		if i < 0 {
			t.Errorf("%s: no finding of %s", id, want.check)
			continue
		}
		f := r.Findings[i]
		if f.Severity != tare.Void || !strings.Contains(f.Message, want.says) && !(id == "hoard" && strings.Contains(f.Message, "hung")) || strings.Contains(f.Message, "\n") || f.Advice == "" {
			t.Errorf("%s: %+v, want a void of one line that says %q, with advice", id, f, want.says)
		}
	}
	published(t, stdout)
	if r.RoundsDone != 6 {
		t.Errorf("%d rounds, want 6: the study goes on without those that failed", r.RoundsDone)
	}
	for _, id := range []string{"twin-sound", "fork"} {
		if !testing.Short() && !slices.ContainsFunc(r.Comparisons, func(c tare.Comparison) bool { return c.Contender == id && c.Low > 0 }) {
			t.Errorf("%s, which is sound, was not compared", id)
		}
	}
	b.nothingLeft(t, "after the study")
}

// published holds a document against the schema that is published for it.
func published(t *testing.T, document string) {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile("../../../../docs/schema/result.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(v); err != nil {
		t.Errorf("the result is not as its schema says: %v", err)
	}
}

// tare is killed in the middle of a run, while a contender has a child in a session of
// its own. Nothing stays behind, and the run is resumed with the rounds that its journal
// has.
func TestKilledRunIsResumed(t *testing.T) {
	if testing.Short() {
		t.Skip("builds contenders, and kills runs until one is in the right state")
	}
	t.Parallel()
	b := newBench(t)
	args := []string{"run", "testdata/kill.yaml", "--rounds", "3", "--json"}
	kept := 0
	hasChild := func(process string) bool { return strings.HasSuffix(process, " child") }
	for kept == 0 { // on a busy machine it can be over before this process sees a child of the second round
		cmd := b.command(args...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for running := true; running && (b.rounds(t) == 0 || !slices.ContainsFunc(b.left(), hasChild)); {
			select {
			case err := <-ended:
				if ended <- err; b.rounds(t) == 0 {
					t.Fatalf("it ended before its first round: %v\n%s", err, errs.String())
				}
				running = false
			case <-time.After(5 * time.Millisecond): // it reads all of /proc
			}
		}
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		<-ended
		b.nothingLeft(t, "after the kill")
		if kept = b.rounds(t); kept >= 3 {
			b.removeRuns(t)
			kept = 0
		}
	}
	stdout, stderr, code := b.run(t, append(args, "--resume")...)
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	var r tare.Result
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	if resumed := fmt.Sprintf("resumed after round %d ", kept); r.RoundsDone != 3 || len(b.journals(t)) != 1 || !strings.Contains(stderr, resumed) {
		t.Errorf("%d rounds in %d journals, want 3 in one, and %q in\n%s", r.RoundsDone, len(b.journals(t)), resumed, stderr)
	}
	b.nothingLeft(t, "at the end")
}

// tare is killed at any moment: while it builds, pilots or measures. Nothing
// stays behind, at most the round in flight is lost, and the run is resumed.
func TestKilledAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("builds again and again")
	}
	b := newBench(t)
	b.cache = t.TempDir() // compilers are killed, too
	rng := rand.New(rand.NewPCG(20260301, 1))
	kills := 10
	if os.Getenv("TARE_SOAK") != "" {
		kills = 100
	}
	args := []string{"run", "testdata/kill.yaml", "--rounds", "8", "--quiet", "--json"}
	resumed, kept := 0, 0
	window := 2 * time.Second
	for i := range kills {
		if i%10 == 9 && resumed == 0 { // a busy machine has not begun to measure by then
			window = min(2*window, 30*time.Second)
		}
		if len(b.journals(t)) > 0 && !slices.Contains(args, "--resume") {
			args = append(args, "--resume")
		}
		cmd := b.command(args...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Early kills hit the compiler, later ones the measuring.
		time.Sleep(time.Duration(rng.Float64() * float64(window)))
		cmd.Process.Signal(syscall.SIGKILL)
		cmd.Wait()
		b.nothingLeft(t, fmt.Sprintf("kill %d", i+1))
		now := b.rounds(t)
		if now < kept {
			t.Fatalf("kill %d: %d whole rounds were there before, %d after: resuming lost some", i+1, kept, now)
		}
		if now > kept && kept > 0 {
			resumed++
		}
		if kept = now; now >= 8 { // it was over, or nearly: start anew
			kept = 0
			b.removeRuns(t)
			args = slices.DeleteFunc(args, func(a string) bool { return a == "--resume" })
		}
	}
	if len(b.journals(t)) > 0 && !slices.Contains(args, "--resume") {
		args = append(args, "--resume")
	}
	stdout, stderr, code := b.run(t, args...)
	if code != 0 {
		t.Fatalf("the last run: exit code %d\n%s", code, stderr)
	}
	var r tare.Result
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	if r.RoundsDone != 8 {
		t.Errorf("%d rounds after %d kills, want 8", r.RoundsDone, kills)
	}
	if resumed == 0 && os.Getenv("TARE_SOAK") != "" {
		t.Error("no run went on where the one before it was killed")
	}
	t.Logf("%d kills, %d of them in runs that had gone on from an earlier one's rounds", kills, resumed)
}

// journals lists the journals of unfinished and finished runs.
func (b bench) journals(t *testing.T) []string {
	t.Helper()
	js, err := filepath.Glob(filepath.Join(b.data, "results", "kill", "*", "journal.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// removeRuns removes the runs and their journals.
func (b bench) removeRuns(t *testing.T) {
	t.Helper()
	for _, j := range b.journals(t) {
		if err := os.RemoveAll(filepath.Dir(j)); err != nil {
			t.Fatal(err)
		}
	}
}

// rounds counts the whole rounds in the newest journal.
func (b bench) rounds(t *testing.T) int {
	t.Helper()
	js := b.journals(t)
	if len(js) == 0 {
		return 0
	}
	slices.Sort(js)
	src, err := os.ReadFile(js[len(js)-1])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(src), "\n"+`{"round":{`)
}

func TestExitCodesOfBadInput(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	sound := "study: s\nquestion: q\nkinds: [codec]\nbaseline: encoding-json\ncontenders: [encoding-json]\n" +
		"workloads:\n  - {id: w, fixture: devices, n: 1, op: marshal}\nmetrics: [time]\n"
	for _, c := range []struct {
		name string
		args []string
		env  []string
		code int
		says string
	}{
		{"unknown study", []string{"run", "json-encoed"}, nil, 2, "json-encode"},
		{"malformed", []string{"run", write("bad.yaml", "study: s\nquestion: [\n")}, nil, 2, "bad.yaml:"},
		{"wrong field", []string{"run", write("field.yaml", strings.Replace(sound, "op: marshal", "op: marshal, size: 3", 1))}, nil, 2, "field.yaml:7:"},
		{"unknown baseline", []string{"run", write("base.yaml", strings.Replace(sound, "baseline: encoding-json", "baseline: nobody", 1))}, nil, 2, "base.yaml:4:"},
		{"unknown contender", []string{"run", write("who.yaml", strings.ReplaceAll(sound, "encoding-json", "encodin-json"))}, nil, 2, "encoding-json"},
		{"unknown op", []string{"run", write("op.yaml", strings.Replace(sound, "op: marshal", "op: sing", 1))}, nil, 2, "marshal, stream"},
		{"budget below the least", []string{"run", write("ok.yaml", sound), "--budget", "1ms"}, nil, 2, "the least is --budget 5s"},
		{"unknown flag", []string{"run", "--nonsense"}, nil, 2, "--nonsense"},
		{"nothing to resume", []string{"run", write("ok2.yaml", sound), "--resume"}, nil, 2, "resume"},
		{"no toolchain", []string{"run", write("ok3.yaml", sound)}, []string{"PATH=" + dir}, 1, "go"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := b.command(append(c.args, "--quiet")...)
			cmd.Env = append(cmd.Env, c.env...)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			cmd.Run()
			text := strings.TrimSpace(errs.String())
			if code := cmd.ProcessState.ExitCode(); code != c.code {
				t.Errorf("exit code %d, want %d: %s", code, c.code, text)
			}
			if strings.Count(text, "\n") != 0 || !strings.Contains(text, c.says) {
				t.Errorf("stderr is %q, want one line with %q", text, c.says)
			}
		})
	}
}

// A cache that cannot be written is said in one line. Root may write anywhere,
// so the cache is a file here.
func TestACacheThatCannotBeWritten(t *testing.T) {
	b := newBench(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	b.cache = filepath.Join(file, "cache")
	_, stderr, code := b.run(t, "run", "json-encode", "--quiet")
	if code != 1 || strings.Count(strings.TrimSpace(stderr), "\n") != 0 || !strings.Contains(stderr, file) {
		t.Errorf("exit code %d, stderr %q; want 1 and one line", code, stderr)
	}
}
