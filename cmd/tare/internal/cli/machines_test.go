package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cli"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// Results of several machines are one report with verdicts over machines, in
// every format; what does not belong together is bad input.
func TestReportOverMachines(t *testing.T) {
	dir := t.TempDir()
	saved := unpack(t, "testdata/compat/json-encode.json.gz")
	write := func(name string, change func(*tare.Result)) string {
		var r tare.Result
		if err := json.Unmarshal(saved, &r); err != nil {
			t.Fatal(err)
		}
		change(&r)
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name+".json")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	slower := func(r *tare.Result) { // each contender takes a third more of the baseline's time here
		for i := range r.Rounds {
			for k := range r.Rounds[i].Effects {
				r.Rounds[i].Effects[k] += 0.3
			}
		}
	}
	a, b, c := write("a", func(*tare.Result) {}), write("b", func(*tare.Result) {}), write("c", slower)
	report := func(args ...string) (int, string, string) {
		var out, errs bytes.Buffer
		code := cli.Main(t.Context(), cmdenv.Env{Args: append([]string{"report"}, args...), Getenv: home(t), Out: &out, Err: &errs})
		return code, out.String(), errs.String()
	}
	for _, format := range []string{"text", "md", "html", "research"} {
		code, out, said := report(a, b, "third="+c, "--format", format)
		if code != 0 {
			t.Fatalf("--format %s: exit code %d: %s", format, code, said)
		}
		for _, want := range []string{"Over machines", "the machines differ in how much", "third", "holds on 3 of 3 machines"} {
			if !strings.Contains(strings.ToLower(strings.Join(strings.Fields(out), " ")), strings.ToLower(want)) {
				t.Errorf("--format %s does not say %q", format, want)
			}
		}
	}
	code, out, said := report(a, b, c, "--json")
	var r tare.Result
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil {
		t.Fatalf("exit code %d, %v: %s", code, err, said)
	}
	if len(r.Machines) != 3 || r.Machines[2].Name != "c" || len(r.OverMachines) == 0 {
		t.Errorf("%d machines, %d verdicts over them", len(r.Machines), len(r.OverMachines))
	}
	other := write("other", func(r *tare.Result) { r.Study = "another" })
	if code, _, said := report(a, other); code != cmdenv.ExitUsage || !strings.Contains(said, "study another is not json-encode") {
		t.Errorf("another study: exit code %d: %s", code, said)
	}
}
