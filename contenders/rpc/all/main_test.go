package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/server"
)

// seeded is the number of users that a store contains at first.
const seeded = 120

// TestSame makes the same calls with the client of each transport, in each protocol.
// All calls must return the same results, and the service must count the same calls.
func TestSame(t *testing.T) {
	var want, wantName string // results and name of the first combination
	all := listTransports()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f := all[name]
		variants := f.Variants
		if len(variants) == 0 {
			variants = []string{""}
		}
		for _, variant := range variants {
			for _, protocol := range f.Protocols {
				for _, http2 := range []bool{false, true} {
					if protocol == rpc.GRPC && !http2 {
						continue
					}
					gotName := fmt.Sprintf("%s %s %s, HTTP/2: %v", name, variant, protocol, http2)
					got := runScript(t, f, rpc.Target{Variant: variant, Protocol: protocol, HTTP2: http2, Policy: rpc.Pool, Callers: 1})
					switch {
					case want == "":
						want, wantName = got, gotName
					case got != want:
						t.Errorf("%s:\n%s\n%s:\n%s", wantName, want, gotName, got)
					}
				}
			}
		}
	}
	if !strings.Contains(want, `"create":6`) {
		t.Error(want)
	}
}

// runScript makes the calls of script, and returns their results and the counts of the
// service.
func runScript(t *testing.T, f rpc.Face, to rpc.Target) string {
	t.Helper()
	store, err := users.Open(t.Context(), users.MemoryStore, seeded)
	if err != nil {
		t.Fatal(err)
	}
	service := users.New(users.Config{Now: func() time.Time { return time.Unix(1_800_000_000, 123_456_000) }}, store)
	s, err := f.Serve(server.Options{Variant: to.Variant, Receipts: &server.Receipts{}}, service)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	to.Addr = l.Addr().String()
	c, err := f.Dial(to)
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for _, call := range script() {
		v, err := call(t.Context(), c)
		var serviceErr *users.Error
		if err != nil && !errors.As(err, &serviceErr) {
			t.Errorf("%+v: %v", to, err)
		}
		text, _ := json.Marshal([]any{v, serviceErr})
		lines.Write(append(text, '\n'))
	}
	text, _ := json.Marshal(service.Calls())
	lines.Write(text)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil && !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
	return lines.String()
}

// call makes one call and returns its result.
type call func(ctx context.Context, c rpc.Client) (any, error)

// script returns calls of all methods, including edge cases.
func script() []call {
	var list []call
	create := func(d users.Draft) {
		list = append(list, func(ctx context.Context, c rpc.Client) (any, error) { return c.Create(ctx, d) })
	}
	get := func(id int64) {
		list = append(list, func(ctx context.Context, c rpc.Client) (any, error) { return c.Get(ctx, id) })
	}
	update := func(id int64, d users.Draft) {
		list = append(list, func(ctx context.Context, c rpc.Client) (any, error) { return c.Update(ctx, id, d) })
	}
	remove := func(id int64) {
		list = append(list, func(ctx context.Context, c rpc.Client) (any, error) { return nil, c.Delete(ctx, id) })
	}
	page := func(q users.Query) {
		list = append(list, func(ctx context.Context, c rpc.Client) (any, error) { return c.List(ctx, q) })
	}
	valid := users.Draft{Name: " Zoë \\ \"Z\"\u2028<&> 😀 ", Email: " ZOE@example.COM "}
	create(valid)
	create(valid) // the e-mail exists
	create(users.Draft{})
	create(users.Draft{Name: "ab\tc", Email: "c@example.com"})
	create(users.Draft{Name: strings.Repeat("é", 100), Email: "long@example.com"})
	create(users.Draft{Name: strings.Repeat("é", 101), Email: "longer@example.com"})
	for _, id := range []int64{0, -1, 1, users.FirstID, users.FirstID + seeded, users.FirstID + seeded + 2, 1<<63 - 1} {
		get(id)
	}
	update(users.FirstID+1, users.Draft{Name: "Somebody Else", Email: "else@example.com"})
	update(users.FirstID+2, users.Draft{Name: "Somebody Else", Email: "else@example.com"})
	update(users.FirstID+2, users.Draft{Name: "x", Email: "x"})
	update(7, users.Draft{Name: "Somebody", Email: "nobody@example.com"})
	remove(users.FirstID + 3)
	remove(users.FirstID + 3)
	remove(0)
	for _, q := range []users.Query{
		{}, {Page: 2, Limit: 7}, {Limit: 1000}, {Page: 99}, {Page: -1}, {Limit: -1}, {Text: "ELSE@"}, {Text: " zoë "}, {Text: "%"}, {Text: "a&b=c+d"},
		{Text: strings.Repeat("x", users.MaxText+1)}, {Page: 1<<31 - 1, Limit: 100},
	} {
		page(q)
	}
	return list
}
