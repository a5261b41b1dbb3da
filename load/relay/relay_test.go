package relay

import (
	"bytes"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// server serves every connection with serve until the test ends.
func server(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { defer c.Close(); serve(c) })
		}
	})
	t.Cleanup(func() { l.Close(); all.Wait() })
	return l.Addr().String()
}

func echo(c net.Conn) {
	io.Copy(c, c)
	c.(*net.TCPConn).CloseWrite()
}

func start(t *testing.T, target string, o Options) *Relay {
	t.Helper()
	r, err := Listen(target, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func dial(t *testing.T, addr string) *net.TCPConn {
	t.Helper()
	c, err := net.DialTimeout("tcp", addr, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(30 * time.Second))
	return c.(*net.TCPConn)
}

func TestEverythingArrives(t *testing.T) {
	for name, o := range map[string]Options{
		"plain": {}, "delay": {Delay: 4 * time.Millisecond}, "bandwidth": {Bandwidth: 200e6},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, server(t, echo), o)
			var all sync.WaitGroup
			for i := range 20 {
				c := dial(t, r.Addr())
				all.Go(func() {
					sent := bytes.Repeat([]byte{byte(i), 1, 2, 3, 4}, 20_000+i)
					var got []byte
					var back sync.WaitGroup
					back.Go(func() { got, _ = io.ReadAll(c) })
					if _, err := c.Write(sent); err != nil {
						t.Errorf("write: %v", err)
					}
					c.CloseWrite()
					back.Wait()
					if !bytes.Equal(got, sent) {
						t.Errorf("connection %d: %d bytes came back of %d", i, len(got), len(sent))
					}
				})
			}
			all.Wait()
		})
	}
}

func TestDelayOfARoundTrip(t *testing.T) {
	const delay = 40 * time.Millisecond
	r := start(t, server(t, echo), Options{Delay: delay})
	c := dial(t, r.Addr())
	for range 3 {
		begin := time.Now()
		if _, err := c.Write([]byte("ping")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, 4)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took < delay {
			t.Errorf("a round trip took %v", took)
		}
	}
}

// Each direction has half of the delay.
func TestDelayOfOneWay(t *testing.T) {
	const delay = 60 * time.Millisecond
	arrived := make(chan time.Time, 1)
	r := start(t, server(t, func(c net.Conn) {
		io.ReadFull(c, make([]byte, 1))
		arrived <- time.Now()
	}), Options{Delay: delay})
	c := dial(t, r.Addr())
	begin := time.Now()
	c.Write([]byte("x"))
	if way := (<-arrived).Sub(begin); way < delay/2 {
		t.Errorf("one way took %v", way)
	}
}

