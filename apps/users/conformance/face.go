package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
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
	t.Run("script", e.script)
	t.Run("policies", e.policies)
	t.Run("failures", e.failures)
	t.Run("end", e.end)
	if e.protocol == rpc.HTTP {
		t.Run("paths", e.paths)
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

// serve runs the face over a store in memory until the test ends.
func (e facing) serve(t *testing.T, c users.Config) *served {
	t.Helper()
	memory, err := users.Open(t.Context(), users.MemoryStore, seeded)
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

// frozen is the clock of a face that is compared with a reference.
func frozen() time.Time { return time.Unix(1_800_000_000, 123_456_000) }

// script: every call is answered as it should be, to the face's own client, and
// comes to the service once.
func (e facing) script(t *testing.T) {
	s := e.serve(t, users.Config{Now: frozen})
	right, err := newReference(frozen, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := right.play(s.dial(rpc.Pool, 1), false); err != nil {
		t.Error(err)
	}
	if got, want := s.service.Calls(), right.service.Calls(); got != want {
		t.Errorf("calls: %+v, want %+v", got, want)
	}
	p := dialPlain(e.protocol, s.addr, nil, e.http2, time.Minute)
	defer p.Close()
	if err := p.healthy(); err != nil {
		t.Error(err)
	}
}

// paths: over HTTP statuses, types and refusals are those of the app, and bodies that
// are none come to no service.
func (e facing) paths(t *testing.T) {
	s := e.serve(t, users.Config{})
	p := dialPlain(e.protocol, s.addr, nil, e.http2, time.Minute)
	defer p.Close()
	for _, q := range paths() {
		if err := s.ask(p.transport, q); err != nil {
			t.Errorf("%s %s %.80q: %v", q.method, q.path, q.body, err)
		}
	}
	if c, most := s.service.Calls(), calls(paths()); c.Create+c.Update > most {
		t.Errorf("%+v calls, want %d", c, most)
	}
}

// ask sends a request and judges its answer.
func (s *served) ask(transport http.RoundTripper, p httpCase) error {
	var body io.Reader = strings.NewReader(p.body)
	if p.chunked {
		body = struct{ io.Reader }{body}
	}
	q, err := http.NewRequestWithContext(s.t.Context(), p.method, "http://"+s.addr+p.path, body)
	if err != nil {
		return err
	}
	q.Header.Set("Content-Type", "application/json")
	a, err := transport.RoundTrip(q)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		return err
	}
	if (a.ProtoMajor == 2) != s.http2 || bytes.HasSuffix(text, []byte("\n")) {
		return fmt.Errorf("%s: %q", a.Proto, text)
	}
	return p.judge(a, text)
}

// policies: connections are kept or not, and of many callers of one e-mail one
// wins.
func (e facing) policies(t *testing.T) {
	s := e.serve(t, users.Config{})
	const callers = 20
	for _, policy := range []string{rpc.Pool, rpc.One, rpc.Fresh} {
		if policy == rpc.One && !e.http2 {
			continue
		}
		if err := createAll(s.dial(policy, callers), callers, policy+".example.com", false); err != nil {
			t.Errorf("%s: %v", policy, err)
		}
	}
}
