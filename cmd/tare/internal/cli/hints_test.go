package cli_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gate"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// words splits a command as a shell does: words with single quotes, and variables before it.
func words(t *testing.T, command string) (env, args []string) {
	t.Helper()
	out, err := exec.Command("sh", "-c", "set -f; for w in "+command+`; do printf '%s\n' "$w"; done`).Output()
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	list := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	at := slices.Index(list, "tare")
	if at < 0 {
		t.Fatalf("no tare in %q", list)
	}
	return list[:at], list[at+1:]
}

// advised are the commands that a report for a terminal advises.
func advised(text string) (all []string) {
	for _, m := range regexp.MustCompile(`(?m)^      (.*\btare (?:gate|bench) .*)$`).FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// Every command that a gate advises is the user's own with one thing changed, and can be
// run: it measures the same sides in the same way.
func TestGateAdvice(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell")
	}
	for name, c := range map[string]struct {
		yaml  string
		args  []string
		noise float64
		ratio float64
		want  []string // commands; BASE is the commit of the base
	}{
		"a budget": {"", []string{"--base", "main", "--no-lock", "--seed", "7"}, 0.2, 1,
			[]string{"tare gate --base main --no-lock --seed 7 --budget 73s"}},
		"another budget": {"", []string{"--budget=30s", "--head", "worktree", "--profile"}, 0.2, 1,
			[]string{"tare gate --budget 73s --head worktree --profile"}},
		"rounds": {"", []string{"--rounds", "27", "--quiet"}, 0.2, 1,
			[]string{"tare gate --rounds 65 --quiet"}},
		"slower": {"", []string{"--base", "main", "--no-lock", "--all", "--seed", "7"}, 0.001, 1.2,
			[]string{"tare bench example.com/m/sub --bench '^BenchmarkX$' --base main --no-lock --seed 7"}},
		"slower, by default": {"bench: {run: X, tags: [x], env: [GOGC=50, 'A=b c']}", nil, 0.001, 1.2,
			[]string{"GOGC=50 A='b c' GOFLAGS=-tags=x tare bench example.com/m/sub --bench '^BenchmarkX$' --base BASE"}},
		"one alone": {"", []string{"--base", "merge-base main"}, 0.4, 1,
			[]string{"tare bench example.com/m/sub --bench '^BenchmarkX$' --base BASE"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOFLAGS", "")
			g := newGated(t)
			g.write("tare.yaml", c.yaml+"\n")
			if c.yaml == "" {
				g.write("tare.yaml", "bench:\n  run: .\n")
			}
			g.write("sub/x_test.go", "package x\n\nimport \"testing\"\n\nvar sum int\n\nfunc BenchmarkX(b *testing.B) {\n\tfor i := range b.N {\n\t\tsum += i\n\t}\n}\n")
			g.write("go.mod", "module example.com/m\n\ngo 1.22\n")
			g.git("add", "tare.yaml", "sub/x_test.go", "go.mod")
			g.git("commit", "--quiet", "-m", "rules")
			g.bench = shows(c.ratio, c.noise, false)
			commit, err := exec.Command("git", "-C", g.dir, "rev-parse", "--short=12", "HEAD").Output()
			if err != nil {
				t.Fatal(err)
			}
			g.run(c.args...)
			got := advised(g.stdout.String())
			want := slices.Clone(c.want)
			for i := range want {
				want[i] = strings.Replace(want[i], "BASE", strings.TrimSpace(string(commit)), 1)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("advised %q\nwant    %q\n%s%s", got, want, g.stdout.String(), g.stderr.String())
			}
			for _, command := range got {
				env, args := words(t, command)
				if args[0] == "gate" {
					g.run(args[1:]...)
					sameMeasuring(t, g.asked[0], g.asked[len(g.asked)-1])
					continue
				}
				runAdvisedBench(t, g.dir, env, args)
			}
		})
	}
}

// sameMeasuring fails unless two gates measure the same, but for how long.
func sameMeasuring(t *testing.T, first, again gate.Request) {
	t.Helper()
	if again.Budget == first.Budget && again.Rounds == first.Rounds {
		t.Errorf("it measures no longer: %+v", again)
	}
	first.Budget, first.Rounds, again.Budget, again.Rounds = 0, 0, 0, 0
	if !reflect.DeepEqual(first, again) {
		t.Errorf("it measures something else:\n%+v\n%+v", again, first)
	}
}

// runAdvisedBench runs an advised tare bench: one with an environment in full, for a few rounds,
// unless tests are to be short.
func runAdvisedBench(t *testing.T, dir string, env, args []string) {
	t.Helper()
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
	full := !testing.Short() && len(env) > 0
	more := []string{"--help"} // flags are read before
	if full {
		more = []string{"--rounds", "2", "--procs", "1", "--slice", "1ms", "-q", "--no-lock"}
	}
	code, out, said := call(t, filepath.Join(dir, "sub"), t.TempDir(), append(args, more...)...)
	if code != cmdenv.ExitOK || full && !strings.Contains(out, "BenchmarkX ") {
		t.Errorf("%q: exit code %d\n%s%s", args, code, out, said)
	}
}

// The report of several parts advises no gate, of whose flags it does not know.
func TestMergedAdvice(t *testing.T) {
	g := newGated(t)
	for _, c := range []struct {
		ratio, noise float64
		want         string
	}{{1, 0.2, ""}, {1.2, 0.001, "tare bench example.com/m/sub --bench '^BenchmarkX$' --base "}} {
		g.bench = func(ctx context.Context, ask gate.Request) (gate.Measured, error) {
			if ask.Shard.Index > 1 {
				return gate.Measured{Nothing: "no benchmark"}, nil
			}
			return shows(c.ratio, c.noise, false)(ctx, ask)
		}
		args := []string{"merge"}
		for part := range 2 {
			file := filepath.Join(t.TempDir(), "part.json")
			if code := g.run("--shard", fmt.Sprintf("%d/2", part+1), "-o", file); code != cmdenv.ExitOK {
				t.Fatalf("exit code %d: %s", code, g.stderr.String())
			}
			if text := g.stdout.String(); strings.Contains(text, "passes") || part == 0 && !strings.Contains(text, "part 1/2, which tare gate merge judges with the others") {
				t.Errorf("a part is judged by itself:\n%s", text)
			}
			args = append(args, file)
		}
		g.run(args...)
		if got := strings.Join(advised(g.stdout.String()), "\n"); c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("advised %q, want %q\n%s%s", got, c.want, g.stdout.String(), g.stderr.String())
		}
	}
}
