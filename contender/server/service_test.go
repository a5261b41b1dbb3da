package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/contender/wire"
)

// events is app ingest as short as it can be. What keep returns is
// acknowledged.
func events(keep func(o Options, r *http.Request, list []ingest.Record) (ingest.Receipt, error)) App {
	return func(o Options) (Server, error) {
		mux := http.NewServeMux()
		mux.HandleFunc("POST /{$}", func(w http.ResponseWriter, r *http.Request) {
			o.Receipts.Request()
			var list []ingest.Record
			err := json.NewDecoder(r.Body).Decode(&list)
			var receipt ingest.Receipt
			if err == nil {
				receipt, err = keep(o, r, list)
			}
			if err != nil {
				ref := o.Ingest.RefusalOf(err)
				w.WriteHeader(ref.Status)
				_ = json.NewEncoder(w).Encode(ref)
				return
			}
			_ = json.NewEncoder(w).Encode(receipt)
		})
		mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
			o.Receipts.Request()
			fmt.Fprintln(w, "ok")
		})
		return HTTPBodies(AccessLog(mux, o)), nil
	}
}

func sound(o Options, r *http.Request, list []ingest.Record) (ingest.Receipt, error) {
	return o.Ingest.Accept(r.Context(), ingest.Records(list, json.Marshal))
}

// drops is a planted fault: it acknowledges every other batch and forgets it.
func drops() App {
	n := 0
	return events(func(o Options, r *http.Request, list []ingest.Record) (ingest.Receipt, error) {
		if n++; n%2 == 0 {
			return ingest.Receipt{Accepted: len(list), Bytes: 1}, nil
		}
		return sound(o, r, list)
	})
}

// send sends a batch of records whose ids begin with name, and returns how many
// were acknowledged.
func send(t *testing.T, addr, name string, n int) int {
	t.Helper()
	var list []ingest.Record
	for i := range n {
		list = append(list, ingest.Record{ID: fmt.Sprint(name, i), Timestamp: time.Unix(1, 0).UTC()})
	}
	body, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.Post("http://"+addr+"/", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var receipt ingest.Receipt
	if err := json.NewDecoder(r.Body).Decode(&receipt); err != nil {
		t.Fatal(err)
	}
	return receipt.Accepted
}

func (l *lab) prepareApp(app string, set map[string]string) wire.Reply {
	l.t.Helper()
	return l.do(wire.Request{Op: wire.OpPrepare, Workload: &wire.Workload{ID: "w", Set: set, Spec: json.RawMessage(`{"app":"` + app + `"}`)}})
}

// TestDelivered: stats say what the sink has taken, whatever was acknowledged.
func TestDelivered(t *testing.T) {
	for name, tt := range map[string]struct {
		app  App
		want int64
	}{"sound": {events(sound), 12}, "drops": {drops(), 6}} {
		l := visit(t, Apps{AppIngest: tt.app})
		l.do(wire.Request{Op: wire.OpHello, Protocol: wire.Protocol})
		for _, set := range []map[string]string{nil, {SetSink: "file:" + filepath.Join(t.TempDir(), "events.ndjson"), SetFsync: "on"}} {
			addr := l.prepareApp(AppIngest, set).Addr
			acked := 0
			for i := range 4 {
				acked += send(t, addr, fmt.Sprint(i, "-"), 3)
			}
			a := l.do(wire.Request{Op: wire.OpStats, On: "w"})
			if acked != 12 || a.Delivered != tt.want || a.Received != 4 {
				t.Errorf("%s %v: %d acknowledged, %+v, want %d delivered", name, set, acked, a, tt.want)
			}
		}
	}
}

// TestEnd: a server that is told to end lets a request under way end, has its
// sink closed afterwards, and can be asked what it counted.
func TestEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.ndjson")
	begun := make(chan struct{}, 1)
	l := visit(t, Apps{AppIngest: events(func(o Options, r *http.Request, list []ingest.Record) (ingest.Receipt, error) {
		begun <- struct{}{}
		time.Sleep(300 * time.Millisecond)
		return sound(o, r, list)
	})})
	l.do(wire.Request{Op: wire.OpHello, Protocol: wire.Protocol})
	addr := l.prepareApp(AppIngest, map[string]string{SetSink: "file:" + path}).Addr
	acked := make(chan int, 1)
	go func() { acked <- send(t, addr, "a", 10) }()
	<-begun
	a := l.do(wire.Request{Op: wire.OpEnd, On: "w"})
	if a.Error != nil || a.Message != "" || a.WallNS <= 0 || time.Duration(a.WallNS) > 5*time.Second {
		t.Errorf("end: %+v", a)
	}
	if n := <-acked; n != 10 {
		t.Errorf("%d acknowledged", n)
	}
	if a := l.do(wire.Request{Op: wire.OpStats, On: "w"}); a.Delivered != 10 || a.Received != 1 {
		t.Errorf("stats: %+v", a)
	}
	if conn, err := net.Dial("tcp", addr); err == nil {
		conn.Close()
		t.Error("somebody still listens")
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), "\n") != 10 {
		t.Errorf("%v: %s", err, text)
	}
	if a := l.prepareApp(AppIngest, map[string]string{SetSink: "file:" + path}); a.Addr == "" {
		t.Errorf("afterwards: %+v", a)
	}
}

