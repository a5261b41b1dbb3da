package conformance_test

import (
	"io"
	"os"
	"strings"
	"time"

	"github.com/tarebench/tare/contender/codec"
	"github.com/tarebench/tare/contender/wire"
)

// sized can do nothing but round trips, of which it says that each puts out
// answer bytes when asked, and counts each as counted bytes.
func sized(answer, counted int64) {
	obey(func(q wire.Request, a *wire.Reply) {
		if q.Workload != nil {
			a.Unsupported = q.Workload.Op != codec.OpRoundTrip && a.Error == nil
		}
		for i := range a.Answers {
			a.Answers[i].Size = answer
		}
		if q.Op == wire.OpStats {
			a.Bytes, a.BytesOut = 1<<20, counted*a.Ops
		}
	}, false)
}

// obey is a contender by hand: it replies as it should, or as twist makes it.
// An id of -1 stands for a line that is no reply.
func obey(twist func(q wire.Request, a *wire.Reply), stay bool) {
	in, out, ok, err := wire.Pipes()
	if !ok || err != nil {
		os.Stderr.WriteString("no lab\n")
		os.Exit(2)
	}
	r, w := wire.NewReader(in), wire.NewWriter(out)
	bodies := map[string][]string{}
	for {
		q, err := r.Request()
		if stay && (err == io.EOF || q.Op == wire.OpBye) {
			_ = w.Reply(wire.Reply{ID: q.ID})
			time.Sleep(time.Minute)
		}
		if err != nil {
			os.Exit(0)
		}
		a := reply(q, bodies)
		a.ID = q.ID
		if twist != nil {
			twist(q, &a)
		}
		if a.ID == -1 {
			_, _ = io.WriteString(out, "debug: hello\n")
			continue
		}
		if w.Reply(a) != nil || q.Op == wire.OpBye {
			os.Exit(0)
		}
	}
}

func reply(q wire.Request, bodies map[string][]string) wire.Reply {
	refuse := func(class string) wire.Reply { return wire.Reply{Error: &wire.Error{Class: class, Message: class}} }
	switch q.Op {
	case wire.OpBye:
		return wire.Reply{}
	case wire.OpHello:
		return wire.Reply{Hello: wire.Hello{Protocol: wire.Protocol, Kind: "codec", PID: os.Getpid()}}
	case wire.OpPrepare:
		if q.Workload.Heap > 1<<30 {
			return refuse("bad-request")
		}
		if q.Workload.Op == codec.OpFields {
			return wire.Reply{Prepared: wire.Prepared{Unsupported: true}}
		}
		file, err := os.ReadFile(q.Workload.Input)
		if err != nil {
			return refuse("load")
		}
		bodies[q.Workload.ID] = strings.Split(string(file), "\n")
		return wire.Reply{Prepared: wire.Prepared{Fresh: true}}
	case wire.OpAnswer, wire.OpWarm, wire.OpSlice, wire.OpStats:
		pool, ok := bodies[q.On]
		if !ok {
			return refuse("bad-request")
		}
		a := wire.Reply{Counts: wire.Counts{Ops: q.Ops, WallNS: 1}}
		if q.CapNS > 0 {
			a.Ops = max(1, q.CapOps)
		}
		for _, c := range q.Cases {
			a.Answers = append(a.Answers, wire.Answer{Case: c, Output: []byte(pool[c]), Size: int64(len(pool[c]))})
		}
		return a
	}
	return refuse("unknown-op")
}
