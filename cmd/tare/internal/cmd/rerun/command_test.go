package rerun

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmd/bench"
	"github.com/tarebench/tare/cmd/tare/internal/cmd/jsoncmd"
	"github.com/tarebench/tare/cmd/tare/internal/cmd/run"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/session"
)

func TestCommitOfASide(t *testing.T) {
	for version, want := range map[string]struct {
		commit  string
		changed bool
	}{
		"main (1a2b3c4d5)":                   {"1a2b3c4d5", false},
		"deadbeef (1a2b3c4d5)":               {"1a2b3c4d5", false},
		"1a2b3c4d5":                          {"1a2b3c4d5", false},
		"worktree at 1a2b3c4d5":              {"1a2b3c4d5", false},
		"worktree at 1a2b3c4d5 with changes": {"1a2b3c4d5", true},
		"worktree":                           {"", false},
		"as it is":                           {"", false},
	} {
		if commit, changed := parseCommit(version); commit != want.commit || changed != want.changed {
			t.Errorf("%s: %q, %v", version, commit, changed)
		}
	}
}

// madeBy is a result that a command made here, and the commands there are.
func madeBy(t *testing.T, args ...string) (tree func() *cobra.Command, made *tare.Result) {
	t.Helper()
	env := cmdenv.Env{Getenv: func(string) string { return "" }, Args: args}
	tree = func() *cobra.Command {
		root := &cobra.Command{Use: "tare"}
		root.AddCommand(bench.Command(env), jsoncmd.Command(env), run.Command(env))
		return root
	}
	r := &tare.Result{Study: "x", Kind: "gobench", Run: tare.Run{Seed: "7"}}
	if cmd := findCommand(tree(), args); cmd != nil {
		was := session.TypedBy(env, cmd)
		r.Asked = tare.Asked{Command: was.Args, WorkDir: was.Dir, Files: was.Sums}
	}
	return tree, r
}

func TestABenchIsAskedByItsCommits(t *testing.T) {
	t.Chdir(t.TempDir())
	tree, old := madeBy(t, "bench", "./parse", "--base", "main", "--bench", "Parse/.*", "--env", "GOGC=50", "--env", "A=b c", "-q", "--format", "csv", "--seed", "3")
	old.Contenders = []tare.Contender{{ID: "base", Version: "main (1a2b3c4d5)"}, {ID: "head", Version: "worktree at 2a2b3c4d5 with changes"}}
	args, notes, err := repeatedArgs(tree(), options{}, old)
	want := []string{"bench", "--bench=Parse/.*", "--env=GOGC=50", "--env=A=b c", "--base=1a2b3c4d5", "--seed=7", "--", "./parse"}
	if err != nil || !slices.Equal(args, want) || len(notes) != 1 || !strings.HasPrefix(notes[0], "head was the worktree at 2a2b3c4d5 with changes: ") {
		t.Errorf("%q, %q, %v", args, notes, err)
	}
	old.Contenders[1].Version = "worktree at 2a2b3c4d5"
	args, notes, err = repeatedArgs(tree(), options{reseed: true, seed: 9, noLock: true}, old)
	want = []string{"bench", "--bench=Parse/.*", "--env=GOGC=50", "--env=A=b c", "--base=1a2b3c4d5", "--head=2a2b3c4d5", "--no-lock=true", "--seed=9", "--", "./parse"}
	if err != nil || !slices.Equal(args, want) || len(notes) > 0 {
		t.Errorf("%q, %q, %v", args, notes, err)
	}
	t.Chdir(t.TempDir())
	if _, _, err := repeatedArgs(tree(), options{}, old); cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.Contains(err.Error(), "was asked for in "+old.Asked.WorkDir) {
		t.Errorf("elsewhere: %v", err)
	}
}

func TestDocumentsThatChangedAreRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	save := func(text string) {
		t.Helper()
		if err := os.WriteFile("order.json", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	save("{}")
	tree, old := madeBy(t, "json", "order.json", "--op", "any")
	if args, _, err := repeatedArgs(tree(), options{}, old); err != nil || !slices.Equal(args, []string{"json", "--op=any", "--seed=7", "--", "order.json"}) {
		t.Errorf("%q, %v", args, err)
	}
	save("[]")
	if _, _, err := repeatedArgs(tree(), options{}, old); cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.HasPrefix(err.Error(), "order.json changed: SHA-256 44136fa355b3 then, 4f53cda18c2b now; ") {
		t.Errorf("changed: %v", err)
	}
	os.Remove("order.json")
	if _, _, err := repeatedArgs(tree(), options{}, old); cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.HasPrefix(err.Error(), "cannot read order.json: ") {
		t.Errorf("gone: %v", err)
	}
	tree, old = madeBy(t, "json", "-")
	if _, _, err := repeatedArgs(tree(), options{}, old); cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.Contains(err.Error(), "came from stdin") {
		t.Errorf("stdin: %v", err)
	}
}

func TestWhatIsToBeTyped(t *testing.T) {
	if tree, old := madeBy(t, "run", "json-encode"); len(old.Asked.Command) > 0 || findCommand(tree(), []string{"load", "http://x"}) != nil {
		t.Errorf("%+v", old.Asked)
	}
	old := &tare.Result{Study: "x", Run: tare.Run{Seed: "7"}, Kind: "gobench", Design: tare.Design{Contenders: []tare.Contender{{ID: "base", Version: "main (1a2b3c4d5)"}, {ID: "head", Version: "v1 (2a2b3c4d5)"}}}}
	if got := suggestCommand(old); got != "in its repository: tare bench --base 1a2b3c4d5 --head 2a2b3c4d5 --seed 7" {
		t.Error(got)
	}
	if got := suggestCommand(&tare.Result{Study: "json-encode", Kind: "codec"}); got != "" {
		t.Error(got)
	}
}
