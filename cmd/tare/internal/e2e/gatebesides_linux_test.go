package e2e

import (
	"encoding/json"
	"strings"
	"testing"
)

// besides is a repository with a study of its own on a contender of its own,
// and a server, whose change makes the contender allocate twice as often.
func besides(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "--quiet", "--initial-branch=main")
	write(t, dir, "go.mod", "module example.com/shop\n\ngo 1.25\n")
	write(t, dir, "tare.yaml", `studies: bench/encode.yaml
load:
  program: ./cmd/api
  mix: GET /health=1
  connections: 2
`)
	write(t, dir, "bench/encode.yaml", `study: encode
kinds: [codec]
baseline: encoding-json
contenders: [encoding-json, {id: mine, program: ./mine}]
workloads: [{id: devices-5/marshal, fixture: devices, n: 5, op: marshal}]
metrics: [time]
criteria: [{contender: mine, metric: time, value: "<= 1h"}, {contender: mine, metric: time, ratio: "<= 2"}]
`)
	write(t, dir, "bench/mine/go.mod", "module example.com/mine\n\ngo 1.25\n\nrequire github.com/tarebench/tare v0.0.0\n") // tare brings the SDK
	const contender = `package main

import (
	"encoding/json"

	"github.com/tarebench/tare/contender/codec"
)

func main() { codec.Main(codec.Impl{Marshal: json.Marshal}) }
`
	write(t, dir, "bench/mine/main.go", contender)
	write(t, dir, "cmd/api/main.go", `package main

import (
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {})
	panic(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
`)
	git(t, dir, "add", ".")
	git(t, dir, "commit", "--quiet", "-m", "base")
	write(t, dir, "bench/mine/main.go", strings.Replace(contender, "Marshal: json.Marshal", `Marshal: func(v any) ([]byte, error) {
	if _, err := json.Marshal(v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}`, 1))
	return dir
}

// A gate of a repository without benchmarks measures its study and its server,
// base against head, and says so in one table.
func TestGateWeighsStudiesAndServers(t *testing.T) {
	if testing.Short() {
		t.Skip("builds contenders and servers")
	}
	t.Parallel()
	r := newRunner(t)
	dir := besides(t)
	before := git(t, dir, "status", "--porcelain")

	log, code := r.step(t, dir, "run", "GATE_ARGS=--rounds 1 --no-lock -q")
	if code != 0 || strings.TrimSpace(r.text(t, "out/exit-code")) != "3" {
		t.Fatalf("run: exit code %d\n%s", code, log)
	}
	if want := "::error file=tare.yaml,line=1,title=tare gate%3A more allocations::encode/mine devices-5/marshal: more allocations: "; !strings.Contains(log, want) {
		t.Errorf("no annotation\n%s", log)
	}
	var doc struct {
		Rows []struct {
			Benchmark, Metric, Outcome string
			Limit                      float64
		}
		Left    []json.RawMessage `json:"not_weighed"`
		Results []struct{ Study string }
	}
	if err := json.Unmarshal([]byte(r.text(t, "out/gate.json")), &doc); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, row := range doc.Rows {
		key := row.Benchmark + " " + row.Metric
		if row.Limit > 0 {
			key += " limit"
		}
		got[key] = row.Outcome
	}
	// One round has no interval; what is counted needs none.
	want := map[string]string{
		"encode/mine devices-5/marshal allocs": "worse", "encode/mine devices-5/marshal time": "inconclusive", "encode/mine devices-5/marshal time limit": "inconclusive",
		"load api time": "inconclusive", "load api cpu": "inconclusive",
	}
	for key, outcome := range want {
		if got[key] != outcome {
			t.Errorf("%s is %q, want %s", key, got[key], outcome)
		}
	}
	if len(got) != len(want) || len(doc.Left) != 0 || len(doc.Results) != 2 || doc.Results[0].Study != "gate-encode-mine" || doc.Results[1].Study != "gate-load-api" {
		t.Errorf("rows %v, left %s, results %v", got, doc.Left, doc.Results)
	}
	if now := git(t, dir, "status", "--porcelain"); now != before {
		t.Errorf("the worktree was changed: %s", now)
	}
}
