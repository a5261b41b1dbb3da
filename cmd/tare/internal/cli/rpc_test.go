package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cli"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/testtare"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/lab"
)

// TestRPC: what the lab is asked for, and what is printed of what it finds. The
// servers are generated, and not built.
func TestRPC(t *testing.T) {
	dir := t.TempDir()
	repository, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "users.proto")
	text := "syntax = \"proto3\";\nmessage M { int64 id = 1; }\nservice S { rpc Get(M) returns (M); rpc Put(M) returns (M); rpc Watch(M) returns (stream M); }\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
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
					Schema: tare.ResultSchema, Study: s.ID, Question: s.Question, Kind: s.Kind, Design: tare.Design{Metrics: s.Metrics, Workloads: s.Workloads, Contenders: []tare.Contender{
						{ID: "grpc", Role: tare.RoleBaseline}, {ID: "connect", Error: "no disk"},
					}}, Run: tare.Run{Machine: aMachine(), Stopped: "budget"},
				}, nil
			},
		}
		env := map[string]string{"TARE_CACHE": testtare.Cache(t), "TARE_DATA": filepath.Join(dir, "data"), "TARE_LOCK": ownLock}
		var stdout, stderr bytes.Buffer
		code = cli.Main(t.Context(), cmdenv.Env{
			Args: append([]string{"rpc", "--catalog", repository}, args...), Getenv: func(name string) string { return env[name] }, In: strings.NewReader(""), Out: &stdout, Err: &stderr, Lab: replaced,
		})
		return study, asked, stdout.String(), stderr.String(), code
	}
	study, asked, out, complaints, code := run(file, "--only", "connect,connect-json", "--seed", "7")
	if code != 0 || study.ID != "rpc-users" || study.Baseline != "grpc" || asked.Seed != 7 || !asked.Quick || len(study.Workloads) != 4 {
		t.Fatalf("%d, %+v\n%s", code, study, complaints)
	}
	var ids []string
	for _, e := range study.Contenders {
		ids = append(ids, e.ID)
		if info, err := os.Stat(filepath.Join(e.Program, "service.go")); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%+v: %v", e, err)
		}
	}
	if !slices.Equal(ids, []string{"grpc", "connect", "connect-json"}) {
		t.Errorf("%v", ids)
	}
	for _, want := range []string{"RECOMMENDATION\n", "On your 2 methods: no comparison: too few rounds", "connect could not be measured: no disk.", "Not answered: what your own handlers", "method S/Watch"} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q in\n%s", want, out)
		}
	}
	if _, _, out, _, code := run(file, "--json", "--quiet", "--only", "connect"); code != 0 || strings.Contains(out, "RECOMMENDATION") || !strings.Contains(out, `"command"`) {
		t.Errorf("%d\n%s", code, out)
	}
	if _, _, out, _, _ := run(file, "--format", "md", "--only", "connect"); !strings.Contains(out, "\n## Recommendation\n\n- On your 2 methods") {
		t.Errorf("%s", out)
	}
	if _, _, _, complaints, code := run(file, "--workload", "Gett", "--only", "connect"); code != 2 || !strings.Contains(complaints, `"Gett"`) {
		t.Errorf("%d, %s", code, complaints)
	}
}
