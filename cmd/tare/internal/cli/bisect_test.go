package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

const bisectedTests = `package tiny

import "testing"

var sink []byte

func BenchmarkMake(b *testing.B) {
	for i := 0; i < b.N; i++ {
		for j := 0; j < Allocs; j++ {
			sink = make([]byte, 100)
		}
	}
}

func BenchmarkOther(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink = make([]byte, 10)
	}
}
`

// A search from end to end: of six commits one does not build and one allocates
// once more. Counts need no luck.
func TestBisect(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the benchmarks of six commits")
	}
	dir, home, _ := newModuleDir(t, "git", "go")
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=Ann", "-c", "user.email=a@example.com"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", "main")
	for name, text := range map[string]string{"go.mod": "module example.com/tiny\n\ngo 1.20\n", "tiny_test.go": bisectedTests} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	commit := func(subject, code string) string {
		if err := os.WriteFile(filepath.Join(dir, "tiny.go"), []byte("package tiny\n\n// "+subject+"\n"+code+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		git("add", "-A")
		git("commit", "-qm", subject)
		return git("rev-parse", "HEAD")
	}
	good := commit("one", "var Allocs = 1")
	commit("two", "var Allocs = 1")
	first := commit("three allocates", "var Allocs = 2")
	commit("four does not build", "var Allocs = no")
	commit("five", "var Allocs = 2")
	bad := commit("six", "var Allocs = 2")
	before := git("status", "--porcelain", "--ignored") + git("worktree", "list")

	args := []string{"bisect", "--good", good, "--bad", "main", "--bench", "Make|Other", "--metric", "allocs", "--procs", "1", "--no-lock"}
	code, out, said := call(t, dir, home, append(args, "-q")...)
	if code != cmdenv.ExitOK || said != "" {
		t.Fatalf("exit code %d: %s\n%s", code, said, out)
	}
	for _, want := range []string{
		first[:9] + " is the first commit that shows it: three allocates (Ann, ", "example.com/tiny.BenchmarkMake, allocs against " + good[:9],
		"  bad      +1 allocs/op", "  good     +0 allocs/op", "  skipped  ", "does not build: ", "at most 5 %", "Why: tare bench example.com/tiny --base ", " --bench '^BenchmarkMake$' --procs 1 --no-lock --profile\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	_, why, _ := strings.Cut(out, "Why: ")
	_, advice := words(t, strings.TrimSpace(why))
	if code, out, said := call(t, dir, home, append(advice, "--rounds", "2", "--slice", "1ms", "-q")...); code != cmdenv.ExitOK || !strings.Contains(out, "1 more") {
		t.Errorf("%q: exit code %d: %s\n%s", advice, code, said, out)
	}
	if after := git("status", "--porcelain", "--ignored") + git("worktree", "list"); after != before {
		t.Errorf("the repository was changed: %s", after)
	}
	if left, _ := filepath.Glob(filepath.Join(home, "cache", "bench", "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}

	// Given again it measures nothing, and says the same.
	code, out, said = call(t, dir, home, append(args, "--format", "json")...)
	var doc struct {
		Schema string
		Found  []string
		Search struct {
			Tests []struct{ Commit, Verdict string }
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != cmdenv.ExitOK || doc.Schema != "tare.bisect/1" || fmt.Sprint(doc.Found) != fmt.Sprint([]string{first}) || doc.Search.Tests[0].Commit != bad {
		t.Errorf("exit code %d, %v, %+v", code, err, doc)
	}
	if !strings.Contains(said, "of an earlier call are used; --restart would forget them") {
		t.Errorf("not taken up: %s", said)
	}

	if code, out, said = call(t, dir, home, append(args, "--dry-run")...); code != cmdenv.ExitOK || !strings.Contains(out, "comparisons of an earlier call are used") || !strings.Contains(out, "example.com/tiny.BenchmarkMake\n") {
		t.Errorf("--dry-run: exit code %d, %s\n%s", code, said, out)
	}

	// What was measured is not replaced because it cannot be read just now.
	kept, err := filepath.Glob(filepath.Join(home, "cache", "bisect", "*.json"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("searches: %q, %v", kept, err)
	}
	if err := os.WriteFile(kept[0], []byte(`{"schema":"tare.bisect/1"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, said = call(t, dir, home, args...); code != cmdenv.ExitUsage || !strings.Contains(said, kept[0]+" is no search of this version of tare, or damaged; --restart begins it again") {
		t.Errorf("damaged: exit code %d, %s", code, said)
	}
	if code, _, said = call(t, dir, home, append(args, "--dry-run", "--restart")...); code != cmdenv.ExitOK {
		t.Errorf("damaged, --restart: exit code %d, %s", code, said)
	}
	if err := errors.Join(os.Remove(kept[0]), os.Mkdir(kept[0], 0o700)); err != nil {
		t.Fatal(err)
	}
	if code, _, said = call(t, dir, home, args...); code != cmdenv.ExitFailure || !strings.Contains(said, "cannot read the search in "+kept[0]) {
		t.Errorf("cannot be read: exit code %d, %s", code, said)
	}
}

func TestBisectRefuses(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	for _, tt := range []struct{ args, want string }{
		{"", "--good is needed"},
		{"--good x", "--bench is needed"},
		{"--good x --bench (", `--bench "("`},
		{"--good x --bench . --metric size", `--metric "size" cannot be searched for`},
		{"--good x --bench . --effect 5", `--effect "5" is not a share`},
		{"--good x --bench . --effect 0%", "--effect 0% is not a change"},
		{"--good x --bench . --error 60%", "--error 60% is not a useful bound"},
		{"--good x --bench . --max -1s", "--max -1s is not a positive duration"},
		{"--good x --bench . --format xml", `--format "xml" is not a format`},
		{"--good x --bench .", "a revision needs a git repository"},
	} {
		code, out, said := call(t, dir, home, append([]string{"bisect", "-q", "--no-lock"}, strings.Fields(tt.args)...)...)
		if code != cmdenv.ExitUsage || out != "" || !strings.Contains(said, tt.want) || strings.Count(said, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q, %q; want 2 and one line with %q", tt.args, code, out, said, tt.want)
		}
	}
}
