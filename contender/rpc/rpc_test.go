package rpc

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/load/hist"
)

// TestClientAndServer has one program serve and another call, over each way to keep connections.
func TestClientAndServer(t *testing.T) {
	for _, set := range []map[string]string{
		{}, {SetCallers: "1", SetPolicy: One}, {SetPolicy: Fresh, SetCallers: "3"}, {SetHTTP2: "on", SetCallers: "4"}, {SetHTTP2: "on", SetPolicy: Pool, SetCallers: "4"},
		{SetHTTP2: "on", SetPolicy: Fresh}, {SetCallers: "8"}, {SetCallers: "3", SetRate: "1000"}, {SetRate: "poisson:1000/s"},
	} {
		server, client := visit(t, httpFace().newProgram(), ""), visit(t, httpFace().newProgram(), "")
		set[SetAddr] = server.serves(map[string]string{"users": "50"})
		w := calls(t, set,
			Call{Op: OpCreate, Name: "Ada", Email: "n%09d@example.com", EmailCounter: Created, EmailStep: true},
			Call{Op: OpGet, ID: users.FirstID + 49},
			Call{Op: OpUpdate, ID: users.FirstID + 49, Name: "Bea", Email: "w%09d@example.com", EmailCounter: Updated, EmailStep: true},
			Call{Op: OpDelete, ID: users.FirstID, IDCounter: Deleted, IDStep: true},
			Call{Op: OpList, Query: "BEA", Page: 1, Limit: 5},
			Call{Op: OpGet, ID: 1, Status: 404},
		)
		client.ok(wire.Request{Op: wire.OpPrepare, Workload: w})
		a := client.ok(wire.Request{Op: wire.OpAnswer, On: "c", Cases: []int{0, 1, 2, 3, 4, 5}})
		for i, want := range []string{`"n000000000@example.com"`, `"created_at":"2024-01-01T00:00:49Z"`, `"name":"Bea","email":"w000000000@example.com"`, `{}`, `"total":1,"page":1,"limit":5}`, `{"code":"not_found"}`} {
			if got := a.Answers[i]; got.Error != "" || !strings.Contains(string(got.Output), want) {
				t.Errorf("%v: answer %d: %s %s, want %s", set, i, got.Error, got.Output, want)
			}
		}
		s := client.ok(wire.Request{Op: wire.OpSlice, On: "c", Until: "ops", Ops: 60, Lead: 12})
		h, err := hist.Decode(string(s.Latency))
		if s.Ops != 60 || s.Errors != 0 || s.Begun < 72 || err != nil || h.Count() != 60 || s.WallNS <= 0 {
			t.Errorf("%v: %+v, %v", set, s, err)
		}
		got := server.ok(wire.Request{Op: wire.OpStats, On: "s"})
		if sum := got.Calls.Create + got.Calls.Get + got.Calls.Update + got.Calls.Delete + got.Calls.List; sum != 6+s.Begun || got.Received != sum || got.Calls.Sum == 0 {
			t.Errorf("%v: %+v %+v, want %d calls", set, got, got.Calls, 6+s.Begun)
		}
		server.ok(wire.Request{Op: wire.OpReset, On: "s"})
		client.ok(wire.Request{Op: wire.OpReset, On: "c"})
		if got := server.ok(wire.Request{Op: wire.OpStats, On: "s"}); *got.Calls != (wire.Calls{}) {
			t.Errorf("%v: after reset: %+v", set, got.Calls)
		}
		if again := client.ok(wire.Request{Op: wire.OpAnswer, On: "c", Cases: []int{0, 3}}); !strings.Contains(string(again.Answers[0].Output), `"id":300000050,"name":"Ada","email":"n000000000@`) || string(again.Answers[1].Output) != "{}" {
			t.Errorf("%v: after reset: %q", set, again.Answers)
		}
	}
}

// TestErrorsCount: a refusal that is not the expected one is an error of its call,
// and so is an answer where a refusal is expected.
func TestErrorsCount(t *testing.T) {
	server, client := visit(t, httpFace().newProgram(), ""), visit(t, httpFace().newProgram(), "")
	addr := server.serves(map[string]string{"users": "3", "fail-one": "4"})
	for want, c := range map[string]Call{
		"get: not_found: no such user":                          {Op: OpGet, ID: 5},
		"get: answered, want an error response with status 404": {Op: OpGet, ID: users.FirstID, Status: 404},
		"get: unavailable: the store failed, as configur":       {Op: OpGet, ID: users.FirstID},
	} {
		client.ok(wire.Request{Op: wire.OpPrepare, Workload: calls(t, map[string]string{SetAddr: addr, SetCallers: "2"}, c)})
		a := client.ok(wire.Request{Op: wire.OpStats, On: "c", Ops: 40})
		if a.Errors < 10 || a.Ops != 40 || !strings.HasPrefix(a.Message, want) && !strings.HasPrefix(a.Message, "get: unavailable") {
			t.Errorf("%+v, want %q", a, want)
		}
	}
	if a := server.ok(wire.Request{Op: wire.OpStats, On: "s"}); a.Calls.Get != 120 {
		t.Errorf("%+v", a.Calls)
	}
	server.serves(nil) // ends the first
	client.ok(wire.Request{Op: wire.OpPrepare, Workload: calls(t, map[string]string{SetAddr: addr}, Call{Op: OpDelete, ID: 7, Status: 404})})
	if a := client.ok(wire.Request{Op: wire.OpSlice, On: "c", Until: "ops", Ops: 5}); a.Errors != 5 || a.Message == "" {
		t.Errorf("nobody listens: %+v", a)
	}
}

