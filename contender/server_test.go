package contender

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/tarebench/tare/contender/wire"
)

// listener is a program whose servers only note what happens to them. Its
// workloads' ops say how they fail.
func listener(events *[]string) Program {
	n := 0
	note := func(format string, args ...any) { *events = append(*events, fmt.Sprintf(format, args...)) }
	return Program{Kind: "server", Variants: []string{"a", "b"}, Serve: func(variant string, w wire.Workload) (Served, error) {
		switch w.Op {
		case "unknown":
			return Served{}, fmt.Errorf("app: %w", ErrUnsupported)
		case "broken":
			return Served{}, errors.New("address in use")
		case "panic":
			panic("ouch")
		}
		n++
		me, kept := n, [][]byte(nil)
		note("start %d %s", me, variant)
		s := Served{Addr: fmt.Sprintf("127.0.0.1:%d", 4000+me), Stop: func() { note("stop %d", me) }}
		switch w.Op {
		case "silent":
			s.Addr = ""
		case "count":
			s.Counts = func() Counts {
				kept = append(kept, make([]byte, 1<<20))
				return Counts{Requests: int64(len(kept)), BodyBytes: 7, Layers: 3, Delivered: 5}
			}
		case "ends":
			s.End = func() error { note("end %d", me); return nil }
			s.Counts = func() Counts { note("count %d", me); return Counts{Delivered: 9} }
		case "late":
			s.End = func() error { note("end %d", me); return errors.New("2 requests\nare still under way") }
		}
		return s, nil
	}}
}

func asked(id, op string) wire.Request {
	return wire.Request{Op: wire.OpPrepare, Workload: &wire.Workload{ID: id, Op: op, Input: "nowhere"}}
}

func TestServersFollowEachOther(t *testing.T) {
	var events []string
	l := visit(t, listener(&events))
	if a := l.ok(asked("v", "")); a.Addr != "127.0.0.1:4001" || a.Fresh {
		t.Errorf("prepare: %+v", a)
	}
	if a := l.ok(asked("w", "count")); a.Addr != "127.0.0.1:4002" {
		t.Errorf("prepare: %+v", a)
	}
	first := l.ok(wire.Request{Op: wire.OpStats, On: "w"})
	if first.Received != 1 || first.ReceivedBody != 7 || first.LayerCalls != 3 || first.Delivered != 5 || first.Allocs <= 0 || first.Bytes <= 0 || first.Bytes > 1<<20 || first.GC != 0 {
		t.Errorf("stats: %+v", first)
	}
	if again := l.ok(wire.Request{Op: wire.OpStats, On: "w", Ops: 5}); again.Received != 2 || again.Bytes < first.Bytes+1<<20 {
		t.Errorf("stats %+v after %+v", again, first)
	}
	if a := l.do(wire.Request{Op: wire.OpStats, On: "v"}); a.Error == nil {
		t.Errorf("stats of a server that has ended: %+v", a)
	}
	l.ok(wire.Request{Op: wire.OpHello, Protocol: wire.Protocol, Variant: "b"})
	l.ok(asked("x", ""))
	l.ok(wire.Request{Op: wire.OpBye})
	if err := l.end(); err != nil {
		t.Error(err)
	}
	if want := []string{"start 1 a", "stop 1", "start 2 a", "stop 2", "start 3 b", "stop 3"}; !reflect.DeepEqual(events, want) {
		t.Errorf("%q, want %q", events, want)
	}
}

// TestServersEnd: a server can be told to end, once, and be asked afterwards what it counted.
func TestServersEnd(t *testing.T) {
	var events []string
	l := visit(t, listener(&events))
	end := wire.Request{Op: wire.OpEnd, On: "w"}
	for op, message := range map[string]string{"": "", "ends": "", "late": "2 requests; are still under way"} {
		events = nil
		l.ok(asked("w", op))
		events = events[len(events)-1:] // without the end of the former one
		if a := l.ok(end); a.WallNS <= 0 || a.Message != message {
			t.Errorf("%s: %+v", op, a)
		}
		if a := l.do(end); a.Error == nil || a.Error.Class != classBadRequest || !strings.Contains(a.Error.Message, "has ended before") {
			t.Errorf("%s: a second time: %+v", op, a)
		}
		if a := l.ok(wire.Request{Op: wire.OpStats, On: "w"}); op == "ends" && a.Delivered != 9 {
			t.Errorf("%s: stats: %+v", op, a)
		}
		l.do(asked("w", "unknown")) // ends what is left
		got := strings.Join(strings.FieldsFunc(strings.Join(events, " "), func(r rune) bool { return r >= '0' && r <= '9' || r == ' ' }), " ")
		if want := map[string]string{"": "start a stop", "ends": "start a end count stop", "late": "start a end stop"}[op]; got != want {
			t.Errorf("%s: %q, want %q", op, got, want)
		}
	}
	codec := visit(t, echo(nil))
	codec.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "1")})
	if a := codec.do(end); a.Error == nil || a.Error.Class != classNotMine {
		t.Errorf("end of no server: %+v", a)
	}
}

func TestServerRefusals(t *testing.T) {
	var events []string
	l := visit(t, listener(&events))
	if a := l.do(asked("w", "unknown")); !a.Unsupported || a.Error != nil || a.Addr != "" {
		t.Errorf("unknown: %+v", a)
	}
	for op, want := range map[string]string{"broken": "load: address in use", "panic": "internal: panic: ouch", "silent": "load: the contender does not say where it listens"} {
		if a := l.do(asked("w", op)); a.Error == nil || !strings.HasPrefix(a.Error.Error(), want) {
			t.Errorf("%s: %+v", op, a)
		}
	}
	l.ok(asked("w", ""))
	for _, q := range []wire.Request{
		{Op: wire.OpAnswer, Cases: []int{0}}, {Op: wire.OpWarm, MinNS: 1}, {Op: wire.OpSlice, Until: "ops", Ops: 1},
	} {
		q.On = "w"
		if a := l.do(q); a.Error == nil || a.Error.Class != "unsupported" || !strings.Contains(a.Error.Message, "127.0.0.1:4002") {
			t.Errorf("%s: %+v", q.Op, a)
		}
	}
	if err := l.raw.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.end(); err != nil {
		t.Error(err)
	}
	if want := []string{"start 1 a", "stop 1", "start 2 a", "stop 2"}; !reflect.DeepEqual(events, want) {
		t.Errorf("%q, want %q", events, want)
	}
}

// TestServerHoldsHeap: what a workload has a server hold is not what it allocates while it serves.
func TestServerHoldsHeap(t *testing.T) {
	var events []string
	l := visit(t, listener(&events))
	q := asked("w", "")
	q.Workload.Heap = 8 << 20
	l.ok(q)
	if a := l.ok(wire.Request{Op: wire.OpStats, On: "w"}); a.Bytes > 1<<20 {
		t.Errorf("stats: %+v", a)
	}
	q.Workload.Heap = maxHeap + 1
	if a := l.do(q); a.Error == nil || a.Error.Class != classBadRequest {
		t.Errorf("%+v", a)
	}
}

func TestAlone(t *testing.T) {
	t.Setenv(wire.EnvWire, "")
	p := Program{Kind: "server", Alone: func(args []string, _, stderr io.Writer) int {
		fmt.Fprintf(stderr, "alone with %d", len(args))
		return 7
	}}
	var stderr bytes.Buffer
	if code := startProgram(p, &stderr); code != 7 || stderr.String() != fmt.Sprintf("alone with %d", len(os.Args)-1) {
		t.Errorf("code %d: %s", code, stderr.String())
	}
}
