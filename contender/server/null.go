package server

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Null is a minimal server on package net, to show the overhead of a measurement. It answers all requests in
// its buffer with one write, and counts requests and bytes of bodies. There are no time-outs and no access log.
type Null struct {
	// Answer appends the complete answer to q to dst. The headers must include extra, which is "" or lines
	// such as "Connection: close\r\n". q is valid until the next request.
	Answer func(dst []byte, q *Request, extra string) []byte

	// MaxBody limits stored bodies, in bytes. For a longer one, Answer gets TooLong, and the connection ends.
	// 0 means that bodies are discarded.
	MaxBody int64

	// HTTP2 serves a connection of HTTP/2, including its preface. If HTTP2 is nil, such connections
	// are rejected.
	HTTP2 func(c *Conn)
}

// Serve returns a server for options o, which may be zero. It has the type [Make].
func (n Null) Serve(o Options) (Server, error) {
	if o.Receipts == nil {
		o.Receipts = &Receipts{}
	}
	return &null{Null: n, receipts: o.Receipts, conns: map[*Conn]struct{}{}}, nil
}

// Anything answers every request with status 200 and a few bytes.
func Anything(dst []byte, q *Request, extra string) []byte {
	return Reply(dst, q, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n", extra, "ok\n")
}

// Reply appends an answer to q: lines, with the status line, then extra and body. HEAD gets no body.
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
	receipts *Receipts      // counts requests and bytes of bodies
	served   sync.WaitGroup // goroutines of connections, and of Serve

	mu       sync.Mutex
	conns    map[*Conn]struct{}
	listener net.Listener
	closing  atomic.Bool
}

// Serve serves each connection of l in a goroutine of its own.
func (n *null) Serve(l net.Listener) error {
	if !n.trackConn(func() { n.listener = l }) {
		return nil
	}
	defer n.served.Done()
	for {
		conn, err := l.Accept()
		switch {
		case err == nil: // serve it
		case n.closing.Load():
			return nil
		case isTemporary(err):
			time.Sleep(5 * time.Millisecond) // too many open files: wait until some close
			continue
		default:
			return err
		}
		c := &Conn{conn: conn, ends: &n.closing, in: make([]byte, 4<<10), out: make([]byte, 0, 4<<10)}
		if !n.trackConn(func() { n.conns[c] = struct{}{} }) {
			_ = conn.Close()
			continue
		}
		go n.serveConn(c)
	}
}

func isTemporary(err error) bool {
	var netErr interface{ Temporary() bool }
	return errors.As(err, &netErr) && netErr.Temporary()
}

// Shutdown ends every connection that waits for a request. Others may answer their last request, until ctx
// ends.
func (n *null) Shutdown(ctx context.Context) error {
	n.mu.Lock()
	n.closing.Store(true)
	if n.listener != nil {
		_ = n.listener.Close()
	}
	for c := range n.conns {
		if c.state.CompareAndSwap(connWaits, connEnds) {
			_ = c.conn.SetReadDeadline(time.Unix(1, 0)) // a time in the past ends the read
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

func (n *null) trackConn(record func()) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closing.Load() {
		return false
	}
	record()
	n.served.Add(1)
	return true
}

func (n *null) serveConn(c *Conn) {
	defer func() {
		n.mu.Lock()
		delete(n.conns, c)
		n.mu.Unlock()
		_ = c.conn.Close()
		n.served.Done()
	}()
	if n.HTTP2 != nil && c.hasPrefix("PRI ") { // HTTP/2; no method of HTTP/1 is PRI
		n.HTTP2(c)
		return
	}
	for n.answerNext(c) {
	}
	if c.flushOutput() == nil && c.closes {
		c.Linger()
	}
}

func (n *null) answerNext(c *Conn) bool {
	q := &c.request
	if err := c.readHead(q); err != nil {
		c.writeError(err)
		return false
	}
	if q.length != 0 {
		size, err := c.readBody(q, n.MaxBody)
		if err != nil {
			c.writeError(err)
			return false
		}
		n.receipts.Body(size)
	}
	extra := ""
	switch {
	case q.close:
		extra = "Connection: close\r\n"
	case q.http10:
		extra = "Connection: keep-alive\r\n"
	}
	n.receipts.Request()
	c.out = n.Answer(c.out, q, extra)
	return !q.close
}
