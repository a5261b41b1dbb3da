package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

// On a machine where tare never ran, with nothing built, studies come out whole: no
// contender is void but the traps, and the services of sinks, which compile a stack of
// their own, start and are compared.
func TestFirstRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds everything from nothing")
	}
	t.Parallel()
	b := newBench(t)
	b.cache = t.TempDir()
	gocache := t.TempDir()
	for _, c := range []struct{ study, compared string }{
		{"ffi-floor", "cgocopy"}, {"json-encode", "jsoniter-fastest"}, {"sinks", "ndjson"},
	} {
		t.Run(c.study, func(t *testing.T) {
			cmd := b.command("run", c.study, "--rounds", "2", "--json", "--quiet", "--no-page")
			cmd.Env = append(cmd.Env, "GOCACHE="+gocache)
			var stdout, stderr strings.Builder
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s", err, stderr.String())
			}
			var r tare.Result
			if err := json.Unmarshal([]byte(stdout.String()), &r); err != nil {
				t.Fatal(err)
			}
			if r.RoundsDone != 2 {
				t.Errorf("%d rounds, want 2", r.RoundsDone)
			}
			for _, f := range r.Findings {
				who, known := r.Contender(f.Contender)
				if f.Severity == tare.Void && !(known && (who.Role == tare.RoleTrap || who.Absent())) && !isOfBusyMachine(f) {
					t.Errorf("void: %s on %s by %s: %s", f.Contender, f.Workload, f.Check, f.Message)
				}
			}
			isCompared := func(c2 tare.Comparison) bool {
				return c2.Contender == c.compared && c2.Contender != c2.Against && c2.Metric == r.Metrics[0] && c2.Rounds == 2 && c2.Ratio > 0
			}
			if !slices.ContainsFunc(r.Comparisons, isCompared) {
				t.Errorf("%s is not compared with the baseline; contenders:\n%s", c.compared, errorsOf(r))
			}
		})
	}
	b.nothingLeft(t, "after the studies")
}

// isOfBusyMachine reports whether a finding voids latencies or throughput because
// something else used the processors, which a test cannot rule out.
func isOfBusyMachine(f tare.Finding) bool {
	return slices.Contains([]string{"rate-held", "generator-headroom"}, f.Check)
}

// errorsOf returns one line for each contender with what went wrong with it.
func errorsOf(r tare.Result) string {
	var text strings.Builder
	for _, c := range r.Contenders {
		fmt.Fprintf(&text, "%s: %s\n", c.ID, c.Error)
	}
	for _, tr := range r.Trials {
		if tr.Error != nil {
			fmt.Fprintf(&text, "%s, round %d: %s\n", tr.Contender, tr.Round, tr.Error)
		}
	}
	return text.String()
}
