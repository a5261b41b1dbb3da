package server_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/kinds"
	"github.com/tarebench/tare/kinds/server"
	"github.com/tarebench/tare/lab"
)

// A study of two servers and the null one goes the whole way: nothing here is
// about who is faster.
func TestStudy(t *testing.T) {
	t.Parallel()
	study := tare.Study{
		ID: "servers", Question: "Does a line of log cost anything?", Kind: server.Name,
		Baseline: "good", Contenders: []tare.Entry{{ID: "good"}, {ID: "logs"}},
		Workloads: []tare.Workload{
			{ID: "get-random", Fixture: "tiny", Op: "get-random", Pool: 8, Traffic: &tare.Traffic{Connections: 4}},
			{ID: "at-rate", Fixture: "tiny", Op: "get-7", Traffic: &tare.Traffic{Connections: 4, Rate: 300, Segment: time.Second}},
		},
		Metrics: []string{"time", "cpu", "allocs", "p99", "client-cpu", "rss"},
	}
	r, err := lab.Run(t.Context(), study, lab.Options{
		Kinds: map[string]lab.Kind{server.Name: kinds.All()[server.Name]}, Sources: lab.Self{}, Dir: t.TempDir(),
		Measuring: lab.Measuring{Rounds: 1, Slice: 5 * time.Millisecond, Seed: 7, Env: []string{"GORACE=atexit_sleep_ms=0"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range r.Trials {
		if tr.Error != nil {
			t.Errorf("%s: %v", tr.Contender, tr.Error)
		}
		visits, segment := tr.Samples["get-random"], tr.Samples["at-rate"]
		for _, key := range []string{"time_ns_per_op", tare.KeyRequests, tare.KeyRate, tare.KeyReceived, tare.KeyClientCPUPerOp} {
			if visits[key] <= 0 || segment[key] <= 0 {
				t.Errorf("%s: %s is %v in visits, %v in a segment", tr.Contender, key, visits[key], segment[key])
			}
		}
		for _, s := range []tare.Sample{visits, segment} {
			if s[tare.KeyReceived] != s[tare.KeyReceivedSent] || s[tare.KeyErrors] != 0 || s["allocs_per_op"] < 1 {
				t.Errorf("%s: sample %v", tr.Contender, s)
			}
			if loud := s[tare.KeyOutput] > 1; loud != (tr.Contender == "logs") {
				t.Errorf("%s: %v bytes of output a request", tr.Contender, s[tare.KeyOutput])
			}
		}
		if segment["p99_ns"] <= 0 || tr.Histograms["at-rate"] == "" || tr.Histograms["get-random"] != "" {
			t.Errorf("%s: p99 %v, histograms of %d workloads", tr.Contender, segment["p99_ns"], len(tr.Histograms))
		}
	}
	if len(r.Trials) != 4 { // good, its control, logs, null
		t.Errorf("%d trials", len(r.Trials))
	}
	var probed, examined []string
	for _, c := range r.Conformance {
		if c.Probe && c.Wrong == 0 {
			probed = append(probed, c.Contender)
		}
	}
	for _, s := range r.Semantics {
		examined = append(examined, s.Contender)
		if len(s.Differences) > 3 { // net/http has a few of its own
			t.Errorf("%+v", s)
		}
	}
	slices.Sort(probed)
	if got := strings.Join(probed, " "); got != "control good logs null" {
		t.Errorf("refused what is to be refused: %s", got)
	}
	if !slices.Contains(examined, "good") || slices.Contains(examined, "null") {
		t.Errorf("examined %s", examined)
	}
	for _, c := range r.Contenders {
		if c.ID == "good" && (c.Adoption.StartSeconds <= 0 || c.Adoption.IdleRSSBytes <= 0 && runtime.GOOS == "linux") {
			t.Errorf("adoption %+v", c.Adoption)
		}
	}
}

// A server that dies is left out with the reason, and so is one that answers
// wrong; the study goes on for the others.
func TestStudyOfFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many servers")
	}
	t.Parallel()
	study := tare.Study{
		ID: "faults", Question: "Who is left?", Kind: server.Name,
		Baseline: "good", Contenders: []tare.Entry{{ID: "good"}, {ID: "killed"}, {ID: "wrong"}},
		Workloads: []tare.Workload{{ID: "get-7", Fixture: "tiny", Op: "get-7", Traffic: &tare.Traffic{Connections: 2}}},
		Metrics:   []string{"time", "cpu"},
	}
	r, err := lab.Run(context.Background(), study, lab.Options{
		Kinds: map[string]lab.Kind{server.Name: kinds.All()[server.Name]}, Sources: lab.Self{}, Dir: t.TempDir(),
		Measuring: lab.Measuring{Rounds: 2, Slice: 20 * time.Millisecond, Seed: 7, Env: []string{"GORACE=atexit_sleep_ms=0"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	died := false
	for _, tr := range r.Trials {
		if tr.Contender == "wrong" {
			t.Error("a server that answers wrong was timed")
		}
		if tr.Contender != "killed" {
			if tr.Error != nil {
				t.Errorf("%s: %v", tr.Contender, tr.Error)
			}
			continue
		}
		if tr.Error == nil {
			continue // a starved machine asked too little of it for that so far
		}
		died = true
		if tr.Error.Class != tare.ErrExit || !strings.Contains(tr.Error.Message, "signal: killed") {
			t.Errorf("it died, and the trial says %v", tr.Error)
		}
	}
	for _, c := range r.Conformance {
		if c.Contender == "wrong" && !c.Probe && c.Wrong == 0 {
			t.Errorf("it answers wrong: %+v", c)
		}
	}
	if !died {
		t.Error("nobody died")
	}
}

// A user's own requests go to a command and to a server that already runs; the
// null contender is asked for the least there is.
func TestStudyOfOwnRequests(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs env")
	}
	t.Parallel()
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}))
	defer there.Close()
	dir := t.TempDir()
	own := `{"path":"/v1/id/7?x"}` + "\n" + `{"path":"/v1/id/8","header":{"X-Case":"2"}}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "own.ndjson"), []byte(own), 0o644); err != nil {
		t.Fatal(err)
	}
	study := tare.Study{
		ID: "own", Question: "Mine or theirs?", Kind: server.Name, Dir: dir, Baseline: "mine",
		Contenders: []tare.Entry{
			{ID: "mine", Command: []string{"env", "TARE_TEST_SERVER=good", os.Args[0], "-port=$PORT"}},
			{ID: "theirs", URL: there.URL},
		},
		Workloads: []tare.Workload{{ID: "own", File: "own.ndjson", Op: server.OpRequests, Traffic: &tare.Traffic{Connections: 2}}},
		Metrics:   []string{"time", "cpu"},
	}
	r, err := lab.Run(t.Context(), study, lab.Options{
		Kinds: map[string]lab.Kind{server.Name: kinds.All()[server.Name]}, Sources: lab.Self{}, Dir: t.TempDir(),
		Measuring: lab.Measuring{Rounds: 1, Slice: 5 * time.Millisecond, Seed: 7, Env: []string{"GORACE=atexit_sleep_ms=0"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range r.Trials {
		s := tr.Samples["own"]
		_, counted := s[tare.KeyReceived]
		_, cpu := s[tare.KeyServerCPU]
		if tr.Error != nil || s[tare.KeyRequests] <= 0 || s[tare.KeyErrors] != 0 || counted != (tr.Contender == "null") || cpu == (tr.Contender == "theirs") {
			t.Errorf("%s: %v, sample %v", tr.Contender, tr.Error, s)
		}
	}
	if len(r.Trials) != 4 {
		t.Errorf("%d trials", len(r.Trials))
	}
	for _, c := range r.Conformance {
		if c.Wrong > 0 || c.Probe {
			t.Errorf("%+v", c)
		}
	}
}

// An app needs neither probes nor questions.
func TestAnAppWithoutProbesAndQuestions(t *testing.T) {
	k := server.Of("own", server.App{Name: "own"})
	works, err := k.Probes(t.TempDir(), []wire.Workload{{ID: "w", Spec: []byte(`{"app":"own"}`)}})
	if err != nil || len(works) != 0 {
		t.Errorf("%+v, %v", works, err)
	}
}
