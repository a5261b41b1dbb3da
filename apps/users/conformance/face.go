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

// Lack is a feature that a transport may lack.
type Lack string

// Features that a transport may lack.
const (
	NoLayers Lack = "layers" // request ids, a log, recovery and a rate limit
	NoHTTP2  Lack = "HTTP/2"
	NoCancel Lack = "an end of calls whose caller has gone" // cancellation of a call when its client disconnects
)

// Face tests a transport of app users in this process: the HTTP or RPC code around the service. It makes every
// call and error with the transport's client, in each variant, protocol and HTTP version. Over HTTP it also
// sends requests that no client sends.
func Face(t *testing.T, f rpc.Face, lacks ...Lack) {
	t.Helper()
	variants := f.Variants
	if len(variants) == 0 {
		variants = []string{""}
	}
	for _, v := range variants {
		for _, p := range f.Protocols {
			for _, http2 := range []bool{false, true} {
				isPossible := p != rpc.GRPC // gRPC needs HTTP/2
				if http2 {
					isPossible = !slices.Contains(lacks, NoHTTP2)
				}
				if !isPossible {
					continue
				}
				e := transportTest{transport: f, variant: v, protocol: p, http2: http2, lacks: lacks}
				t.Run(e.String(), e.runTests)
			}
		}
	}
}

// transportTest has one variant, protocol and HTTP version.
type transportTest struct {
	transport         rpc.Face
	variant, protocol string
	http2             bool
	lacks             []Lack
}

// String returns the name of the test: "http-http1".
func (e transportTest) String() string {
	version := "http1"
	if e.http2 {
		version = "http2"
	}
	return strings.TrimPrefix(e.variant+"-"+e.protocol+"-"+version, "-")
}

func (e transportTest) runTests(t *testing.T) {
	t.Run("script", e.testScript)
	t.Run("policies", e.testPolicies)
	t.Run("failures", e.testFailures)
	t.Run("end", e.testEnd)
	if e.protocol == rpc.HTTP {
		t.Run("paths", e.testPaths)
	}
	if !slices.Contains(e.lacks, NoLayers) {
		t.Run("layers", e.testLayers)
	}
}

type runningServer struct {
	transportTest
	t       *testing.T
	addr    string
	server  server.Server
	service *users.Service
	store   *faultyStore
	log     *logBuffer
	end     func() // stops the server, once
}

// startServer runs until the test ends.
func (e transportTest) startServer(t *testing.T, c users.Config) *runningServer {
	t.Helper()
	memory, err := users.Open(t.Context(), users.MemoryStore, seeded)
	if err != nil {
		t.Fatal(err)
	}
	s := &runningServer{transportTest: e, t: t, store: &faultyStore{Repository: memory}, log: &logBuffer{}}
	s.service = users.New(c, s.store)
	if s.server, err = e.transport.Serve(server.Options{Variant: e.variant, Log: s.log, Receipts: &server.Receipts{}}, s.service); err != nil {
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
		_ = memory.Close() // does nothing
	})
	t.Cleanup(s.end)
	return s
}

// dialClient returns the transport's own client. The test closes it.
func (s *runningServer) dialClient(policy string, callers int) rpc.Client {
	s.t.Helper()
	c, err := s.transport.Dial(rpc.Target{Addr: s.addr, Variant: s.variant, Protocol: s.protocol, HTTP2: s.http2, Policy: policy, Callers: callers})
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

// logBuffer collects a server's log. Frameworks may write concurrently, and parts of lines.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// faultyStore fails Get for some ids.
type faultyStore struct {
	users.Repository
}

// Ids for which a faultyStore fails.
const (
	panicID = users.FirstID + 1_000_001 + iota // Get panics
	failID                                     // Get returns an unknown error
	waitID                                     // Get waits until its context ends
)

// Get fails for some ids.
func (f *faultyStore) Get(ctx context.Context, id int64) (users.User, error) {
	switch id {
	case panicID:
		panic("secret")
	case failID:
		return users.User{}, errors.New("secret")
	case waitID:
		<-ctx.Done()
		return users.User{}, ctx.Err()
	}
	return f.Repository.Get(ctx, id)
}

// frozenTime is the clock of a transport and of the reference.
func frozenTime() time.Time { return time.Unix(1_800_000_000, 123_456_000) }

// testScript checks each call of the script with the client. Each must reach the service once.
func (e transportTest) testScript(t *testing.T) {
	s := e.startServer(t, users.Config{Now: frozenTime})
	ref, err := newReference(frozenTime, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := ref.playScript(s.dialClient(rpc.Pool, 1), false); err != nil {
		t.Error(err)
	}
	if got, want := s.service.Calls(), ref.service.Calls(); got != want {
		t.Errorf("calls: %+v, want %+v", got, want)
	}
	p := dialPlain(e.protocol, s.addr, nil, e.http2, time.Minute)
	defer p.Close()
	if err := p.checkHealthy(); err != nil {
		t.Error(err)
	}
}

// testPaths checks responses over HTTP. Requests with an invalid body must not reach the service.
func (e transportTest) testPaths(t *testing.T) {
	s := e.startServer(t, users.Config{})
	p := dialPlain(e.protocol, s.addr, nil, e.http2, time.Minute)
	defer p.Close()
	for _, c := range pathCases() {
		if err := s.sendCase(p.transport, c); err != nil {
			t.Errorf("%s %s %.80q: %v", c.method, c.path, c.body, err)
		}
	}
	if calls, maxCalls := s.service.Calls(), countUserCalls(pathCases()); calls.Create+calls.Update > maxCalls {
		t.Errorf("%+v calls, want %d", calls, maxCalls)
	}
}

// sendCase checks the response to c. Its body must not end with a line end.
func (s *runningServer) sendCase(transport http.RoundTripper, c httpCase) error {
	var body io.Reader = strings.NewReader(c.body)
	if c.chunked {
		body = struct{ io.Reader }{body} // hides the length from net/http
	}
	request, err := http.NewRequestWithContext(s.t.Context(), c.method, "http://"+s.addr+c.path, body)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	isHTTP2 := response.ProtoMajor == 2
	if isHTTP2 != s.http2 || bytes.HasSuffix(text, []byte("\n")) {
		return fmt.Errorf("%s: %q", response.Proto, text)
	}
	return c.checkResponse(response, text)
}

// testPolicies creates users with one e-mail concurrently, with each policy of connections.
func (e transportTest) testPolicies(t *testing.T) {
	s := e.startServer(t, users.Config{})
	const callers = 20
	for _, policy := range []string{rpc.Pool, rpc.One, rpc.Fresh} {
		if policy == rpc.One && !e.http2 { // concurrent calls over one connection need HTTP/2
			continue
		}
		if err := createAll(s.dialClient(policy, callers), callers, policy+".example.com", false); err != nil {
			t.Errorf("%s: %v", policy, err)
		}
	}
}
