package server

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// pipes are a connection within limits and its other end.
func pipes(l *limits) (mine net.Conn, other net.Conn) {
	a, b := net.Pipe()
	return l.admitConn(a), b
}

// aged makes a connection look as if it had not been used for so long.
func aged(c net.Conn, by time.Duration) {
	own := c.(*limitedConn)
	own.lastUsed.Store(int64(time.Since(own.limits.began) - by))
}

// TestLimits: one connection too many takes the place of that which is idle for
// longest, and is closed where all have something to do.
func TestLimits(t *testing.T) {
	l := newLimits(3)
	busy, client := pipes(l)
	old, oldest := pipes(l)
	fresh, _ := pipes(l)
	go func() { _, _ = client.Write([]byte("GET")) }()
	if _, err := io.ReadFull(busy, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	aged(busy, time.Hour)
	aged(old, time.Minute)
	aged(fresh, time.Nanosecond)
	fourth, _ := pipes(l)
	if fourth == nil {
		t.Fatal("there is no room")
	}
	if _, err := oldest.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("what was idle is open: %v", err)
	}
	if fifth, _ := pipes(l); fifth != nil {
		t.Error("there is room beside three that are in use")
	}
	if open, refused, closed := l.readCounts(); open != 3 || refused != 1 || closed != 1 {
		t.Error(open, refused, closed)
	}
	for range 2 {
		_ = fourth.Close()
	}
	if open, _, _ := l.readCounts(); open != 2 {
		t.Error(open)
	}
	// What has been answered is idle.
	go func() { _, _ = io.Copy(io.Discard, client) }()
	if _, err := busy.Write([]byte("200")); err != nil {
		t.Fatal(err)
	}
	if !busy.(*limitedConn).idle.Load() {
		t.Error("it is busy after its answer")
	}
}

// TestUnread: a client that does not read holds a write for so long and no longer.
func TestUnread(t *testing.T) {
	l := newLimits(1)
	l.write = time.Millisecond
	c, _ := pipes(l)
	held := time.AfterFunc(10*time.Second, func() { _ = c.Close() })
	if n, err := c.Write([]byte("answer")); !errors.Is(err, os.ErrDeadlineExceeded) || n != 0 {
		t.Errorf("%d bytes, %v; want none, and that the time to write is over", n, err)
	}
	held.Stop()
}

// TestListenerWithin: the listener goes on behind connections that it closes.
func TestListenerWithin(t *testing.T) {
	under, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := newLimits(1)
	within := l.wrapListener(under)
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", under.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	defer dial().Close()
	first, err := within.Accept()
	if err != nil {
		t.Fatal(err)
	}
	second := dial() // while the first is not idle for a second yet
	accepted := make(chan error, 1)
	go func() {
		_, err := within.Accept()
		accepted <- err
	}()
	if _, err := second.Read(make([]byte, 1)); err == nil {
		t.Error("a connection too many is open")
	}
	_ = first.Close()
	defer dial().Close()
	if err := <-accepted; err != nil {
		t.Error(err)
	}
	_ = under.Close()
	if _, err := within.Accept(); err == nil {
		t.Error("a closed listener accepts")
	}
}

// TestLimitsHTTP2: a quarter of the connections may speak HTTP/2. One too many takes the
// place of the idlest of these, and is refused if all have something to do.
func TestLimitsHTTP2(t *testing.T) {
	l := newLimits(8)
	admit := func() (*limitedConn, net.Conn, bool) {
		c, other := pipes(l)
		own := c.(*limitedConn)
		return own, other, l.admitHTTP2(own)
	}
	first, other, ok := admit()
	second, _, ok2 := admit()
	if !ok || !ok2 {
		t.Fatal("two of eight are refused")
	}
	if _, _, ok := admit(); ok {
		t.Error("a third is admitted, and none is idle for a second yet")
	}
	idle, _ := pipes(l) // of HTTP/1
	aged(idle, time.Hour)
	aged(first, time.Minute)
	if _, _, ok := admit(); !ok {
		t.Error("none is admitted in the place of the idlest")
	}
	if _, err := other.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the idlest is open: %v", err)
	}
	_ = first.Close() // a second time
	_ = second.Close()
	if _, _, ok := admit(); !ok {
		t.Error("there is no room after one has closed")
	}
	if l.http2 != 2 {
		t.Errorf("%d are counted, want 2", l.http2)
	}
}
