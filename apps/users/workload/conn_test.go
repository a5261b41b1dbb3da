package workload

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/kinds/server"
)

// quick keeps the race detector from waiting a second at the end of every process.
const quick = "GORACE=atexit_sleep_ms=0"

func kind() *server.Kind { return server.Of(rpc.Kind, App()) }

// protocols are all that the test binary speaks.
func protocols() []string { return []string{rpc.HTTP, rpc.GRPC, rpc.Connect, rpc.ConnectJSON} }

// program is the test binary as a variant of itself, configured by set.
func program(variant string, set map[string]string) build.Program {
	return build.Program{Path: os.Args[0], Variant: variant, Contender: tare.Contender{ID: variant, Set: set, Declared: tare.Declared{Protocols: protocols()}}}
}

// bench is one trial, and the kind that holds its answers against the reference.
type bench struct {
	t   *testing.T
	k   *server.Kind
	dir string // of inputs
	set map[string]string
	*trial.Session
}

// started opens p and says hello.
func started(t *testing.T, p build.Program) *bench {
	t.Helper()
	k := kind()
	dir := t.TempDir()
	c, err := k.Open(t.Context(), p, trial.Spec{Dir: dir, Env: []string{quick}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close(context.Background())
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("files %v are left, %v", left, err)
		}
	})
	b := &bench{t, k, t.TempDir(), p.Contender.Set, &trial.Session{Conn: c, Trial: p.Variant}}
	a, err := b.Hello(t.Context(), p.Variant, "1")
	if err != nil || a.Kind != rpc.Kind {
		t.Fatalf("hello: %+v, %v", a, err)
	}
	return b
}

func workload(op string, n, connections int) tare.Workload {
	return tare.Workload{ID: op, Fixture: users.Name, N: n, Op: op, Traffic: &tare.Traffic{Connections: connections}}
}

// ready prepares w.
func (b *bench) ready(w tare.Workload) wire.Workload {
	b.t.Helper()
	in, err := b.k.Input(w, "", b.dir)
	if err != nil {
		b.t.Fatal(err)
	}
	in.Set = b.set
	b.prepared(in)
	return in
}

func (b *bench) prepared(in wire.Workload) {
	b.t.Helper()
	if a, err := b.Prepare(b.t.Context(), in); err != nil || a.Unsupported {
		b.t.Fatalf("prepare %s: %+v, %v", in.ID, a, err)
	}
}

// answers asks for every case, some at a time as the lab does, and returns what
// is wrong with the answers.
func (b *bench) answers(in wire.Workload) (wrong []string) {
	b.t.Helper()
	const batch = 16
	for from := 0; from < in.Bodies; from += batch {
		var cases []int
		for i := from; i < min(from+batch, in.Bodies); i++ {
			cases = append(cases, i)
		}
		list, err := b.Answer(b.t.Context(), in.ID, cases)
		if err != nil {
			b.t.Fatal(err)
		}
		said, err := b.k.Compare(in, list)
		if err != nil {
			b.t.Fatal(err)
		}
		wrong = append(wrong, said...)
	}
	return wrong
}

// visit is a slice of so many operations.
func (b *bench) visit(in wire.Workload, lead, ops int64) wire.Reply {
	b.t.Helper()
	a, err := b.Slice(b.t.Context(), wire.Request{On: in.ID, Until: "ops", Lead: lead, Ops: ops}, time.Second)
	if err != nil {
		b.t.Fatal(err)
	}
	return a
}

// probed asks for what must be refused, and returns what is wrong.
func (b *bench) probed(of wire.Workload) []string {
	b.t.Helper()
	list, err := b.k.Probes(b.dir, []wire.Workload{of})
	if err != nil || len(list) != 1 {
		b.t.Fatalf("probes %v, %v", list, err)
	}
	list[0].Set = b.set
	b.prepared(list[0])
	return b.answers(list[0])
}

