package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cli"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/lab"
)

// noSources builds nothing: nobody asks.
type noSources struct{}

func (noSources) Program(context.Context, string, string, tare.Entry) (build.Program, error) {
	return build.Program{}, nil
}

// TestRoutes: what the lab is asked for, and what is printed of what it finds.
func TestRoutes(t *testing.T) {
	dir := t.TempDir()
	repository, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "api.yaml")
	if err := os.WriteFile(file, []byte("openapi: 3.1.0\npaths:\n  /pets: {get: {}}\n  /pets/{id}: {get: {}, put: {}}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (study tare.Study, asked lab.Options, out, complaints string, code int) {
		t.Helper()
		replaced := cmdenv.Lab{
			Sources: func(cmdenv.Workshop) (lab.Sources, error) { return noSources{}, nil },
			Facts:   func(context.Context) tare.Machine { return aMachine() },
			Guard:   func(string) (*trial.Guardian, error) { return nil, nil },
			Run: func(_ context.Context, s tare.Study, o lab.Options) (*tare.Result, error) {
				study, asked = s, o
				return &tare.Result{
					Schema: tare.ResultSchema, Study: s.ID, Question: s.Question, Kind: s.Kind, Design: tare.Design{Metrics: s.Metrics, Workloads: s.Workloads}, Run: tare.Run{Machine: aMachine(), Stopped: "budget"},
					Record: tare.Record{Trials: []tare.Trial{{Contender: "httprouter", Error: &tare.TrialError{Class: tare.ErrContender, Message: "prepare: load: it cannot have this table: no"}}}},
				}, nil
			},
		}
		env := map[string]string{"TARE_CACHE": filepath.Join(dir, "cache"), "TARE_DATA": filepath.Join(dir, "data"), "TARE_LOCK": ownLock}
		var stdout, stderr bytes.Buffer
		code = cli.Main(t.Context(), cmdenv.Env{
			Args: append([]string{"routes", "--catalog", repository}, args...), Getenv: func(name string) string { return env[name] }, In: strings.NewReader(""), Out: &stdout, Err: &stderr, Lab: replaced,
		})
		return study, asked, stdout.String(), stderr.String(), code
	}
	study, asked, out, complaints, code := run(file, "--only", "chi,gin-*", "--contender", "echo", "--seed", "7")
	if code != 0 || study.ID != "routes" || study.Baseline != "nethttp" || strings.Join(asked.Only.Contenders, " ") != "echo chi gin-*" || asked.Seed != 7 || !asked.Quick {
		t.Fatalf("%d, %+v, %+v\n%s", code, study, asked.Only, complaints)
	}
	for _, want := range []string{"RECOMMENDATION\n", "On your 3 routes: no recommendation: too few rounds", "httprouter cannot have these routes: no."} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q in\n%s", want, out)
		}
	}
	list, err := os.ReadFile(filepath.Join(study.Dir, study.Workloads[0].File))
	if err != nil || string(list) != "GET /pets\nGET /pets/{id}\nPUT /pets/{id}\n" {
		t.Errorf("%v: %q", err, list)
	}
	if _, _, out, _, code := run(file, "--json", "--quiet"); code != 0 || strings.Contains(out, "RECOMMENDATION") || !strings.Contains(out, "contender nethttp-prefix") || !strings.Contains(out, "study_source") {
		t.Errorf("%d\n%s", code, out)
	}
	if _, _, out, _, _ := run(file, "--format", "md"); !strings.Contains(out, "\n## Recommendation\n\n- On your 3 routes") {
		t.Errorf("%s", out)
	}
	if _, _, _, complaints, code := run(file, "--workload", "two-parameters"); code != 2 || !strings.Contains(complaints, `"two-parameters"`) {
		t.Errorf("%d, %s", code, complaints)
	}
}
