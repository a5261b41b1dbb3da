package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Null is the leanest server for an app that we can write on package net, for
// the null contender and for whoever asks what a load generator costs: a
// goroutine for each connection that reads strictly, copies prebuilt answers
// and writes once for all requests that it finds in its buffer. It has no
// time-outs and no access log. It answers tiny as the app demands, refusals
// included; the app without a name answers 200 and a few bytes to anything. It
// counts all that it answers. Options may be zero.
func Null(app string) App {
	return func(o Options) (Server, error) {
		answer, ok := map[string]answerer{"": anything, "tiny": tinyAnswer}[app]
		if !ok {
			return nil, fmt.Errorf("the null server does not know app %q", app)
		}
		if o.Receipts == nil {
			o.Receipts = &Receipts{}
		}
		return &null{answer: answer, receipts: o.Receipts, conns: map[net.Conn]struct{}{}}, nil
	}
}

// answerer appends the whole answer to a request to dst. It puts extra, whole
// header lines, among the headers.
type answerer func(dst []byte, q *head, extra string) []byte

type null struct {
	answer   answerer
	receipts *Receipts
	served   sync.WaitGroup // connections and Serve

	mu       sync.Mutex
	conns    map[net.Conn]struct{}
	listener net.Listener
	closing  bool
}

// Serve serves each connection of l in a goroutine of its own.
func (n *null) Serve(l net.Listener) error {
	if !n.enter(l) {
		return nil
	}
	defer n.served.Done()
	for {
		conn, err := l.Accept()
		if err != nil {
			var passing interface{ Temporary() bool }
			switch {
			case n.ends():
				return nil
			case errors.As(err, &passing) && passing.Temporary():
				time.Sleep(5 * time.Millisecond) // too many open files: some will close
				continue
			}
			return err
		}
		if !n.take(conn) {
			_ = conn.Close()
			continue
		}
		go n.serve(conn)
	}
}

// Shutdown ends every connection that waits for a request.
func (n *null) Shutdown(ctx context.Context) error {
	n.mu.Lock()
	n.closing = true
	if n.listener != nil {
		_ = n.listener.Close()
	}
	for conn := range n.conns {
		_ = conn.SetReadDeadline(time.Unix(1, 0)) // ends what reads; what writes may go on
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
		for conn := range n.conns {
			_ = conn.Close()
		}
		return ctx.Err()
	}
}

func (n *null) enter(l net.Listener) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.closing {
		n.listener = l
		n.served.Add(1)
	}
	return !n.closing
}

func (n *null) take(conn net.Conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.closing {
		n.conns[conn] = struct{}{}
		n.served.Add(1)
	}
	return !n.closing
}

func (n *null) ends() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.closing
}

// serve answers the requests of one connection.
func (n *null) serve(conn net.Conn) {
	defer func() {
		n.mu.Lock()
		delete(n.conns, conn)
		n.mu.Unlock()
		_ = conn.Close()
		n.served.Done()
	}()
	t := talk{conn: conn, in: make([]byte, 4<<10), out: make([]byte, 0, 4<<10)}
	for t.next(n) {
	}
	_ = t.flush()
}

// next answers the next request. It is false when the connection is to end.
func (t *talk) next(n *null) bool {
	q := &t.asked
	if err := t.head(q); err != nil {
		t.refuse(err)
		return false
	}
	extra := ""
	switch {
	case q.close:
		extra = "Connection: close\r\n"
	case q.old:
		extra = "Connection: keep-alive\r\n"
	}
	if q.length != 0 {
		if q.expects {
			t.out = append(t.out, "HTTP/1.1 100 Continue\r\n\r\n"...)
		}
		// The head lies in the buffer that the body is read into.
		q.method, q.target = bytes.Clone(q.method), bytes.Clone(q.target)
		size, err := t.skip(q.length)
		if err != nil {
			t.refuse(err)
			return false
		}
		n.receipts.Body(size)
	}
	n.receipts.Request()
	t.out = n.answer(t.out, q, extra)
	return !q.close
}
