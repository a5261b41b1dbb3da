package contendertest

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/server"
)

// Lack is what a face has not.
type Lack string

// Lacks.
const (
	NoLayers Lack = "layers" // neither request ids, nor a log, recovery or a rate limit
	NoHTTP2  Lack = "HTTP/2"
	NoCancel Lack = "an end of calls whose caller has gone"
)

// Face runs a face of app users in this process and holds it to what all faces
// do: every operation and every refusal by its own client, in each protocol that
// it speaks, and over HTTP by requests that no client sends.
func Face(t *testing.T, f rpc.Face, lacks ...Lack) {
	t.Helper()
	variants := f.Variants
	if len(variants) == 0 {
		variants = []string{""}
	}
	for _, v := range variants {
		for _, p := range f.Protocols {
			for _, http2 := range []bool{false, true} {
				switch {
				case http2 && slices.Contains(lacks, NoHTTP2), !http2 && p == rpc.GRPC:
					continue
				}
				e := facing{face: f, variant: v, protocol: p, http2: http2, lacks: lacks}
				t.Run(e.String(), e.run)
			}
		}
	}
}

// facing is one way to talk to a face.
type facing struct {
	face              rpc.Face
	variant, protocol string
	http2             bool
	lacks             []Lack
}

func (e facing) String() string {
	version := "http1"
	if e.http2 {
		version = "http2"
	}
	return strings.TrimPrefix(e.variant+"-"+e.protocol+"-"+version, "-")
}

func (e facing) run(t *testing.T) {
	t.Run("operations", e.operations)
	t.Run("refusals", e.refusals)
	t.Run("policies", e.policies)
	t.Run("failures", e.failures)
	t.Run("end", e.end)
	if e.protocol == rpc.HTTP {
		t.Run("answers", e.answers)
		t.Run("bodies", e.bodies)
	}
	if !slices.Contains(e.lacks, NoLayers) {
		t.Run("layers", e.layers)
	}
}

// served is a face that serves.
type served struct {
	facing
	t       *testing.T
	addr    string
	server  server.Server
	service *users.Service
	store   *faulty
	log     *journal
	end     func()
}

// seededUsers is how many users there are at first.
const seededUsers = 25

// serve runs the face over a store in memory until the test ends.
func (e facing) serve(t *testing.T, c users.Config) *served {
	t.Helper()
	memory, err := users.Open(t.Context(), users.MemoryStore, seededUsers)
	if err != nil {
		t.Fatal(err)
	}
	s := &served{facing: e, t: t, store: &faulty{Repository: memory}, log: &journal{}}
	s.service = users.New(c, s.store)
	if s.server, err = e.face.Serve(server.Options{Variant: e.variant, Log: s.log, Receipts: &server.Receipts{}}, s.service); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = l.Addr().String()
	ended := make(chan error, 1)
	go func() { ended <- s.server.Serve(l) }()
	s.end = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.server.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		select {
		case err := <-ended:
			if err != nil && !errors.Is(err, http.ErrServerClosed) {
				t.Errorf("serve: %v", err)
			}
		case <-ctx.Done():
			t.Error("it does not stop serving")
		}
		_ = memory.Close() // which has nothing to close
	})
	t.Cleanup(s.end)
	return s
}

// dial is a client of the face's own.
func (s *served) dial(policy string, callers int) rpc.Client {
	s.t.Helper()
	c, err := s.face.Dial(rpc.Target{Addr: s.addr, Variant: s.variant, Protocol: s.protocol, HTTP2: s.http2, Policy: policy, Callers: callers})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := c.Close(); err != nil {
			s.t.Errorf("close: %v", err)
		}
	})
	return c
}

// journal keeps what is logged. Not every framework writes one line at a time.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// faulty is a store that can be made to fail.
type faulty struct {
	users.Repository
}

// Ids of users that do not come to be found.
const (
	panics = users.FirstID + 1_000_001 + iota
	fails
	waits
)

func (f *faulty) Get(ctx context.Context, id int64) (users.User, error) {
	switch id {
	case panics:
		panic("secret")
	case fails:
		return users.User{}, errors.New("secret")
	case waits:
		<-ctx.Done()
		return users.User{}, ctx.Err()
	}
	return f.Repository.Get(ctx, id)
}