func TestClientRefuses(t *testing.T) {
	l := visit(t, httpFace().newProgram(), "")
	get := Call{Op: OpGet, ID: 1}
	for want, set := range map[string]map[string]string{
		`unknown setting "colour" of a client`: {"colour": "red"},
		`callers: "0"`:                         {SetCallers: "0"},
		`callers: "many"`:                      {SetCallers: "many"},
		`neither on nor off`:                   {SetHTTP2: "maybe"},
		`neither pool, one nor fresh`:          {SetPolicy: "none"},
		`rate "fast"`:                          {SetRate: "fast"},
	} {
		set[SetAddr] = "127.0.0.1:1"
		if a := l.do(wire.Request{Op: wire.OpPrepare, Workload: calls(t, set, get)}); a.Error == nil || a.Error.Class != "load" || !strings.Contains(a.Error.Message, want) {
			t.Errorf("%v: %+v, want %q", set, a, want)
		}
	}
	for _, set := range []map[string]string{{SetProtocol: GRPC}, {SetPolicy: One, SetCallers: "2"}} {
		set[SetAddr] = "127.0.0.1:1"
		if a := l.do(wire.Request{Op: wire.OpPrepare, Workload: calls(t, set, get)}); !a.Unsupported {
			t.Errorf("%v: %+v", set, a)
		}
	}
	for want, c := range map[string]Call{
		`unknown call "steal"`:    {Op: "steal"},
		`unknown counter "sold"`:  {Op: OpGet, IDCounter: "sold"},
		`has no %09d for a count`: {Op: OpCreate, Email: "a@b.example", EmailCounter: Created},
	} {
		if a := l.do(wire.Request{Op: wire.OpPrepare, Workload: calls(t, map[string]string{SetAddr: "127.0.0.1:1"}, c)}); a.Error == nil || !strings.Contains(a.Error.Message, want) {
			t.Errorf("%+v: %+v, want %q", c, a, want)
		}
	}
	if _, err := ParseCall([]byte(`{"op":"get","od":1}`)); err == nil {
		t.Error("an unknown field is taken")
	}
	mute := httpFace()
	mute.Dial = nil
	if a := visit(t, mute.newProgram(), "").do(wire.Request{Op: wire.OpPrepare, Workload: calls(t, map[string]string{SetAddr: "127.0.0.1:1"}, get)}); !a.Unsupported {
		t.Errorf("without a client: %+v", a)
	}
}

// TestStoresOfOthers: a store that package users has not is the face's, or not supported.
func TestStoresOfOthers(t *testing.T) {
	f := httpFace()
	prepare := wire.Request{Op: wire.OpPrepare, Workload: &wire.Workload{ID: "s", Set: map[string]string{"store": "sqlite:x"}, Spec: json.RawMessage(`{"app":"users"}`)}}
	if a := visit(t, f.newProgram(), "").do(prepare); !a.Unsupported {
		t.Errorf("not built in: %+v", a)
	}
	asked := ""
	f.Store = opener(&asked)
	if a := visit(t, f.newProgram(), "").do(prepare); a.Addr == "" || asked != "sqlite:x 1000" {
		t.Errorf("%+v, asked for %q", a, asked)
	}
}

// TestVariants: in a program of several faces each is a variant, and keeps those of its own.
func TestVariants(t *testing.T) {
	two := httpFace()
	two.Variants = []string{"dial", "inprocess"}
	p := newJointProgram(map[string]Face{"plain": httpFace(), "gateway": two})
	if got := fmt.Sprint(p.Variants); got != "[gateway gateway-inprocess plain]" {
		t.Fatal(got)
	}
	for variant, want := range map[string]string{"gateway": "dial", "gateway-inprocess": "inprocess", "plain": ""} {
		l := visit(t, p, variant)
		r, err := http.Get("http://" + l.serves(nil) + "/variant")
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(r.Body)
		r.Body.Close()
		http.DefaultClient.CloseIdleConnections()
		if string(text) != want {
			t.Errorf("%s: %q, want %q", variant, text, want)
		}
	}
}

// TestOpenLoopCountsFromIntent: calls that a slow service keeps waiting are late by
// what they waited for, not only by what they took.
func TestOpenLoopCountsFromIntent(t *testing.T) {
	l := visit(t, slowFace(5*time.Millisecond).newProgram(), "")
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: calls(t, map[string]string{SetAddr: "x:1", SetRate: "1000"}, Call{Op: OpDelete, ID: 1})})
	a := l.ok(wire.Request{Op: wire.OpSlice, On: "c", Until: "ops", Ops: 40})
	h, err := hist.Decode(string(a.Latency))
	if err != nil || a.Ops != 40 {
		t.Fatalf("%+v, %v", a, err)
	}
	// 40 calls of 5 ms by one caller take 200 ms; the last was meant for 39 ms.
	if got := time.Duration(h.Max()); got < 150*time.Millisecond {
		t.Errorf("the last call was %v late", got)
	}
}

// TestTry: a face is tried in a protocol that curl speaks, where it has one.
func TestTry(t *testing.T) {
	at := server.Address{Host: "127.0.0.1:1"}
	for want, protocols := range map[string][]string{
		"http://127.0.0.1:1/v1/users":                             {GRPC, HTTP},
		"http://127.0.0.1:1/tare.users.v1.UserService/CreateUser": {Connect, ConnectJSON, GRPC},
		"127.0.0.1:1 tare.users.v1.UserService/CreateUser":        {GRPC},
	} {
		if got := (Face{Protocols: protocols}).tryCommand("it", at); !strings.HasSuffix(got, " "+want) {
			t.Errorf("%v: %s", protocols, got)
		}
	}
}