// Bytes that are sent while earlier ones are in flight do not wait for these to arrive: ten parts
// in a row take much less than ten delays. The bound is a watchdog, many times the expected time.
func TestDelayCostsNoThroughput(t *testing.T) {
	const delay = 600 * time.Millisecond
	r := start(t, server(t, echo), Options{Delay: delay})
	c := dial(t, r.Addr())
	begin := time.Now()
	for range 10 {
		c.Write([]byte("x"))
		time.Sleep(2 * time.Millisecond)
	}
	if _, err := io.ReadFull(c, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < delay || took > 8*delay {
		t.Errorf("took %v", took)
	}
}

// All connections share the bandwidth.
func TestBandwidth(t *testing.T) {
	const bandwidth, size = 8_000_000, 40_000 // 1 MB/s, 5 × 40 kB: 0.2 s
	r := start(t, server(t, func(c net.Conn) { io.Copy(io.Discard, c) }), Options{Bandwidth: bandwidth})
	begin := time.Now()
	var all sync.WaitGroup
	for range 5 {
		c := dial(t, r.Addr())
		all.Go(func() {
			c.Write(make([]byte, size))
			c.CloseWrite()
			io.ReadAll(c) // the server ends when it has everything
		})
	}
	all.Wait()
	least := time.Duration(5*size*8) * time.Second / bandwidth
	if took := time.Since(begin); took < least-maxBurst {
		t.Errorf("%d bytes took %v, the link needs %v", 5*size, took, least)
	}
}

// Each direction has a separate bandwidth.
func TestLinkOfEitherWay(t *testing.T) {
	a, b := newLink(8e6), newLink(8e6)
	now := time.Unix(1000, 0)
	if through := a.reserve(1000, now); through.Sub(now) != time.Millisecond-maxBurst {
		t.Errorf("1000 bytes on an idle link take %v", through.Sub(now))
	}
	if through := a.reserve(1000, now); through.Sub(now) != 2*time.Millisecond-maxBurst {
		t.Errorf("1000 bytes more take %v", through.Sub(now))
	}
	if through := b.reserve(1000, now); through.Sub(now) != time.Millisecond-maxBurst {
		t.Errorf("the other way: %v", through.Sub(now))
	}
	if free := a.nextFree(); !free.Before(now) {
		t.Errorf("the link is free at %v", free)
	}
	a.reserve(100_000, now)
	if free := a.nextFree(); free.Sub(now) < 80*time.Millisecond {
		t.Errorf("a link with 100 ms to carry is free after %v", free.Sub(now))
	}
	if !(*link)(nil).reserve(5, now).Equal(now) || !(*link)(nil).nextFree().Before(now) {
		t.Error("no link has a bound")
	}
}

func TestChunks(t *testing.T) {
	for bandwidth, want := range map[int64]int{0: maxChunk, 1: minChunk, 8e6: 5000, 1e12: maxChunk} {
		if got := chunkSize(bandwidth); got != want {
			t.Errorf("%d bits per second: %d bytes, want %d", bandwidth, got, want)
		}
	}
}

// A side that has ended its output can still receive.
func TestHalfClose(t *testing.T) {
	r := start(t, server(t, func(c net.Conn) {
		got, _ := io.ReadAll(c)
		c.Write(append([]byte("got "), got...))
	}), Options{Delay: 5 * time.Millisecond})
	c := dial(t, r.Addr())
	c.Write([]byte("all"))
	c.CloseWrite()
	if got, err := io.ReadAll(c); string(got) != "got all" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// A reset is passed on as a reset: it must not look like a regular end.
func TestReset(t *testing.T) {
	r := start(t, server(t, func(c net.Conn) {
		io.ReadFull(c, make([]byte, 1))
		c.(*net.TCPConn).SetLinger(0)
	}), Options{})
	c := dial(t, r.Addr())
	c.Write([]byte("x"))
	if _, err := io.ReadAll(c); err == nil {
		t.Error("a reset arrived as an orderly end")
	}
}

func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	r := start(t, addr, Options{})
	c, err := net.DialTimeout("tcp", r.Addr(), 10*time.Second)
	if err != nil {
		return // the reset came at once
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(30 * time.Second))
	c.Write([]byte("x"))
	if _, err := io.ReadFull(c, make([]byte, 1)); err == nil {
		t.Error("a connection to nobody gives an answer")
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	target := server(t, func(c net.Conn) { // sends for ever
		for {
			if _, err := c.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
	r := start(t, target, Options{Delay: time.Minute, Bandwidth: 1e6})
	conns := []*net.TCPConn{}
	for range 10 {
		c := dial(t, r.Addr())
		c.Write([]byte("x"))
		conns = append(conns, c)
	}
	time.Sleep(20 * time.Millisecond)
	if err := r.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("close again: %v", err)
	}
	for _, c := range conns {
		if _, err := io.ReadAll(c); err != nil && errors.Is(err, net.ErrClosed) {
			t.Errorf("the client's own end: %v", err)
		}
		c.Close()
	}
	if _, err := net.DialTimeout("tcp", r.Addr(), time.Second); err == nil {
		t.Error("the relay still listens")
	}
	for range 200 { // the server's goroutines end when they see that nobody is there
		if runtime.NumGoroutine() <= before+1 { // it still accepts
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	buf := make([]byte, 1<<16)
	t.Errorf("goroutines left:\n%s", buf[:runtime.Stack(buf, true)])
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{Delay: -1}, {Bandwidth: -1}} {
		if r, err := Listen("127.0.0.1:1", o); err == nil {
			r.Close()
			t.Errorf("%+v is accepted", o)
		} else if !strings.HasPrefix(err.Error(), "relay: ") {
			t.Errorf("%v", err)
		}
	}
}
