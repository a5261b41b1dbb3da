package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/receipt"
)

// TestReceipt makes a receipt of a worktree, verifies it there and after a commit, and has
// forged ones and other files refused before anything is run.
func TestReceipt(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and measures benchmarks three times")
	}
	dir, home, put := newModuleDir(t, "git", "go")
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	put("go.mod", "module example.com/tiny\n\ngo 1.20\n")
	put("tiny.go", "package tiny\n\nvar Size, Extra = 100, 0\n")
	put("tiny_test.go", strings.Split(benchedTests, "func BenchmarkFails")[0])
	git("init", "-q", "-b", "main")
	git("add", "-A")
	git("commit", "-qm", "one")
	put("tiny.go", "package tiny\n\nvar Size, Extra = 100, 1000\n")
	file := filepath.Join(dir, "receipt.json") // in the worktree, of which it is not part; nor is the result
	code, _, said := call(t, dir, home, "bench", "--base", "HEAD", "--rounds", "4", "--procs", "1", "--slice", "1ms", "--no-lock", "-q", "--receipt", file, "-o", "result.json")
	if code != cmdenv.ExitOK {
		t.Fatalf("exit code %d: %s", code, said)
	}
	sound, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var c receipt.Receipt
	if err := json.Unmarshal(sound, &c); err != nil || len(c.Rows) != 1 || len(c.Sides) != 2 || len(c.Sides[0].Commit) != 40 || c.Sides[0].Tree == c.Sides[1].Tree || c.Seal == "" {
		t.Fatalf("%s: %v", sound, err)
	}

	verify := func(want string, args ...string) {
		t.Helper()
		code, out, said := call(t, dir, home, append([]string{"verify", "--no-lock", "-q", "--json"}, args...)...)
		var v struct {
			Seed    string            `json:"seed"`
			NowSeed string            `json:"now_seed"`
			Rows    []receipt.Checked `json:"rows"`
		}
		measured := json.Unmarshal([]byte(out), &v) == nil && len(v.Rows) == 1 && v.Rows[0].Now != nil && v.Seed != v.NowSeed
		switch {
		case want == "" && (!measured || code != cmdenv.ExitOK && code != cmdenv.ExitNotMet && code != cmdenv.ExitInconclusive): // four rounds may tell nothing
			t.Errorf("exit code %d: %s\n%s", code, out, said)
		case want != "" && (code != cmdenv.ExitUsage || !strings.Contains(said, want)):
			t.Errorf("exit code %d: %s, want %s", code, said, want)
		}
	}
	verify("", file)
	forged := filepath.Join(home, "forged.json")
	if err := os.WriteFile(forged, []byte(strings.Replace(string(sound), `"seed": "`, `"seed": "1`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	verify("was changed, or made by another data directory", forged)
	verify("no receipt nowhere.json", "nowhere.json")
	put("tiny.go", "package tiny\n\nvar Size, Extra = 100, 2000\n")
	verify("the worktree is not the head that was measured", file)
	put("tiny.go", "package tiny\n\nvar Size, Extra = 100, 1000\n")
	git("commit", "-qam", "two")
	put("tiny.go", "package tiny\n\nvar Size, Extra = 100, 2000\n")
	verify("", file)
}

// A receipt has the counts of a benchmark that was not timed, because its code and counts are the same.
func TestReceiptWithoutTimes(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and counts a benchmark twice")
	}
	dir, home, put := newModuleDir(t, "git", "go", "valgrind")
	const code = "package tiny\n\nfunc Sum(n int) int {\n\ttotal := 0\n\tfor i := range n {\n\t\ttotal += i\n\t}\n\treturn total\n}\n"
	put("go.mod", "module example.com/tiny\n\ngo 1.22\n")
	put("tiny.go", code)
	put("tiny_test.go", "package tiny\n\nimport \"testing\"\n\nvar sink int\n\nfunc BenchmarkSum(b *testing.B) {\n\tfor range b.N {\n\t\tsink = Sum(100)\n\t}\n}\n")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-qm", "one"}} {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	put("tiny.go", strings.ReplaceAll(code, "total", "sum"))
	file := filepath.Join(home, "receipt.json")
	exit, _, said := call(t, dir, home, "bench", "--base", "HEAD", "--changed", "--counts", "valgrind", "--no-lock", "-q", "--receipt", file)
	text, err := os.ReadFile(file)
	if exit != cmdenv.ExitOK || err != nil {
		t.Fatalf("exit code %d, %v: %s", exit, err, said)
	}
	var c receipt.Receipt
	if err := json.Unmarshal(text, &c); err != nil || len(c.Rows) != 1 || c.Made.IsZero() || len(c.Command) == 0 || c.Machine.OS == "" {
		t.Fatalf("%v\n%s", err, text)
	}
	if code, out, said := call(t, dir, home, "verify", "--no-lock", "-q", file); code != cmdenv.ExitOK {
		t.Errorf("exit code %d: %s\n%s", code, out, said)
	}
}
