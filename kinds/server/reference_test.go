package server

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/load"
)

// What was seen to say the same is not read again, and what says something else
// is found out each time.
func TestVerify(t *testing.T) {
	list, refs, _ := madeFor(t, New(), homelabWorkload("mix", 0, 100))
	w := &work{pool: list, refs: refs}
	verify := w.checkEqual(served["homelab"])
	first := map[int]int{} // by status
	for i, r := range refs {
		if _, ok := first[r.Status]; !ok || list[i].Path == "/api/v1/devices" {
			first[r.Status] = i
		}
	}
	all := first[200]
	indented, err := json.MarshalIndent(json.RawMessage(refs[all].Body), "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(string(indented), "light.device_0000", "light.device_0004", 1)
	for range 2 {
		for i, body := range map[int]string{all: string(indented), first[404]: `{"error":"x"}`, first[405]: `{"error":"x","message":"y"}`, first[400]: ` {"error" : "x"}`} {
			if err := verify(i, refs[i].Status, []byte(body)); err != nil {
				t.Errorf("%s: %v", list[i].Path, err)
			}
		}
		for want, c := range map[string]struct {
			i, status int
			body      string
		}{
			"want body":           {all, 200, other},
			"got \"null\"":        {all, 200, "null"},
			"got \"[\"":           {all, 200, "["},
			"got 500":             {all, 500, string(indented)},
			"names no error":      {first[404], 404, `{"error":""}`},
			"names no error ":     {first[404], 404, `{"error":{"code":7}}`},
			"which is no object":  {first[404], 404, `["error"]`},
			"which is no object ": {first[405], 405, ``},
		} {
			if err := verify(c.i, c.status, []byte(c.body)); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) {
				t.Errorf("%d %s: %v, want %q", c.status, c.body, err, want)
			}
		}
	}
	if n := testing.AllocsPerRun(10, func() { _ = verify(all, 200, indented); _ = verify(all, 200, refs[all].Body) }); n > 0 {
		t.Errorf("%v allocations to see it again", n)
	}
}

func TestReferencesAreMadeOnce(t *testing.T) {
	k := New()
	_, refs, in := madeFor(t, k, ingestWorkload("events", 0, 3))
	again, err := k.referencesOf(in, spec{App: "ingest"})
	if err != nil || &again[0] != &refs[0] {
		t.Errorf("made twice, %v", err)
	}
	if own, err := k.referencesOf(in, spec{App: "ingest", Own: true}); err != nil || own != nil {
		t.Errorf("a reference to requests of the user's own: %v, %v", own, err)
	}
	if _, err := k.referencesOf(in, spec{App: "nothing"}); err == nil {
		t.Error("a reference of an app that is none")
	}
}

func TestDialectsAreMadeOnce(t *testing.T) {
	k := New()
	list, _, in := madeFor(t, k, ingestWorkload("events", 0, 3))
	d, err := served["ingest"].Dialect(tare.Contender{}, map[string]string{"body": "gob"})
	if err != nil {
		t.Fatal(err)
	}
	once, err := k.encodedPool(in, d)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := k.encodedPool(in, d); err != nil || &again[0] != &once[0] {
		t.Errorf("made twice, %v", err)
	}
	if same, err := k.encodedPool(in, Dialect{}); err != nil || &same[0] != &list[0] {
		t.Errorf("made for no dialect, %v", err)
	}
}

func TestHolding(t *testing.T) {
	for _, c := range []struct {
		role tare.Role
		s    spec
		want strictness
	}{
		{tare.RoleContender, spec{App: "ingest"}, strictAll},
		{tare.RoleTrap, spec{App: "ingest"}, strictAll},
		{tare.RoleApart, spec{App: "ingest"}, strictStatus},
		{tare.RoleNull, spec{App: "ingest"}, strictNone},
		{tare.RoleNull, spec{App: "homelab"}, strictNone},
		{tare.RoleNull, spec{App: "tiny"}, strictAll},
		{tare.RoleNull, spec{App: "tiny", Own: true}, strictNone},
		{tare.RoleNull, spec{Own: true}, strictNone},
	} {
		if got := New().strictnessOf(tare.Contender{Role: c.role}, c.s); got != c.want {
			t.Errorf("%s of %+v: %q, want %q", c.role, c.s, got, c.want)
		}
	}
}

// A server that refuses a long body without reading it is heard.
func TestEarlyRefusal(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			in := bufio.NewReader(c)
			if _, err := http.ReadRequest(in); err == nil {
				_, _ = c.Write([]byte("HTTP/1.1 413 x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"))
				_ = c.(*net.TCPConn).CloseWrite()
				time.Sleep(time.Millisecond)
			}
			_ = c.Close()
		}
	}()
	line := &http1Sender{target: load.Target{Addr: l.Addr().String()}, limit: 5 * time.Second}
	defer line.close()
	for range 20 {
		r, err := line.send(context.Background(), Request{Method: http.MethodPost, Path: "/", Body: make([]byte, 16<<20)})
		if err != nil || r.Status != 413 {
			t.Fatalf("%+v, %v", r, err)
		}
	}
}
