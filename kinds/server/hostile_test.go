package server

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/trial"
)

// Whatever a server does mid-round, the trial ends in time and says what was
// seen, and nothing is left.
func TestHostile(t *testing.T) {
	t.Parallel()
	for variant, c := range map[string]struct{ class, words string }{
		"refuses": {tare.ErrContender, "slice: "},
		"stalls":  {tare.ErrDeadline, " requests failed, the first: timeout"},
		"resets":  {tare.ErrContender, "slice: "},
		"garbage": {tare.ErrProtocol, "requests failed, the first: "},
		"exits":   {tare.ErrExit, "ended during slice with exit status 3: out of luck"},
		"killed":  {tare.ErrExit, "ended during slice with signal: killed"},
	} {
		t.Run(variant, func(t *testing.T) {
			t.Parallel()
			b := started(t, program(variant))
			b.k.visit = 300 * time.Millisecond
			if variant == "stalls" {
				b.Limit = func(string, time.Duration) time.Duration { return 2 * time.Second }
			}
			b.ready(b.input("get-7", tare.Traffic{Connections: 3}))
			if a := b.visit("get-7", 0, 50); a.Errors > 0 {
				t.Fatalf("it turned early: %+v", a)
			}
			began := time.Now()
			// The visit in which it turns may have been answered in part; the next
			// one is not.
			a, err := b.Slice(t.Context(), wire.Request{On: "get-7", Ops: 3 * turning}, 0)
			if err == nil {
				if a.Errors == 0 || !strings.Contains(a.Message, "requests failed, the first: ") {
					t.Errorf("it turned, and the reply says %+v", a)
				}
				_, err = b.Slice(t.Context(), wire.Request{On: "get-7", Ops: 20}, 0)
			}
			asClass(t, err, c.class, c.words)
			if _, again := b.Warm(t.Context(), "get-7", 1, time.Millisecond, time.Second, 0); !errors.Is(again, err) {
				t.Errorf("then %v, at first %v", again, err)
			}
			if d := time.Since(began); d > 20*time.Second {
				t.Errorf("it took %v", d)
			}
			b.Close(t.Context())
		})
	}
}

// Statuses that were not asked for are counted, and the trial goes on.
func TestErrorsAreCounted(t *testing.T) {
	t.Parallel()
	b := started(t, program("errors"))
	b.ready(b.input("get-7", tare.Traffic{Connections: 2}))
	a := b.visit("get-7", 0, 2*turning)
	if a.Errors < turning-10 || a.Errors >= a.Ops || !strings.Contains(a.Message, "500") {
		t.Errorf("slice %+v", a)
	}
	if a := b.visit("get-7", 0, 10); a.Errors != a.Ops {
		t.Errorf("slice %+v", a)
	}
	if s, _ := b.Gauges("get-7"); s[tare.KeyErrors] < turning {
		t.Errorf("%v errors", s[tare.KeyErrors])
	}
}

// A deadline that is too short for what is asked ends the trial, not the test.
func TestDeadline(t *testing.T) {
	t.Parallel()
	b := started(t, program("sleeps"))
	b.ready(b.input("get-7", tare.Traffic{Connections: 1}))
	ctx, cancel := trial.Limited(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := b.Conn.Do(ctx, wire.Request{Op: wire.OpSlice, On: "get-7", Ops: 1e6})
	asClass(t, err, tare.ErrDeadline, "no end of slice within 0.2 s: ")
}

// Close does not wait for what is under way.
func TestCloseInterrupts(t *testing.T) {
	t.Parallel()
	b := started(t, program("sleeps"))
	b.ready(b.input("get-7", tare.Traffic{Connections: 1}))
	ended := make(chan error, 1)
	go func() {
		_, err := b.Conn.Do(context.Background(), wire.Request{Op: wire.OpSlice, On: "get-7", Ops: 1e6, CapNS: 1e11})
		ended <- err
	}()
	time.Sleep(50 * time.Millisecond)
	began := time.Now()
	b.Conn.Close(t.Context())
	if err := <-ended; err == nil || time.Since(began) > 10*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
}

func TestRequestsThatMakeNoSense(t *testing.T) {
	b := started(t, program("good"))
	in := b.ready(b.input("get-7", tare.Traffic{Connections: 1}))
	for _, q := range []wire.Request{
		{Op: wire.OpPrepare},
		{Op: wire.OpSlice, On: "nothing", Ops: 1},
		{Op: wire.OpSlice, On: in.ID},
		{Op: wire.OpStats, On: in.ID},
		{Op: wire.OpAnswer, On: in.ID, Cases: []int{1}},
		{Op: "dance", On: in.ID},
	} {
		_, err := b.Conn.Do(t.Context(), q)
		asClass(t, err, tare.ErrContender, "")
	}
	b.right(in) // the trial goes on
	if s, h := b.Gauges("nothing"); s != nil || h != "" {
		t.Errorf("gauges of nothing: %v %q", s, h)
	}
}

// A program looks at itself while it is kept busy.
func TestProfile(t *testing.T) {
	t.Parallel()
	b := started(t, program("good"))
	in := b.ready(b.input("get-7", tare.Traffic{Connections: 2}))
	for _, of := range []string{tare.ProfileCPU, tare.ProfileMem} {
		a, err := b.Profile(t.Context(), in.ID, of, 200*time.Millisecond)
		if err != nil || len(a.Profile) == 0 || a.Ops < 1 {
			t.Errorf("%s: %d bytes, %d operations, %v", of, len(a.Profile), a.Ops, err)
		}
	}
	_, err := b.Profile(t.Context(), in.ID, "dreams", time.Millisecond)
	asClass(t, err, tare.ErrContender, "dreams")
	b.visit(in.ID, 0, 10) // and the trial goes on
	if s, _ := b.Gauges(in.ID); s[tare.KeyReceived] != s[tare.KeyReceivedSent] {
		t.Errorf("%v received, %v sent", s[tare.KeyReceived], s[tare.KeyReceivedSent])
	}
}

// asCommand is the test binary as a command.
func asCommand(part string) build.Program {
	return build.Program{Contender: tare.Contender{
		ID: part, Start: tare.Start{Launch: tare.LaunchCommand, Command: []string{"env", envPart + "=" + part, os.Args[0], "-port=$PORT"}},
	}}
}

func TestCommand(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs env")
	}
	t.Parallel()
	b := started(t, asCommand("good"))
	in := b.ready(b.input("get-random", tare.Traffic{Connections: 3}))
	b.right(in)
	a := b.visit(in.ID, 3, 100)
	s, _ := b.Gauges(in.ID)
	if a.Ops < 100 || runtime.GOOS == "linux" && (a.CPUNS <= 0 || s[tare.KeyResident] < 1<<20) {
		t.Errorf("slice %+v, gauges %v", a, s)
	}
	if _, ok := s[tare.KeyReceived]; ok {
		t.Error("a command cannot say what it received")
	}
	if a, err := b.Stats(t.Context(), in.ID, 10, 0); err != nil || !a.Unsupported {
		t.Errorf("stats %+v, %v", a, err)
	}
	_, err := b.Profile(t.Context(), in.ID, "cpu", time.Millisecond)
	asClass(t, err, tare.ErrContender, "only a program")
	if a, err := b.Prepare(t.Context(), b.input("get-7", tare.Traffic{Connections: 3, TLS: true})); err != nil || !a.Unsupported {
		t.Errorf("TLS of a command: %+v, %v", a, err)
	}
	if e := b.Close(t.Context()); e.KilledGroup || e.PID == 0 {
		t.Errorf("evidence %+v", e)
	}
}

