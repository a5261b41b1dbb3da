package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// A budget holds to within the rest of a slice, whatever benchmarks do while nothing is
// timed, and what it has no time for is named.
func TestBenchKeepsItsBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("measures for a minute")
	}
	dir, home, put := newModuleDir(t, "git", "go")
	if err := os.CopyFS(dir, os.DirFS("testdata/bench")); err != nil {
		t.Fatal(err)
	}
	put("go.mod", "module example.com/cases\n\ngo 1.21\n")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-qm", "one"}} {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	const (
		budget = 30.0 // s
		rest   = 5.0  // s: a request that takes longer ends its process
	)
	for packages, benchmarks := range map[string][]string{
		"./stopstart": {"stopstart.BenchmarkStopStart"},
		"./...":       {"stopstart.BenchmarkStopStart", "setup.BenchmarkSetUp", "setup.BenchmarkTearsDown", "start.BenchmarkOne", "start.BenchmarkTwo", "port.BenchmarkPort"},
	} {
		file := filepath.Join(home, "result.json")
		code, _, said := call(t, dir, home, "bench", packages, "--base", "HEAD", "--budget", "30s", "--layouts", "1", "--no-lock", "-o", file)
		if code == cmdenv.ExitUsage && strings.Contains(said, "a budget of 30s has no time") {
			t.Skip("the machine is too busy for one round in 30 s")
		}
		if code != cmdenv.ExitOK || strings.Contains(said, "at most 0s") {
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
		if r.Seconds > budget+rest || r.RoundsDone == 0 {
			t.Errorf("%s: %d rounds in %v s", packages, r.RoundsDone, r.Seconds)
		}
		told := map[string]string{}
		for _, w := range r.Workloads {
			told[w.ID] = "measured"
		}
		for _, l := range r.NotWeighed {
			told[strings.TrimPrefix(l.What, "workload ")] = l.Why
		}
		for _, name := range benchmarks {
			why := told["example.com/cases/"+name]
			if why != "measured" && !strings.Contains(why, "budget of 30s") && !strings.Contains(why, "takes too long") {
				t.Errorf("%s: %s is %q", packages, name, why)
			}
		}
		for _, v := range r.Values {
			if v.Workload == "example.com/cases/stopstart.BenchmarkStopStart" && v.Metric == "time" && v.Value > 50e3 {
				t.Errorf("%s: an iteration takes %v ns, of which some 100 are timed", packages, v.Value)
			}
		}
	}
}
