package server_test

import (
	"slices"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/kinds"
	"github.com/tarebench/tare/kinds/server"
	"github.com/tarebench/tare/lab"
)

// Small servers that do one thing wrong each are caught by the check that is
// there for it, and a sound one is not.
func TestFaultyServersAreCaught(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts many servers")
	}
	caughtBy(t, 2*time.Millisecond, map[string]string{
		"closes":  "connection-parity",
		"logs":    "output-parity",
		"drops":   "delivered",
		"layered": "layer-parity",
	})
}

// One that waits instead of working is caught, too, where others let it run: no
// other test runs meanwhile.
func TestWaitingServersAreCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("no other test may run beside it")
	}
	caughtBy(t, 10*time.Millisecond, map[string]string{"dozes": "does-work"})
}

// caughtBy runs a study of the servers named, in visits of so long, and wants each to
// be caught by its check.
func caughtBy(t *testing.T, visit time.Duration, caught map[string]string) {
	t.Helper()
	study := tare.Study{
		ID: "faulty", Question: "Who is caught?", Kind: server.Name, Baseline: "good",
		Contenders: []tare.Entry{{ID: "good"}, {ID: "sound", Use: "good"}},
		Workloads:  []tare.Workload{{ID: "get-7", Fixture: "tiny", Op: "get-7", Traffic: &tare.Traffic{Connections: 2}}},
		Metrics:    []string{"cpu", "time"},
	}
	for id := range caught {
		study.Contenders = append(study.Contenders, tare.Entry{ID: id})
	}
	r, err := lab.Run(t.Context(), study, lab.Options{
		Kinds: map[string]lab.Kind{server.Name: kinds.All()[server.Name]}, Sources: lab.Self{}, Dir: t.TempDir(),
		Measuring: lab.Measuring{Rounds: 1, Slice: visit, Seed: 7, Env: []string{"GORACE=atexit_sleep_ms=0"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	fired := func(check, contender string) bool {
		return slices.ContainsFunc(r.Findings, func(f tare.Finding) bool { return f.Check == check && f.Contender == contender })
	}
	for id, check := range caught {
		if id == "dozes" && crowded(r, id) {
			t.Log("other processes kept it from running: whether it waits or works cannot be told")
			continue
		}
		if !fired(check, id) {
			t.Errorf("%s is not caught by %s", id, check)
		}
		if fired(check, "sound") {
			t.Errorf("%s fires for a sound server", check)
		}
	}
	if t.Failed() {
		for _, f := range r.Findings {
			t.Logf("%s %s %s %s: %s", f.Severity, f.Check, f.Contender, f.Metric, f.Message)
		}
	}
}

// crowded reports whether a server waited for a processor for more than a
// twentieth of the time in some round.
func crowded(r *tare.Result, id string) bool {
	return slices.ContainsFunc(r.Trials, func(t tare.Trial) bool {
		s := t.Samples["get-7"]
		return t.Contender == id && s[tare.KeyServerWait] > s[tare.KeyWall]/20
	})
}

// Services that take batches are caught by what arrives behind them and by what
// they do not refuse. How long each takes to end under load is seen.
func TestFaultyServicesAreCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("starts 12 services, and more to end them")
	}
	t.Parallel()
	caught := map[string]string{"loses": "delivered", "gullible": "negative-probe"}
	study := tare.Study{
		ID: "services", Question: "Who is caught?", Kind: server.Name, Baseline: "good",
		Contenders: []tare.Entry{{ID: "good"}, {ID: "discards", Answers: tare.AnswersStatus}},
		Workloads: []tare.Workload{
			{ID: "events", Fixture: "ingest", Op: "events", Set: map[string]string{"sink": "file"}, Traffic: &tare.Traffic{Connections: 2}},
			{ID: "stop", Fixture: "homelab", Op: tare.OpStop, Pool: 100, Traffic: &tare.Traffic{Connections: 4}},
		},
		Metrics: []string{"cpu", "stop"},
	}
	for id := range caught {
		study.Contenders = append(study.Contenders, tare.Entry{ID: id})
	}
	r, err := lab.Run(t.Context(), study, lab.Options{
		Kinds: map[string]lab.Kind{server.Name: kinds.All()[server.Name]}, Sources: lab.Self{}, Dir: t.TempDir(),
		Measuring: lab.Measuring{Rounds: 1, Slice: 10 * time.Millisecond, Seed: 7, Env: []string{"GORACE=atexit_sleep_ms=0"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if f.Severity == tare.Void && f.Contender != "" && caught[f.Contender] == "" {
			t.Errorf("%s fires for %s: %s", f.Check, f.Contender, f.Message)
		}
	}
	for id, check := range caught {
		if !slices.ContainsFunc(r.Findings, func(f tare.Finding) bool { return f.Check == check && f.Contender == id && f.Severity == tare.Void }) {
			t.Errorf("%s is not caught by %s", id, check)
		}
	}
	for _, tr := range r.Trials {
		if tr.Error != nil {
			t.Errorf("%s: %v", tr.Contender, tr.Error)
		}
		events, stop := tr.Samples["events"], tr.Samples["stop"]
		_, tells := events[tare.KeyDelivered]
		if apart := tr.Contender == "discards" || tr.Contender == "null"; tells == apart || stop[tare.KeyStop] <= 0 {
			t.Errorf("%s: delivered %v, stop %v", tr.Contender, events[tare.KeyDelivered], stop[tare.KeyStop])
		}
	}
	for _, c := range r.Semantics {
		if c.Contender == "good" && len(c.Differences) > 6 { // net/http has a few of its own
			t.Errorf("%+v", c.Differences)
		}
	}
}
