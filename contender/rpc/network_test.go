package rpc

import (
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/wire"
)

// TestMetered: what is counted is what the other end sees.
func TestMetered(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got := make(chan int64, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			close(got)
			return
		}
		defer c.Close()
		n, _ := io.Copy(c, c)
		got <- n
	}()
	var n network
	c, err := n.dialCounted(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const size = 100_000
	go func() { _, _ = c.Write(make([]byte, size)) }()
	if _, err := io.ReadFull(c, make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	c.Close()
	if told, want := n.readCounts(), (contender.Network{Opened: 1, In: size, Out: size}); told != want || <-got != size {
		t.Errorf("%+v, want %+v", told, want)
	}
	l.Close()
	if _, err := n.dialCounted(t.Context(), "tcp", l.Addr().String()); err == nil || n.readCounts().Opened != 1 {
		t.Errorf("a connection that nobody takes is counted: %+v, %v", n.readCounts(), err)
	}
}

// TestConnectionsAreTold: as many as the policy has, and the bytes of every call.
// Callers that begin together may each open the one that is for all, and such a
// dial may end in the second slice: that it carries more than a call is known later.
func TestConnectionsAreTold(t *testing.T) {
	addr := visit(t, httpFace().newProgram(), "").serves(nil)
	client := visit(t, httpFace().newProgram(), "")
	for _, http2 := range []string{"off", "on"} {
		for policy, most := range map[string]int64{Pool: 4, One: 4, Fresh: 0} {
			if policy == One && http2 == "off" {
				continue
			}
			set := map[string]string{SetAddr: addr, SetCallers: "4", SetPolicy: policy, SetHTTP2: http2}
			client.ok(wire.Request{Op: wire.OpPrepare, Workload: calls(t, set, Call{Op: OpGet, ID: users.FirstID})})
			var opened, begun int64
			for range 2 {
				a := client.ok(wire.Request{Op: wire.OpSlice, On: "c", Until: "ops", Ops: 100, Lead: 10})
				opened, begun = opened+a.Opened, begun+a.Begun
				if out, in := float64(a.WireOut)/float64(a.Begun), float64(a.WireIn)/float64(a.Begun); a.Errors > 0 || out < 10 || out > 500 || in < 50 || in > 1000 {
					t.Errorf("%s, HTTP/2 %s: %.0f bytes out and %.0f in for a call: %q", policy, http2, out, in, a.Message)
				}
			}
			if policy == Fresh {
				most = begun
			}
			if opened < 1 || opened > most || policy == Fresh && opened != most {
				t.Errorf("%s, HTTP/2 %s: %d connections for %d calls", policy, http2, opened, begun)
			}
		}
	}
}

// TestConnectionForEachCall: a client that closes what it was to keep is found out.
func TestConnectionForEachCall(t *testing.T) {
	f := httpFace()
	f.Dial = func(t Target) (Client, error) {
		c := &httpClient{base: "http://" + t.Addr, form: plainJSON{}}
		c.http = http.Client{Transport: &http.Transport{DialContext: t.DialContext, DisableKeepAlives: true}}
		return c, nil
	}
	addr := visit(t, f.newProgram(), "").serves(nil)
	client := visit(t, f.newProgram(), "")
	client.ok(wire.Request{Op: wire.OpPrepare, Workload: calls(t, map[string]string{SetAddr: addr, SetCallers: "2"}, Call{Op: OpGet, ID: users.FirstID})})
	if a := client.ok(wire.Request{Op: wire.OpSlice, On: "c", Until: "ops", Ops: 50}); a.Opened != a.Begun {
		t.Errorf("%d connections for %d calls", a.Opened, a.Begun)
	}
	if a := client.ok(wire.Request{Op: wire.OpStats, On: "c", Ops: 10}); a.Opened != 10 {
		t.Errorf("%d connections for 10 calls", a.Opened)
	}
}

// TestDialWithoutALab: who counts nothing has connections all the same.
func TestDialWithoutALab(t *testing.T) {
	addr := visit(t, httpFace().newProgram(), "").serves(nil)
	c, err := HTTPClient(Target{Addr: addr, Protocol: HTTP, Policy: Pool, Callers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if u, err := c.Get(t.Context(), users.FirstID); err != nil || u.ID != users.FirstID {
		t.Errorf("%+v, %v", u, err)
	}
}
