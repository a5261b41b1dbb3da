package server

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Null is a minimal server on package net, for null contenders
// and for measurements of the load generator's own cost. A goroutine for each connection
// parses requests strictly, and writes the answers to all requests in its buffer with one
// call. There are no time-outs and no access log. Requests and bytes of bodies are counted.
type Null struct {
	// Answer appends the complete answer to q to dst. Its headers must include extra, which
	// is "" or complete header lines. The contents of q are valid until the next request is read.
	Answer func(dst []byte, q *Request, extra string) []byte

	// MaxBody limits the bytes of a body that are stored for Answer. If a body is longer,
	// Answer is called with TooLong set, and the connection ends. If 0, bodies are read and
	// discarded.
	MaxBody int64

	// HTTP2 serves connections of HTTP/2. It must read the preface, too. If nil, such
	// connections are rejected.
	HTTP2 func(c *Conn)
}

// Serve is a [Make]. Options may be zero.
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

// Reply appends an answer of the given header lines and a body, which is omitted for HEAD.
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
	served   sync.WaitGroup // counts the goroutines of connections, and Serve

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
		if err != nil {
			var netErr interface{ Temporary() bool }
			switch {
			case n.closing.Load():
				return nil
			case errors.As(err, &netErr) && netErr.Temporary():
				time.Sleep(5 * time.Millisecond) // too many open files: wait until some close
				continue
			}
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

// trackConn calls record, which stores a connection or the listener, and adds one to n.served. It does nothing
// and returns false if the server ends.
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

// serveConn answers the requests of one connection.
func (n *null) serveConn(c *Conn) {
	defer func() {
		n.mu.Lock()
		delete(n.conns, c)
		n.mu.Unlock()
		_ = c.conn.Close()
		n.served.Done()
	}()
	if n.HTTP2 != nil && c.hasPrefix("PRI ") { // no method has this prefix
		n.HTTP2(c)
		return
	}
	for n.answerNext(c) {
	}
	if c.flushOutput() == nil && c.closes {
		c.Linger()
	}
}

// answerNext answers the next request. It returns false if the connection must end.
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
