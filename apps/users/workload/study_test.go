package workload

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/lab"
)

// sources are the test binary as its own contenders, in all protocols.
type sources struct{ lab.Self }

func (s sources) Program(ctx context.Context, kind, dir string, e tare.Entry) (build.Program, error) {
	p, err := s.Self.Program(ctx, kind, dir, e)
	p.Contender.Protocols = protocols()
	return p, err
}

func weigh(t *testing.T, study tare.Study, rounds int) *tare.Result {
	t.Helper()
	study.Kind, study.Question, study.Metrics = rpc.Kind, "?", []string{"cpu", "time", "client-cpu", "allocs", "client-allocs", "client-bytes"}
	r, err := lab.Run(t.Context(), study, lab.Options{
		Kinds: map[string]lab.Kind{rpc.Kind: kind()}, Sources: sources{}, Dir: t.TempDir(),
		Measuring: lab.Measuring{Rounds: rounds, Slice: time.Millisecond, Seed: 7, Env: []string{quick}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Faces in several protocols go the whole way, one of them by its own client.
func TestStudy(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers for many trials")
	}
	t.Parallel()
	set := func(id string, words ...string) tare.Entry {
		e := tare.Entry{ID: id, Use: "good", Set: map[string]string{}}
		for i := 0; i < len(words); i += 2 {
			e.Set[words[i]] = words[i+1]
		}
		return e
	}
	r := weigh(t, tare.Study{
		ID: "faces", Baseline: "good",
		Contenders: []tare.Entry{
			{ID: "good"}, set("grpc", setProtocol, rpc.GRPC), set("fresh", setPolicy, rpc.Fresh),
			set("client", setDriver, driverClient), {ID: "camel"}, set("nowhere", "store", "postgres"),
		},
		Workloads: []tare.Workload{
			{ID: "steady", Fixture: users.Name, Op: opSteady, N: 200, Pool: 100, Traffic: &tare.Traffic{Connections: 2}},
			{ID: "at-rate", Fixture: users.Name, Op: opGet, N: 200, Traffic: &tare.Traffic{Connections: 2, Rate: 200, Segment: time.Second}, Contenders: []string{"grpc", "client"}},
		},
	}, 1)
	var measured []string
	for _, tr := range r.Trials {
		if tr.Contender == "nowhere" {
			if tr.Error == nil || !strings.Contains(tr.Error.Message, "set "+EnvPostgres+" to the URL of a server") {
				t.Errorf("a store that is not there: %v", tr.Error)
			}
			continue
		}
		measured = append(measured, tr.Contender)
		if tr.Error != nil {
			t.Errorf("%s: %v", tr.Contender, tr.Error)
			continue
		}
		for id, s := range tr.Samples {
			if s[tare.KeyErrors] != 0 || s[tare.KeyRequests] <= 0 || s[tare.KeyReceived] != s[tare.KeyReceivedSent] || s["cpu_ns_per_op"] <= 0 && runtime.GOOS == "linux" {
				t.Errorf("%s on %s: %v", tr.Contender, id, s)
			}
			if own := tr.Contender == "client"; (s[tare.KeyClientAllocs] > 0) != own {
				t.Errorf("%s on %s: %v allocations of its client", tr.Contender, id, s[tare.KeyClientAllocs])
			}
			if over := s[tare.KeyConnects] > s[tare.KeyRequests]/2; over != (tr.Contender == "fresh") && id != "at-rate" {
				t.Errorf("%s on %s: %v connections for %v requests", tr.Contender, id, s[tare.KeyConnects], s[tare.KeyRequests])
			}
		}
		if s := tr.Samples["at-rate"]; (tr.Contender == "client" || tr.Contender == "grpc") && (s["p99_ns"] <= 0 || tr.Histograms["at-rate"] == "") {
			t.Errorf("%s: latencies %v", tr.Contender, s)
		}
	}
	monotone(t, r, "at-rate", "client")
	slices.Sort(measured)
	if got := strings.Join(measured, " "); got != "camel client control fresh good grpc null" {
		t.Errorf("measured %s", got)
	}
	for _, c := range r.Conformance {
		if c.Wrong > 0 {
			t.Errorf("%+v", c)
		}
	}
	for _, w := range r.Workloads {
		if (len(w.Parts) > 1) != (w.Op == opSteady) || w.Mixed() != (w.Op == opSteady) {
			t.Errorf("%s has the parts %+v", w.ID, w.Parts)
		}
	}
	for _, s := range r.Semantics {
		var said []string
		for _, d := range s.Differences {
			if d.Class == tare.DiffersInForm {
				said = append(said, d.Says)
			}
		}
		text := strings.Join(said, "\n")
		for _, want := range []string{`writes an id as "300000000"`, "createdAt, email, id, name, updatedAt", "writes a list of nobody as left out", "writes a total of 0 as left out"} {
			if strings.Contains(text, want) != (s.Contender == "camel") {
				t.Errorf("%s: %s", s.Contender, text)
			}
		}
	}
}

// What is wrong is found, with the reason, and the study goes on.
func TestStudyOfFaults(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts many servers")
	}
	r := weigh(t, tare.Study{
		ID: "faults", Baseline: "good",
		Contenders: []tare.Entry{
			{ID: "good"}, {ID: "twice"}, {ID: "forgets"}, {ID: "swaps"}, {ID: "gullible"}, {ID: "killed"},
			{ID: "killed-under-client", Use: "killed", Set: map[string]string{setDriver: driverClient}},
			{ID: "failing", Use: "good", Set: map[string]string{"fail-one": "100"}, Expect: tare.Expect{Void: []string{"error-in-loop"}}},
		},
		Workloads: []tare.Workload{{ID: "steady", Fixture: users.Name, Op: opSteady, N: 300, Pool: 100, Traffic: &tare.Traffic{Connections: 20}}}, // a visit is ten requests for each at least
	}, 1)
	first := map[string]string{}
	for _, c := range r.Conformance {
		if c.Wrong > 0 && first[c.Contender] == "" {
			first[c.Contender] = c.First
		}
	}
	for id, want := range map[string]string{
		"twice":    "want the service to have been called: ",
		"forgets":  "want the service to have been called: ",
		"swaps":    "want body",
		"gullible": "with an empty body: want status 400, got 400 with code",
	} {
		if !strings.Contains(first[id], want) && id != "gullible" || first[id] == "" {
			t.Errorf("%s: %q, want %q", id, first[id], want)
		}
	}
	failed := false
	for _, f := range r.Findings {
		if f.Contender == "failing" && f.Check == "error-in-loop" && f.Severity == tare.Void {
			failed = strings.Contains(f.Message, "status 503 instead of") || strings.Contains(f.Message, "503")
		}
	}
	if !failed {
		t.Errorf("1 %% of failures were not found: %+v", r.Findings)
	}
	for _, tr := range r.Trials {
		if died := tr.Error != nil; died != strings.HasPrefix(tr.Contender, "killed") {
			t.Errorf("%s: %v", tr.Contender, tr.Error)
		}
		if strings.HasPrefix(tr.Contender, "killed") && (tr.Error == nil || tr.Error.Class != tare.ErrExit || !strings.Contains(tr.Error.Message, "signal: killed")) {
			t.Errorf("it died, and the trial says %v", tr.Error)
		}
	}
}