// operations: each does what it says, and comes to the service once.
func (e facing) operations(t *testing.T) {
	s := e.serve(t, users.Config{})
	c, ctx := s.dial(rpc.Pool, 1), t.Context()
	from := time.Now().Add(-time.Microsecond)
	draft := users.Draft{Name: "  Zoë \"Z\" 名前 <&> ", Email: " Zoe@Example.com"}
	made, err := c.Create(ctx, draft)
	want := users.User{ID: users.FirstID + seededUsers, Name: strings.TrimSpace(draft.Name), Email: "zoe@example.com", CreatedAt: made.CreatedAt, UpdatedAt: made.CreatedAt}
	if err != nil || made != want || made.CreatedAt.Before(from) || made.CreatedAt.After(time.Now()) {
		t.Errorf("create: %+v, %v", made, err)
	}
	if got, err := c.Get(ctx, made.ID); err != nil || got != made {
		t.Errorf("get: %+v, %v; want %+v", got, err, made)
	}
	if got, err := c.Get(ctx, users.FirstID+3); err != nil || got != users.Seeded(3) {
		t.Errorf("get: %+v, %v; want %+v", got, err, users.Seeded(3))
	}
	changed, err := c.Update(ctx, users.FirstID+3, users.Draft{Name: "Somebody Else", Email: "w000000001@example.com"})
	want = users.Seeded(3)
	want.Name, want.Email, want.UpdatedAt = "Somebody Else", "w000000001@example.com", changed.UpdatedAt
	if err != nil || changed != want || changed.UpdatedAt.Before(from) {
		t.Errorf("update: %+v, %v", changed, err)
	}
	if err := c.Delete(ctx, users.FirstID); err != nil {
		t.Errorf("delete: %v", err)
	}
	for q, want := range map[users.Query]users.Page{
		{}:                                     {Users: []users.User{users.Seeded(1), users.Seeded(2), changed, users.Seeded(4), users.Seeded(5), users.Seeded(6), users.Seeded(7), users.Seeded(8), users.Seeded(9), users.Seeded(10)}, Total: seededUsers, Page: 1, Limit: 10},
		{Page: 9, Limit: 3}:                    {Users: []users.User{made}, Total: seededUsers, Page: 9, Limit: 3},
		{Text: "zOË", Limit: 1000}:             {Users: []users.User{made}, Total: 1, Page: 1, Limit: 100},
		{Text: "w000000001@example", Page: 2}:  {Users: []users.User{}, Total: 1, Page: 2, Limit: 10},
		{Text: "a&b=c%2B+?/ ü\"'", Limit: 100}: {Users: []users.User{}, Page: 1, Limit: 100},
	} {
		if got, err := c.List(ctx, q); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("list %+v: %+v, %v; want %+v", q, got, err, want)
		}
	}
	calls := s.service.Calls()
	if calls.Sum = 0; calls != (users.Calls{Create: 1, Get: 2, Update: 1, Delete: 1, List: 5}) {
		t.Errorf("calls: %+v", calls)
	}
}

// refusals: each has its code and, where the service says it, its message.
func (e facing) refusals(t *testing.T) {
	s := e.serve(t, users.Config{})
	c, ctx := s.dial(rpc.Pool, 1), t.Context()
	taken := users.Seeded(1).Email
	create := func(name, email string) func() error {
		return func() error { _, err := c.Create(ctx, users.Draft{Name: name, Email: email}); return err }
	}
	update := func(id int64, name, email string) func() error {
		return func() error { _, err := c.Update(ctx, id, users.Draft{Name: name, Email: email}); return err }
	}
	get := func(id int64) func() error { return func() error { _, err := c.Get(ctx, id); return err } }
	list := func(q users.Query) func() error { return func() error { _, err := c.List(ctx, q); return err } }
	const none = users.FirstID + seededUsers
	for _, tt := range []struct {
		name    string
		call    func() error
		code    users.Code
		message string
	}{
		{"create short", create("ab", "a@example.com"), users.InvalidArgument, "name: 3 to 100 characters, not 2"},
		{"create long", create(strings.Repeat("é", 101), "a@example.com"), users.InvalidArgument, "name: 3 to 100 characters, not 101"},
		{"create no address", create("abc", "a@"), users.InvalidArgument, "email: not an address"},
		{"create nothing", create("", ""), users.InvalidArgument, "name: 3 to 100 characters, not 0"},
		{"create taken", create("abc", strings.ToUpper(taken)), users.AlreadyExists, users.ErrEmailTaken.Error()},
		{"get unknown", get(none), users.NotFound, users.ErrNotFound.Error()},
		{"get zero", get(0), users.NotFound, users.ErrNotFound.Error()},
		{"get negative", get(-1), users.NotFound, users.ErrNotFound.Error()},
		{"get failing", get(fails), users.Unavailable, "the store failed"},
		{"update unknown", update(none, "abc", "a@example.com"), users.NotFound, users.ErrNotFound.Error()},
		{"update taken", update(users.FirstID, "abc", taken), users.AlreadyExists, users.ErrEmailTaken.Error()},
		{"update short", update(users.FirstID, "ab", "a@example.com"), users.InvalidArgument, "name: 3 to 100 characters, not 2"},
		{"delete unknown", func() error { return c.Delete(ctx, none) }, users.NotFound, users.ErrNotFound.Error()},
		{"list page", list(users.Query{Page: -1}), users.InvalidArgument, "page: at least 1, not -1"},
		{"list limit", list(users.Query{Limit: -5}), users.InvalidArgument, "limit: at least 1, not -5"},
	} {
		refusedAs(t, tt.name, tt.call(), tt.code, tt.message)
	}
	if p, err := c.List(ctx, users.Query{}); err != nil || p.Total != seededUsers || p.Users[0] != users.Seeded(0) {
		t.Errorf("what was refused has changed something: %+v, %v", p, err)
	}
}

// refusedAs checks that err is a refusal; of any message where that is empty.
func refusedAs(t *testing.T, what string, err error, code users.Code, message string) {
	t.Helper()
	var e *users.Error
	if !errors.As(err, &e) || e.Code != code || message != "" && e.Message != message || strings.Contains(e.Message, "secret") {
		t.Errorf("%s: %v; want %s: %s", what, err, code, message)
	}
}