// TestEndCuts: what has not ended in time is cut off, and that is said.
func TestEndCuts(t *testing.T) {
	hold := make(chan struct{})
	defer close(hold)
	begun := make(chan struct{}, 1)
	apps := Apps{AppIngest: events(func(Options, *http.Request, []ingest.Record) (ingest.Receipt, error) {
		begun <- struct{}{}
		<-hold
		return ingest.Receipt{}, nil
	})}
	r, err := Host{Apps: apps}.start(setup{app: AppIngest, addr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	conn := connect(t, r.addr)
	io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n[]")
	<-begun
	if err := r.stop(50 * time.Millisecond); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
	if err := r.stop(50 * time.Millisecond); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

// TestHomelabStarts: a house has as many devices as are asked for.
func TestHomelabStarts(t *testing.T) {
	var devices, rate int
	l := visit(t, Apps{AppHomelab: func(o Options) (Server, error) {
		devices, rate = len(o.Homelab.Devices()), 0
		if o.Homelab.Limited() {
			rate = 1
		}
		if o.Ingest != nil {
			t.Error("a house has a sink")
		}
		return plainTiny(o)
	}})
	l.do(wire.Request{Op: wire.OpHello, Protocol: wire.Protocol})
	for _, tt := range []struct {
		set     map[string]string
		devices int
		rate    int
	}{{nil, 50, 0}, {map[string]string{SetDevices: "3", SetRateLimit: "10"}, 3, 1}} {
		if a := l.prepareApp(AppHomelab, tt.set); a.Addr == "" || devices != tt.devices || rate != tt.rate {
			t.Errorf("%v: %d devices, limit %d, %+v", tt.set, devices, rate, a)
		}
	}
	for want, set := range map[string]map[string]string{"is no origin": {SetOrigins: "x"}, "not a whole number": {SetDevices: "x"}} {
		if a := l.prepareApp(AppHomelab, set); a.Error == nil || !strings.Contains(a.Error.Message, want) {
			t.Errorf("%v: %+v, want %q", set, a, want)
		}
	}
}

// TestSinkThatCannotBe: a server whose sink cannot be opened does not start, and
// nobody listens in its place.
func TestSinkThatCannotBe(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	a := alone{Host{Apps: Apps{AppIngest: events(sound)}}}
	var said bytes.Buffer
	code := a.main([]string{"-addr", addr, "-sink", "file:" + filepath.Join(t.TempDir(), "no", "such", "dir")}, os.Stdout, &said)
	if code != 1 || strings.Count(said.String(), "\n") != 1 {
		t.Errorf("code %d: %s", code, said.String())
	}
	if conn, err := net.Dial("tcp", addr); err == nil {
		conn.Close()
		t.Error("somebody listens")
	}
}

// TestNotices: whoever starts a service without a sink is told.
func TestNotices(t *testing.T) {
	for sink, want := range map[string]int{"null": 1, "file:" + filepath.Join(t.TempDir(), "events.ndjson"): 0} {
		a := alone{Host{Apps: Apps{AppIngest: events(sound)}}}
		s, err := a.parse([]string{"-addr", "127.0.0.1:0", "-sink", sink}, nil, func(string) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		said, done := make(lines, 9), make(chan error, 1)
		go func() { done <- a.serve(ctx, s, said) }()
		if want == 1 {
			if line := <-said; !strings.Contains(line, "thrown away") || strings.Count(line, "\n") != 1 {
				t.Errorf("%s: %q", sink, line)
			}
		}
		if line := <-said; !strings.Contains(line, ": serving ingest at http://") {
			t.Errorf("%s: %q", sink, line)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
