package server

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Null is the leanest server that we can write on package net, for null contenders
// and for whoever asks what a load generator costs: a goroutine for each connection
// that reads strictly, appends answers and writes once for all requests that it
// finds in its buffer. It has no time-outs and no access log. It counts all that it
// answers.
type Null struct {
	// Answer appends the whole answer to q to dst, with extra, whole header lines,
	// among the headers. What is in q is there until the next request is read.
	Answer func(dst []byte, q *Request, extra string) []byte

	// MaxBody is how many bytes of a body are kept for Answer; of a longer one only
	// that it is too long, and the connection ends. Zero: bodies are read and dropped.
	MaxBody int64

	// HTTP2 serves connections that begin as those of HTTP/2 do, preface included.
	// Nil: they are refused.
	HTTP2 func(c *Conn)
}

// Serve is a [Make]. Options may be zero.
func (n Null) Serve(o Options) (Server, error) {
	if o.Receipts == nil {
		o.Receipts = &Receipts{}
	}
	return &null{Null: n, receipts: o.Receipts, conns: map[*Conn]struct{}{}}, nil
}

// Anything answers 200 and a few bytes to whatever it is asked.
func Anything(dst []byte, q *Request, extra string) []byte {
	return Reply(dst, q, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n", extra, "ok\n")
}

// Reply appends an answer of prebuilt lines and a body, which HEAD does not have.
func Reply(dst []byte, q *Request, lines, extra, body string) []byte {
	dst = append(dst, lines...)
	dst = append(dst, extra...)
	dst = append(dst, "\r\n"...)
	if q.Head() {
		return dst
	}
	return append(dst, body...)
}

type null struct {
	Null
	receipts *Receipts
	served   sync.WaitGroup // connections and Serve

	mu       sync.Mutex
	conns    map[*Conn]struct{}
	listener net.Listener
	closing  atomic.Bool
}

// Serve serves each connection of l in a goroutine of its own.
func (n *null) Serve(l net.Listener) error {
	if !n.enter(func() { n.listener = l }) {
		return nil
	}
	defer n.served.Done()
	for {
		conn, err := l.Accept()
		if err != nil {
			var passing interface{ Temporary() bool }
			switch {
			case n.closing.Load():
				return nil
			case errors.As(err, &passing) && passing.Temporary():
				time.Sleep(5 * time.Millisecond) // too many open files: some will close
				continue
			}
			return err
		}
		c := &Conn{conn: conn, ends: &n.closing, in: make([]byte, 4<<10), out: make([]byte, 0, 4<<10)}
		if !n.enter(func() { n.conns[c] = struct{}{} }) {
			_ = conn.Close()
			continue
		}
		go n.serve(c)
	}
}

// Shutdown ends every connection that waits for a request, and waits for the others.
func (n *null) Shutdown(ctx context.Context) error {
	n.mu.Lock()
	n.closing.Store(true)
	if n.listener != nil {
		_ = n.listener.Close()
	}
	for c := range n.conns {
		if c.state.CompareAndSwap(connWaits, connEnds) {
			_ = c.conn.SetReadDeadline(time.Unix(1, 0))
		}
	}
	n.mu.Unlock()
	done := make(chan struct{})
	go func() {
		n.served.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		n.mu.Lock()
		defer n.mu.Unlock()
		for c := range n.conns {
			_ = c.conn.Close()
		}
		return ctx.Err()
	}
}

// enter keeps account of what is served, unless all is about to end.
func (n *null) enter(keep func()) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closing.Load() {
		return false
	}
	keep()
	n.served.Add(1)
	return true
}

// serve answers the requests of one connection.
func (n *null) serve(c *Conn) {
	defer func() {
		n.mu.Lock()
		delete(n.conns, c)
		n.mu.Unlock()
		_ = c.conn.Close()
		n.served.Done()
	}()
	if n.HTTP2 != nil && c.begins("PRI ") { // no method begins so
		n.HTTP2(c)
		return
	}
	for n.next(c) {
	}
	if c.flush() == nil && c.closes {
		c.Linger()
	}
}

// next answers the next request. It is false when the connection is to end.
func (n *null) next(c *Conn) bool {
	q := &c.asked
	if err := c.head(q); err != nil {
		c.refuse(err)
		return false
	}
	if q.length != 0 {
		size, err := c.read(q, n.MaxBody)
		if err != nil {
			c.refuse(err)
			return false
		}
		n.receipts.Body(size)
	}
	extra := ""
	switch {
	case q.close:
		extra = "Connection: close\r\n"
	case q.old:
		extra = "Connection: keep-alive\r\n"
	}
	n.receipts.Request()
	c.out = n.Answer(c.out, q, extra)
	return !q.close
}