func TestCommandsThatDoNotServe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs env")
	}
	t.Parallel()
	k := New()
	open := func(ctx context.Context, p build.Program) error {
		c, err := k.Open(ctx, p, trial.Spec{Dir: t.TempDir(), Env: []string{quick}})
		if err == nil {
			c.Close(ctx)
		}
		return err
	}
	asClass(t, open(t.Context(), asCommand("crashes")), tare.ErrExit, "ended during start with exit status 3: no configuration found")
	asClass(t, open(t.Context(), build.Program{Contender: tare.Contender{Start: tare.Start{Launch: tare.LaunchCommand}}}), tare.ErrStart, "empty command")
	asClass(t, open(t.Context(), build.Program{Contender: tare.Contender{Start: tare.Start{Launch: tare.LaunchCommand, Command: []string{"/nowhere/at/all"}}}}), tare.ErrStart, "no such file")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := open(ctx, asCommand("never listens")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestURL(t *testing.T) {
	t.Parallel()
	at := func(url string) build.Program {
		return build.Program{Contender: tare.Contender{ID: "there", Start: tare.Start{Launch: tare.LaunchURL, URL: url}}}
	}
	paths := make(chan string, 1000)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case paths <- r.URL.Path + " " + r.Host:
		default:
		}
	}))
	defer s.Close()
	b := started(t, at(s.URL+"/base/"))
	in := b.ready(b.input("health", tare.Traffic{Connections: 2}))
	a := b.visit(in.ID, 0, 20)
	host := strings.TrimPrefix(s.URL, "http://")
	if got := <-paths; got != "/base/health "+host {
		t.Errorf("asked for %q", got)
	}
	if a.CPUNS != 0 || a.IdleCPUNS != 0 {
		t.Errorf("CPU of a server elsewhere: %+v", a)
	}
	g, _ := b.Gauges(in.ID)
	for _, key := range []string{tare.KeyServerCPU, tare.KeyServerCores, tare.KeyOutput, tare.KeyReceived, tare.KeyResident} {
		if _, ok := g[key]; ok {
			t.Errorf("%s of a server elsewhere", key)
		}
	}
	// It is no tiny: the sample of answers that is looked at does not match.
	if answers, err := b.Answer(t.Context(), in.ID, []int{0}); err != nil {
		t.Error(err)
	} else if wrong, err := b.k.Compare(in, answers); err != nil || len(wrong) != 1 || !strings.Contains(wrong[0], "GET /health: want content type") {
		t.Errorf("wrong %q, %v", wrong, err)
	}
	if e := b.Close(t.Context()); e != (tare.Evidence{}) {
		t.Errorf("evidence %+v of a server elsewhere", e)
	}

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	b = started(t, at("http://"+l.Addr().String()))
	_, err = b.Prepare(t.Context(), b.input("health", tare.Traffic{Connections: 2}))
	asClass(t, err, tare.ErrStart, "connection refused")

	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	b = started(t, at(secure.URL))
	_, err = b.Prepare(t.Context(), b.input("health", tare.Traffic{Connections: 2}))
	asClass(t, err, tare.ErrStart, "certificate")

	for _, url := range []string{"", "localhost:80", "ftp://localhost", "http://", "http://a b/"} {
		_, err := New().Open(t.Context(), at(url), trial.Spec{Dir: t.TempDir()})
		asClass(t, err, tare.ErrStart, "url")
	}
}
