package workload

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/kinds/server"
)

// pooled makes the pool of a workload.
func pooled(t *testing.T, w tare.Workload) []server.Request {
	t.Helper()
	out, err := newRequests(w)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestShares(t *testing.T) {
	for op, want := range map[string]map[string]int{
		opSeedMix: {opCreate: 250, opGet: 250, opUpdate: 250, opList: 250},
		opSteady:  {opCreate: 100, opGet: 550, opUpdate: 150, opList: 100, opDelete: 100},
		opRead95:  {opGet: 950, opUpdate: 50},
		opPair:    {opCreate: 64, opDelete: 64},
	} {
		got := map[string]int{}
		unknown := 0
		for _, q := range pooled(t, workload(op, 1000, 10)) {
			c, _ := callOf(q)
			got[c.Op]++
			if c.Status == 404 {
				unknown++
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", op, got, want)
		}
		if gets := want[opGet]; op != opPair && unknown != gets/50 {
			t.Errorf("%s: %d gets of %d are of nobody", op, unknown, gets)
		}
	}
	if a, b := pooled(t, workload(opSteady, 1000, 10)), pooled(t, workload(opSteady, 1000, 10)); !reflect.DeepEqual(a, b) {
		t.Error("a pool is made twice, and differs")
	}
	different := map[string]bool{}
	for _, q := range pooled(t, workload(opGet, 1_000_000, 10)) {
		different[q.Path] = true
	}
	if len(different) != defaultPool || len(pooled(t, workload(opGet, 10, 1))) != 10 || len(pooled(t, workload(opList, 50, 1))) != 5 {
		t.Errorf("%d different ids", len(different))
	}
}

// Nothing that a pool asks for collides, whatever is under way: for as many
// turns as it takes, every call comes out as it says.
func TestNothingCollides(t *testing.T) {
	for _, op := range allOps() {
		const n, connections = 140, 4
		s := users.New(users.Config{Now: referenceTime}, newMirror(n))
		pool := pooled(t, workload(op, n, connections))
		var from rpc.Counters
		total := n
		for i := range 3000 {
			if op == opDelete && i == n-2*connections {
				break
			}
			c := pool[i%len(pool)].Call.(rpc.Call)
			if err := c.Wrong(do(s, c.Fill(&from))); err != nil {
				t.Fatalf("%s: call %d: %v", op, i, err)
			}
			switch c.Op {
			case opCreate:
				total++
			case opDelete:
				total--
			}
		}
		if keeps := op == opPair || op == opSteady || op == opRead95; keeps && (total < n-20 || total > n+20) {
			t.Errorf("%s leaves %d users of %d", op, total, n)
		}
	}
}

func do(s *users.Service, c rpc.Call) (err error) {
	ctx := context.Background()
	switch c.Op {
	case opCreate:
		_, err = s.Create(ctx, users.Draft{Name: c.Name, Email: c.Email})
	case opGet:
		_, err = s.Get(ctx, c.ID)
	case opUpdate:
		_, err = s.Update(ctx, c.ID, users.Draft{Name: c.Name, Email: c.Email})
	case opDelete:
		err = s.Delete(ctx, c.ID)
	default:
		_, err = s.List(ctx, users.Query{Text: c.Query, Page: c.Page, Limit: c.Limit})
	}
	return err
}

func TestWhatCannotBeAsked(t *testing.T) {
	for want, w := range map[string]tare.Workload{
		"a store of 0 users":            workload(opGet, 0, 1),
		"a store of 20000000 users":     workload(opGet, 20_000_000, 1),
		"delete takes more":             workload(opDelete, 20, 10),
		"create+delete takes more":      workload(opPair, 19, 10),
		"steady takes 200":              workload(opSteady, 150, 10),
		"a pool of 50 requests":         {Fixture: users.Name, N: 1000, Op: opSteady, Pool: 50},
		"a pool of 1000000 requests":    {Fixture: users.Name, N: 1000, Op: opGet, Pool: 1_000_000},
		"op create+delete keeps":        {Fixture: users.Name, N: 1000, Op: opDelete, Traffic: &tare.Traffic{Connections: 1, Segment: time.Second}},
		"an operation of create+delete": {Fixture: users.Name, N: 1000, Op: opPair, Traffic: &tare.Traffic{Connections: 1, Segment: time.Second}},
		"in plain text":                 {Fixture: users.Name, N: 1000, Op: opGet, Traffic: &tare.Traffic{Connections: 1, TLS: true}},
	} {
		if _, err := newRequests(w); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := kind().Input(tare.Workload{ID: "w", Fixture: users.Name, Op: "mix", Traffic: &tare.Traffic{Connections: 1}}, "", t.TempDir()); err == nil || !strings.Contains(err.Error(), "seed-mix") {
		t.Errorf("an op that is none: %v", err)
	}
}

// The store that the reference asks is compared with the one that is served.
func TestMirror(t *testing.T) {
	const n = 30
	memory, err := users.Open(t.Context(), users.MemoryStore, n)
	if err != nil {
		t.Fatal(err)
	}
	stores := []users.Repository{newMirror(n), memory}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 4000 {
		if i%500 == 0 {
			for _, s := range stores {
				if err := s.Reset(t.Context(), n); err != nil {
					t.Fatal(err)
				}
			}
		}
		id := users.FirstID + int64(r.IntN(2*n))
		d := users.Draft{Name: fmt.Sprintf("somebody %d", i), Email: fmt.Sprintf("e%d@example.com", r.IntN(n))}
		if r.IntN(3) == 0 {
			d.Email = users.Seeded(r.IntN(n)).Email
		}
		at := referenceTime().Add(time.Duration(i) * time.Second)
		what, text, offset := r.IntN(6), []string{"", "somebody 1", "u3000", "e1"}[r.IntN(4)], r.IntN(n)
		var got [2]any
		var failed [2]error
		for k, s := range stores {
			switch what {
			case 0, 1:
				got[k], failed[k] = s.Create(t.Context(), d, at)
			case 2:
				got[k], failed[k] = s.Get(t.Context(), id)
			case 3:
				got[k], failed[k] = s.Update(t.Context(), id, d, at)
			case 4:
				failed[k] = s.Delete(t.Context(), id)
			default:
				list, total, err := s.List(t.Context(), text, offset, 10)
				got[k], failed[k] = fmt.Sprint(total, list), err
			}
		}
		if !errors.Is(failed[0], failed[1]) || failed[1] == nil && !reflect.DeepEqual(got[0], got[1]) {
			t.Fatalf("step %d, %d: %v, %v; and %v, %v", i, what, got[0], failed[0], got[1], failed[1])
		}
	}
	for _, s := range stores {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What a request is filled in with is where the client's calls have it, in every dialect.
func TestFilledAlike(t *testing.T) {
	calls := []rpc.Call{createCall(3), updateCall(4, users.FirstID+7), deleteCall(), getUser(users.FirstID + 9), listUsers("a b&c", 2, 10), listUsers("", 0, 0), getUser(-1)}
	calls[1].IDCounter = rpc.Deleted
	for i, c := range calls {
		q, err := canonicalRequest(c)
		if err != nil {
			t.Fatal(err)
		}
		from := rpc.Counters{}
		for range 3 { // the third time round
			calls[i] = c.Fill(&from)
		}
		for name, encode := range map[string]func(server.Request) (server.Request, bool, error){
			"http": func(q server.Request) (server.Request, bool, error) { return q, true, nil }, "grpc": encodeGRPC, "connect": encodeConnect, "connect-json": encodeConnectJSON,
		} {
			e, ok, err := encode(q)
			if err != nil || !ok {
				t.Fatal(err)
			}
			for _, f := range e.Fill {
				into := []byte(e.Path)
				if f.Body {
					into = e.Body
				}
				n := f.Add
				if f.Step || f.Counter == rpc.Deleted && c.Op == opDelete {
					n += 2
				}
				text := []byte(fmt.Sprintf("%0*d", f.Width, n))
				if f.Varint {
					text = []byte{byte(n) | 0x80, byte(n>>7) | 0x80, byte(n>>14) | 0x80, byte(n>>21) | 0x80, byte(n >> 28)}
				}
				copy(into[f.At:], text)
				if !f.Body {
					e.Path = string(into)
				}
			}
			whole, err := canonicalRequest(calls[i])
			if err != nil {
				t.Fatal(err)
			}
			want, _, err := encode(whole)
			if err != nil || e.Path != want.Path || !bytes.Equal(e.Body, want.Body) {
				t.Errorf("%s of %s: %s %q, want %s %q", name, c.Op, e.Path, e.Body, want.Path, want.Body)
			}
		}
	}
}

// A call that is written and read again is the same, whoever reads it.
func TestMessages(t *testing.T) {
	for _, c := range []rpc.Call{createUser("Grete Hermann", "grete@example.com"), updateUser(users.FirstID, "Ada", "a@b.c"), getUser(7), listUsers("é", -1, 1000)} {
		var got rpc.Call
		got.Op = c.Op
		if err := readMessage(encodeMessage(c).bytes, &got); err != nil || got != c {
			t.Errorf("%+v reads as %+v, %v", c, got, err)
		}
		m := encodeJSON(c)
		got = rpc.Call{Op: c.Op}
		if c.ID == 0 {
			m.bytes = append([]byte(`{"id":"0",`), m.bytes[1:]...)
		}
		if readJSON(m.bytes, &got) != nil || got != c {
			t.Errorf("%s reads as %+v", m.bytes, got)
		}
	}
	u := users.Seeded(5)
	if got, err := newDecoder().User(written(u)); err != nil || got != u {
		t.Errorf("%+v reads as %+v, %v", u, got, err)
	}
	p := users.Page{Users: []users.User{u, users.Seeded(6)}, Total: 30, Page: 2, Limit: 10}
	if got, err := newDecoder().Page(written(p)); err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("%+v reads as %+v, %v", p, got, err)
	}
	for _, bad := range []string{"\x00", "\x08", "\x12\x05ab", "\x0b\x00", "\x09\x01", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		if _, err := newDecoder().User([]byte(bad)); err == nil {
			t.Errorf("%q is a user", bad)
		}
	}
}

func FuzzMessages(f *testing.F) {
	f.Add(written(users.Seeded(1)))
	f.Add(written(users.Page{Users: []users.User{users.Seeded(1)}, Total: 1, Page: 1, Limit: 10}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if u, err := newDecoder().User(b); err == nil {
			if again, err := newDecoder().User(written(u)); err != nil || again.ID != u.ID || again.Name != u.Name || !again.CreatedAt.Equal(u.CreatedAt) {
				t.Errorf("%+v reads again as %+v, %v", u, again, err)
			}
		}
		_, _ = newDecoder().Page(b)
		got := decodeGRPC(server.Request{Call: getUser(1)}, server.Response{Status: 200, Body: b})
		if _, err := json.Marshal(got); err != nil {
			t.Error(err)
		}
	})
}
