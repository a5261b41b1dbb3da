package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/testtare"
	"github.com/tarebench/tare/internal/format"
)

// runner is a machine of a CI service, faked: the variables and files that the
// script of action.yml finds there.
type runner struct {
	dir    string // temporary files of the job
	script string
	cache  string
	path   string // tare is on it
}

func newRunner(t *testing.T) *runner {
	t.Helper()
	for _, tool := range []string{"git", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is not here")
		}
	}
	script, err := filepath.Abs("../../../../deploy/ci/gate.sh")
	if err != nil {
		t.Fatal(err)
	}
	return &runner{dir: t.TempDir(), script: script, cache: testtare.Cache(t), path: filepath.Dir(testtare.Program(t)) + ":" + os.Getenv("PATH")}
}

func (r *runner) file(name string) string { return filepath.Join(r.dir, name) }

func (r *runner) text(t *testing.T, name string) string {
	t.Helper()
	src, err := os.ReadFile(r.file(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

// step runs one step of the action in the repository at dir. Each step has
// files of its own for outputs and summary.
func (r *runner) step(t *testing.T, dir, name string, env ...string) (log string, code int) {
	t.Helper()
	for _, f := range []string{"output", "summary"} {
		if err := os.WriteFile(r.file(f), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("bash", r.script, name)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), append([]string{
		"PATH=" + r.path, "RUNNER_TEMP=" + r.dir, "GATE_OUT=" + r.file("out"), "TARE_CACHE=" + r.cache,
		"GITHUB_ACTIONS=true", "GITHUB_PATH=" + r.file("path"), "GITHUB_OUTPUT=" + r.file("output"), "GITHUB_STEP_SUMMARY=" + r.file("summary"),
		"GITHUB_REPOSITORY=you/yours", "GITHUB_BASE_REF=", "GATE_BASE=", "GATE_ARGS=", "GATE_BEFORE=", "GATE_BRANCH=", "GATE_PR=", "GATE_HEAD=", "GATE_SHA=", "GATE_RECORD=",
	}, env...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if _, isExit := err.(*exec.ExitError); err != nil && !isExit {
		t.Fatal(err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// pullRequest is a shallow clone of a branch that allocates once more than
// main, as a checkout action leaves it.
func pullRequest(t *testing.T) string {
	t.Helper()
	upstream := t.TempDir()
	git(t, upstream, "init", "--quiet", "--initial-branch=main")
	write(t, upstream, "go.mod", "module example.com/things\n\ngo 1.25\n")
	write(t, upstream, "codec/codec.go", "package codec\n\nfunc Join(a, b string) string { return a + b }\n")
	write(t, upstream, "codec/codec_test.go", `package codec

import (
	"strings"
	"testing"
)

var text string

func BenchmarkJoin(b *testing.B) {
	x := strings.Repeat("x", 50)
	for b.Loop() {
		text = Join(x, x)
	}
}
`)
	git(t, upstream, "add", ".")
	git(t, upstream, "commit", "--quiet", "-m", "base")
	git(t, upstream, "switch", "--quiet", "-c", "change")
	write(t, upstream, "codec/codec.go", "package codec\n\nfunc Join(a, b string) string { return string([]byte(a + b)) }\n")
	git(t, upstream, "commit", "--quiet", "-am", "change")
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, upstream, "clone", "--quiet", "--depth=1", "--branch=change", "file://"+filepath.ToSlash(upstream), clone)
	return clone
}

// fakeGH puts a gh on the path that knows one comment, the file comment.md
// where it is there, and writes down what it is asked to change.
func (r *runner) fakeGH(t *testing.T) {
	t.Helper()
	write(t, r.dir, "bin/gh", `#!/usr/bin/env bash
case "$*" in
*/pulls/5/reviews*) [[ "$*" != *"$(cat "$RUNNER_TEMP/reviewed")"* ]] || echo "slower is fine" ;;
*/pulls/9/reviews*) exit 1 ;;
*--method*) echo "$*" | tr '\n' ' ' >>"$RUNNER_TEMP/asked"; echo >>"$RUNNER_TEMP/asked" ;;
*/issues/comments/7*) cat "$RUNNER_TEMP/comment.md" ;;
*/issues/5/comments*)
	command -v jq >/dev/null || { [ ! -e "$RUNNER_TEMP/comment.md" ] || echo 7; exit; }
	mine=User
	[ ! -e "$RUNNER_TEMP/comment.md" ] || mine=Bot
	printf '[{"id": 6, "user": {"type": "User"}, "body": "<!-- tare gate -->\\n### forged"}, {"id": 7, "user": {"type": "%s"}, "body": "<!-- tare gate -->"}]' $mine | jq "${@: -1}"
	;;
*/commits/abc/pulls*) echo 5 ;;
esac
`)
	if err := os.Chmod(r.file("bin/gh"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.path = r.file("bin") + ":" + r.path
}

// The first step of action.yml builds a tare and puts it on the path of the others.
func TestGateActionInstalls(t *testing.T) {
	if testing.Short() {
		t.Skip("builds tare")
	}
	t.Parallel()
	r := newRunner(t)
	if log, code := r.step(t, t.TempDir(), "install"); code != 0 {
		t.Fatalf("install: exit code %d\n%s", code, log)
	}
	path := filepath.Join(strings.TrimSpace(r.text(t, "path")), "tare")
	if out, err := exec.Command(path, "version").CombinedOutput(); err != nil || !strings.HasPrefix(path, r.dir) || !strings.HasPrefix(string(out), "tare ") {
		t.Errorf("%s: %v\n%s", path, err, out)
	}
}

// The other steps on a throw-away repository: what they print, where they write, and
// how they end.
func TestGateAction(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and measures a module five times")
	}
	t.Parallel()
	r := newRunner(t)
	clone := pullRequest(t)
	r.fakeGH(t)
	before := git(t, clone, "rev-parse", "HEAD^{tree}")

	log, code := r.step(t, clone, "run", "GITHUB_BASE_REF=main", "GATE_ARGS=--rounds 2 --no-lock -q --profile")
	if code != 0 {
		t.Fatalf("run: exit code %d\n%s", code, log)
	}
	if want := "::error file=codec/codec_test.go,line=10,title=tare gate%3A more allocations::codec.BenchmarkJoin: more allocations: 1 before, 2 allocs/op now, in each of 2 rounds\n"; !strings.Contains(log, want) {
		t.Errorf("no annotation\n%s", log)
	}
	for _, want := range []string{"outcome=worse\n", "blocked=true\n", "exit-code=3\n", "sentence=blocked: of 1 benchmark 1 allocates more often"} {
		if out := r.text(t, "output"); !strings.Contains(out, want) {
			t.Errorf("%q is not among the outputs\n%s", want, out)
		}
	}
	md := r.text(t, "out/gate.md")
	if r.text(t, "summary") != md || !strings.Contains(md, "### tare gate: ❌ blocked: of 1 benchmark 1 allocates more often") || !strings.Contains(md, "| **more allocations** | `codec.BenchmarkJoin` |") || !strings.Contains(md, ", where it left origin/main: ") {
		t.Errorf("the summary is not what was printed\n%s\n%s", r.text(t, "summary"), md)
	}
	// Two rounds show no difference in time, whatever the machine does; allocations are counted.
	_, why, explained := strings.Cut(md, "- why `codec.BenchmarkJoin`:\n")
	if !explained || !strings.Contains(why, "+1 allocations/op, 100 %: codec.Join") || strings.Count(why, "\n  - ") > 5 {
		t.Errorf("not explained in five lines at most\n%s", md)
	}
	var doc struct {
		Schema  string
		Results []json.RawMessage
	}
	if err := json.Unmarshal([]byte(r.text(t, "out/gate.json")), &doc); err != nil || doc.Schema != "tare.gate/1" || len(doc.Results) != 1 {
		t.Errorf("gate.json: %v, %s, %d results", err, doc.Schema, len(doc.Results))
	}
	if kept, _ := filepath.Glob(r.file("out/data/results/*/*/result.json")); len(kept) != 1 {
		t.Errorf("results kept: %q", kept)
	}
	if status := git(t, clone, "status", "--porcelain"); status != "" || git(t, clone, "rev-parse", "HEAD^{tree}") != before {
		t.Errorf("the clone was changed: %s", status)
	}
	if log, code := r.step(t, clone, "verdict"); code != 3 {
		t.Errorf("verdict: exit code %d\n%s", code, log)
	}
	r.comments(t, clone)
	r.failure(t, clone)
	r.review(t, clone)
	r.record(t, clone)
}

// review: a pull request, of a fork say, that also changes its rules gets a warning,
// and is judged by the base's until a reviewer of that commit accepts it.
func (r *runner) review(t *testing.T, clone string) {
	t.Helper()
	git(t, clone, "switch", "--quiet", "-c", "lenient", "origin/main")
	write(t, clone, "tare.yaml", "bench: {packages: [./codec]}\ngate: {allocs: exact, review: slower is fine}\n")
	git(t, clone, "add", ".")
	git(t, clone, "commit", "--quiet", "-m", "rules")
	base := git(t, clone, "rev-parse", "HEAD")
	write(t, clone, "codec/codec.go", "package codec\n\nfunc Join(a, b string) string { return string([]byte(a + b)) }\n")
	write(t, clone, "tare.yaml", "bench: {packages: [./codec]}\ngate: {allocs: ignore}\n")
	git(t, clone, "commit", "--quiet", "-am", "slower, and more lenient")
	head := git(t, clone, "rev-parse", "HEAD")
	for _, c := range []struct {
		name string
		env  []string
		want []string
	}{
		{"nobody reviews", nil, []string{"exit-code=3\n", "gate.allocs was exact and is ignore; the base's rules hold"}},
		{"no permission", []string{"GATE_PR=9", "GATE_HEAD=" + head}, []string{"exit-code=3\n"}},
		{"another commit's", []string{"GATE_PR=5", "GATE_HEAD=" + base}, []string{"exit-code=3\n"}},
		{"this commit's", []string{"GATE_PR=5", "GATE_HEAD=" + head}, []string{"exit-code=0\n", "gate.allocs was exact and is ignore; a reviewer accepts it"}},
	} {
		write(t, r.dir, "reviewed", head)
		if log, code := r.step(t, clone, "reviews", c.env...); code != 0 {
			t.Fatalf("%s: exit code %d\n%s", c.name, code, log)
		}
		accepted := c.name == "this commit's"
		if text := r.text(t, "out/reviews"); accepted == (text == "") {
			t.Errorf("%s: reviews are %q", c.name, text)
		}
		if !accepted && c.env != nil && os.Getenv("TARE_SOAK") == "" {
			continue // run would read what it read when nobody had reviewed
		}
		if log, code := r.step(t, clone, "run", "GATE_BASE="+base, "GATE_ARGS=--rounds 1 --no-lock -q"); code != 0 {
			t.Fatalf("%s: exit code %d\n%s", c.name, code, log)
		}
		said := r.text(t, "output") + strings.ReplaceAll(r.text(t, "summary"), `\_`, "_")
		for _, want := range c.want {
			if !strings.Contains(said, want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, said)
			}
		}
	}
}

// record: a push to the main branch is measured against the reference and kept on
// a branch of its own; the next one finds it there.
func (r *runner) record(t *testing.T, clone string) {
	t.Helper()
	git(t, clone, "switch", "--quiet", "--detach", "origin/main")
	write(t, clone, "tare.yaml", "gate: {reference: "+git(t, clone, "rev-parse", "HEAD")+"}\n")
	git(t, clone, "add", ".")
	for i, code := range []string{"a + b", "string([]byte(a + b))"} {
		write(t, clone, "codec/codec.go", "package codec\n\nfunc Join(a, b string) string { return "+code+" }\n")
		git(t, clone, "commit", "--quiet", "-am", "main goes on")
		if log, code := r.step(t, clone, "run", "GATE_RECORD=true", "GATE_ARGS=--rounds 1 --no-lock -q"); code != 0 {
			t.Fatalf("push %d: exit code %d\n%s", i, code, log)
		}
		if out := r.text(t, "output"); !strings.Contains(out, "blocked=false\nexit-code=0\nsentence=recorded: ") {
			t.Errorf("push %d: %s", i, out)
		}
		git(t, clone, "fetch", "--quiet", "origin", "tare-history")
		if kept := strings.Split(git(t, clone, "ls-tree", "-r", "--name-only", "FETCH_HEAD"), "\n"); len(kept) != i+1 {
			t.Errorf("after push %d the branch holds %q", i, kept)
		}
		if page := r.text(t, "out/history.html"); strings.Count(page, `<th scope="row">example.com/things/codec.BenchmarkJoin</th>`) != 1 || !strings.Contains(page, ": "+format.Count(i+1, "run")+"</h3>") {
			t.Errorf("after push %d the page is\n%s", i, page)
		}
	}
}

// comments: once where there is something to say, and again only when the
// verdict changes.
func (r *runner) comments(t *testing.T, clone string) {
	t.Helper()
	asked := func(why string, n int, last string, env ...string) {
		t.Helper()
		if log, code := r.step(t, clone, "comment", env...); code != 0 {
			t.Fatalf("%s: exit code %d\n%s", why, code, log)
		}
		src, _ := os.ReadFile(r.file("asked"))
		lines := strings.Split(strings.TrimSpace(string(src)), "\n")
		if len(src) == 0 {
			lines = nil
		}
		if len(lines) != n || n > 0 && !strings.Contains(lines[n-1], last) {
			t.Errorf("%s: asked %q", why, lines)
		}
	}
	asked("no pull request", 0, "")
	asked("the first", 1, "--method POST repos/you/yours/issues/5/comments -F body=@", "GATE_PR=5")
	md := r.text(t, "out/gate.md")
	write(t, r.dir, "comment.md", strings.Replace(md, "2 rounds", "3 rounds", 1))
	asked("the same verdict", 1, "POST", "GATE_PR=5")
	write(t, r.dir, "comment.md", strings.Replace(md, "blocked", "passes", 1))
	asked("another verdict", 2, "--method PATCH repos/you/yours/issues/comments/7 -F body=@", "GATE_SHA=abc")
	if err := os.Remove(r.file("comment.md")); err != nil {
		t.Fatal(err)
	}
	write(t, r.dir, "out/gate.md", strings.Replace(md, "❌ blocked: ", "✅ passes: ", 1))
	asked("nothing to say", 2, "PATCH", "GATE_PR=5")
}

// failure: a gate that cannot be carried out says why, and fails.
func (r *runner) failure(t *testing.T, clone string) {
	t.Helper()
	log, code := r.step(t, clone, "run", "GATE_BASE=nosuch")
	const why = `there is no revision "nosuch" to compare the head with`
	if code != 0 || !strings.Contains(log, "::error title=tare gate::"+why) || !strings.Contains(r.text(t, "summary"), why) || !strings.Contains(r.text(t, "output"), "outcome=failed\nblocked=true\nexit-code=2\nsentence="+why+"; ") {
		t.Errorf("exit code %d\n%s\n%s", code, log, r.text(t, "output"))
	}
	if _, code := r.step(t, clone, "verdict"); code != 2 {
		t.Errorf("verdict: exit code %d", code)
	}
}
