package lab_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/lab"
)

// serving is a scripted kind with probes, gauges and contenders that are
// commands. It notes what contenders are told.
type serving struct {
	lab.Kind
	lax string // the contender that refuses nothing

	mu   sync.Mutex                   // contenders are prepared at the same time
	told map[string]map[string]string // contender → set, as last prepared
	path map[string]string            // contender → its program, as last opened
	env  []string                     // of the command, as last opened
	slow []time.Duration              // warm-ups asked for
}

func (*serving) Launches() []tare.Launch { return []tare.Launch{tare.LaunchCommand} }

func (*serving) Probes(string, []wire.Workload) ([]wire.Workload, error) {
	return []wire.Workload{{ID: "probe/refuse", Op: "probe", Bodies: 3}}, nil
}

func (k *serving) Compare(w wire.Workload, answers []wire.Answer) ([]string, error) {
	if w.Op != "probe" {
		return k.Kind.Compare(w, answers)
	}
	var wrong []string
	for _, a := range answers {
		if string(a.Output) != "refused" {
			wrong = append(wrong, "case was not refused")
		}
	}
	return wrong, nil
}

func (k *serving) Open(ctx context.Context, p build.Program, spec trial.Spec) (trial.Conn, error) {
	id, _, _ := strings.Cut(spec.Name, "/")
	k.mu.Lock()
	k.path[id] = p.Path
	k.mu.Unlock()
	if p.Contender.Launch == tare.LaunchCommand {
		p.Contender.Name = "lean" // as scripted
		k.env = spec.Env
	}
	c, err := k.Kind.Open(ctx, p, spec)
	return &served{Conn: c, kind: k, id: id}, err
}

type served struct {
	trial.Conn
	kind *serving
	id   string
}

func (c *served) Gauges(on string) (tare.Sample, string) {
	return tare.Sample{"p99_ns": 3e6, tare.KeyTimeouts: 2}, "latencies of " + on
}

func (c *served) Do(ctx context.Context, q wire.Request) (wire.Reply, error) {
	switch {
	case q.Op == wire.OpPrepare:
		c.kind.mu.Lock()
		c.kind.told[c.id] = q.Workload.Set
		c.kind.mu.Unlock()
	case q.Op == wire.OpWarm:
		c.kind.slow = append(c.kind.slow, time.Duration(q.MinNS))
	case q.Op == wire.OpStats && c.id == "command":
		return wire.Reply{Prepared: wire.Prepared{Unsupported: true}}, nil
	case q.Op == wire.OpProfile:
		return wire.Reply{Counts: wire.Counts{Ops: 7}, Profile: []byte("a profile")}, nil
	case q.Op == wire.OpAnswer && q.On == "probe/refuse":
		var a wire.Reply
		for _, i := range q.Cases {
			out := "refused"
			if c.id == c.kind.lax && i == 1 {
				out = "welcome"
			}
			a.Answers = append(a.Answers, wire.Answer{Case: i, Output: []byte(out)})
		}
		return a, nil
	}
	return c.Conn.Do(ctx, q)
}

func servedStudy(t *testing.T) (tare.Study, lab.Options, *serving) {
	s := study()
	s.Criteria = nil
	s.Contenders = append(s.Contenders[:2:2],
		tare.Entry{ID: "quiet", Use: "lean", Set: map[string]string{"log": "none"}},
		tare.Entry{ID: "command", Command: []string{"./srv", "$PORT"}})
	s.Metrics = append(s.Metrics, "p99")
	s.Workloads = []tare.Workload{
		{ID: "visits", Fixture: "x", Op: "get", Set: map[string]string{"log": "file", "depth": "3"}, Traffic: &tare.Traffic{Connections: 4}},
		{ID: "segment", Fixture: "x", Op: "get", Traffic: &tare.Traffic{Connections: 4, Rate: 1000, Segment: 2 * time.Second}},
	}
	o := options(t, script())
	o.Quick, o.Rounds = false, 6
	k := &serving{Kind: o.Kinds["codec"], told: map[string]map[string]string{}, path: map[string]string{}}
	o.Kinds["codec"] = k
	return s, o, k
}