// Every operation and every refusal, in every protocol, over either version of HTTP, by the load
// generator and by the contender's own client, with the same calls of the service behind it.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]map[string]string{
		"http": nil, "http over HTTP2": {setHTTP2: "on"}, "grpc": {setProtocol: rpc.GRPC},
		"connect": {setProtocol: rpc.Connect}, "connect over HTTP2": {setProtocol: rpc.Connect, setHTTP2: "on"},
		"connect-json": {setProtocol: rpc.ConnectJSON}, "linear": {"store": "linear", setPolicy: rpc.Fresh},
		"client": {setDriver: driverClient}, "growing": {setReset: "never"},
	} {
		if few := []string{"http", "grpc", "connect-json", "client"}; testing.Short() && !slices.Contains(few, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := started(t, program("good", set))
			var in wire.Workload
			for _, op := range allOps() {
				w := workload(op, 300, 4)
				if w.Pool = 16; allMixes()[op] != nil {
					w.Pool = minMixPool
				}
				in = b.ready(w)
				if wrong := b.answers(in); len(wrong) > 0 {
					t.Errorf("%s: %q", op, wrong)
				}
				if set[setReset] != "" && op == opDelete {
					continue // nobody would be left
				}
				for range 2 { // the second one begins where the first one did
					a := b.visit(in, 20, 150)
					if a.Errors > 0 || a.Ops < 100 {
						t.Errorf("%s: %+v", op, a)
					}
				}
				if a, err := b.Warm(t.Context(), in.ID, 3, time.Millisecond, time.Second, 0); err != nil || a.Errors > 0 {
					t.Errorf("%s: %+v, %v", op, a, err)
				}
				s, _ := b.Gauges(in.ID)
				if s[tare.KeyReceived] != s[tare.KeyReceivedSent] || s[tare.KeyReceivedBody] != s[tare.KeySentBody] || s[tare.KeyLayers] != 2 || s[tare.KeyErrors] != 0 {
					t.Errorf("%s: gauges %v", op, s)
				}
				_, told := s[tare.KeyBodyReceived]
				if client := set[setDriver] == driverClient; (s[tare.KeyClientAllocs] > 0) != client || s[tare.KeyBytesSent] <= 0 || s[tare.KeyBytesReceived] <= 0 || told == client || s[tare.KeyClientCPUPerOp] <= 0 {
					t.Errorf("%s: gauges of the client %v", op, s)
				}
				if a, err := b.Stats(t.Context(), in.ID, 50, time.Second); err != nil || a.Errors > 0 || a.Allocs < a.Ops {
					t.Errorf("%s: stats %+v, %v", op, a, err)
				}
			}
			if wrong := b.probed(in); len(wrong) > 0 {
				t.Errorf("probes: %s", strings.Join(wrong, "\n"))
			}
		})
	}
}

// A server that its own client asks is profiled under that client's calls, one
// profile after the other, and the client goes on with the next workload.
func TestProfileUnderItsClient(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("profiles servers")
	}
	b := started(t, program("good", map[string]string{setDriver: driverClient}))
	for _, op := range []string{opGet, opCreate} {
		in := b.ready(workload(op, 300, 4))
		for _, of := range []string{tare.ProfileCPU, tare.ProfileMem} {
			a, err := b.Profile(t.Context(), in.ID, of, 100*time.Millisecond)
			if err != nil || len(a.Profile) == 0 || a.Ops < 1 {
				t.Fatalf("%s of %s: %d bytes, %d operations, %v", of, op, len(a.Profile), a.Ops, err)
			}
		}
		if a := b.visit(in, 0, 50); a.Ops < 50 || a.Errors > 0 {
			t.Errorf("after the profiles of %s: %+v", op, a)
		}
		if s, _ := b.Gauges(in.ID); s[tare.KeyOwnClient] != 1 {
			t.Errorf("after its profiles %s is not asked by the client: %v", op, s)
		}
	}
}