func TestTraffic(t *testing.T) {
	s, o, k := servedStudy(t)
	o.Profile = []string{tare.ProfileCPU}
	r, err := lab.Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	visits, _ := r.Plan.Slicing("visits")
	if visits.Count < 8 || visits.TargetNS < 50e6 || visits.Lead["base"] < 8 {
		t.Errorf("visits are cut into %+v", visits)
	}
	segment, _ := r.Plan.Slicing("segment")
	if segment.Count != 1 || segment.Ops["lean"] != 2000 || segment.Ops["base"] != 2000 {
		t.Errorf("a segment of 2 s at 1000/s is cut into %+v", segment)
	}
	if !slices.Contains(k.slow, 100*time.Millisecond) {
		t.Errorf("servers were warmed up for %v", k.slow)
	}
	for _, tr := range r.Trials {
		for _, w := range []string{"visits", "segment"} {
			sample := tr.Samples[w]
			if sample["p99_ns"] != 3e6 || sample[tare.KeyTimeouts] != 2 || tr.Histograms[w] != "latencies of "+w {
				t.Fatalf("%s on %s has the sample %v and the histogram %q", tr.Contender, w, sample, tr.Histograms[w])
			}
			if _, has := sample["allocs_per_op"]; has == (tr.Contender == "command") {
				t.Errorf("%s on %s: allocations counted is %v", tr.Contender, w, has)
			}
		}
	}
	c, _ := r.Contender("command")
	if c.Launch != tare.LaunchCommand || c.String() != "./srv $PORT" {
		t.Errorf("the command became %+v", c)
	}
	if len(r.Profiles) != 2*4 || r.Profiles[0].File == "" || r.Profiles[0].Ops != 7 {
		t.Errorf("profiles: %+v", r.Profiles)
	}
}

// A contender's own configuration goes over the workload's.
func TestConfiguration(t *testing.T) {
	s, o, k := servedStudy(t)
	o.Only.Workloads = []string{"visits"}
	o.Rounds = 1
	r, err := lab.Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	if got := k.told["quiet"]; got["log"] != "none" || got["depth"] != "3" {
		t.Errorf("quiet was told %v", got)
	}
	if got := k.told["lean"]; got["log"] != "file" {
		t.Errorf("lean was told %v", got)
	}
	if c, _ := r.Contender("quiet"); c.Set["log"] != "none" {
		t.Errorf("the result says quiet is configured as %v", c.Set)
	}
}

func TestWhoDoesNotRefuseIsOut(t *testing.T) {
	s, o, k := servedStudy(t)
	k.lax = "quiet"
	r, err := lab.Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(r.Conformance, func(c tare.Conformance) bool { return c.Probe && c.Wrong > 0 })
	if i < 0 || r.Conformance[i].Contender != "quiet" || r.Conformance[i].Cases != 3 || r.Conformance[i].Wrong != 1 {
		t.Errorf("conformance: %+v", r.Conformance)
	}
	for _, tr := range r.Trials {
		if tr.Contender == "quiet" {
			t.Fatal("it was timed all the same")
		}
	}
}

// Segments take a round longer than the quick budget has.
func TestQuickHasNoSegments(t *testing.T) {
	s, _, _ := servedStudy(t)
	part, left, err := lab.Part(s, true, lab.Only{})
	if err != nil || len(part.Workloads) != 1 || part.Workloads[0].ID != "visits" {
		t.Fatalf("quick measures %+v, %v", part.Workloads, err)
	}
	if len(left) != 1 || !strings.Contains(left[0].Why, "2s") {
		t.Errorf("left out: %+v", left)
	}
	s.Workloads = s.Workloads[1:]
	if _, _, err := lab.Part(s, true, lab.Only{}); err == nil {
		t.Error("a study of segments only is quick")
	}
}

// A kind that starts programs only says so, once.
func TestACommandNeedsAKindForIt(t *testing.T) {
	s, o, k := servedStudy(t)
	o.Kinds["codec"] = k.Kind
	_, err := lab.Run(context.Background(), s, o)
	if err == nil || !strings.Contains(err.Error(), `"command"`) {
		t.Errorf("got %v", err)
	}
}
