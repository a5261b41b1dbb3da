// Package face serves users over HTTP/1.1, and over gRPC on the same port, with as
// little as that takes.
package face

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/server"
)

// New is the face.
func New() rpc.Face {
	return rpc.Face{Serve: serve, Protocols: []string{rpc.GRPC, rpc.HTTP}, Dial: dial}
}

func serve(o server.Options) (server.Server, error) {
	f := &face{users: o.Users, receipts: o.Receipts, conns: map[net.Conn]bool{}}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	if o.Log != nil {
		f.line = server.Lines(o.Log)
	}
	return f, nil
}

// face is the server: a goroutine for each connection, without time-outs.
type face struct {
	users    *users.Service
	receipts *server.Receipts
	line     func(method, path string, status int, took time.Duration) // nil: there is no log
	ctx      context.Context                                           // of all calls, until the server is given up
	cancel   context.CancelFunc
	served   sync.WaitGroup // connections and Serve

	mu       sync.Mutex
	conns    map[net.Conn]bool // those that wait for a request
	listener net.Listener
	closing  bool
}

// Serve serves each connection of l in a goroutine of its own.
func (f *face) Serve(l net.Listener) error {
	if !f.enter(func() { f.listener = l }) {
		return http.ErrServerClosed
	}
	defer f.served.Done()
	for {
		conn, err := l.Accept()
		if err != nil {
			var passing interface{ Temporary() bool }
			switch {
			case f.ends():
				return http.ErrServerClosed
			case errors.As(err, &passing) && passing.Temporary():
				time.Sleep(5 * time.Millisecond) // too many open files: some will close
				continue
			}
			return err
		}
		if !f.enter(func() { f.conns[conn] = false }) {
			_ = conn.Close()
			continue
		}
		go func() {
			defer f.leave(conn)
			t := talk{conn: conn, in: bufio.NewReader(conn)}
			if f.speaks2(&t) {
				f.serve2(&t)
				return
			}
			for f.next(&t) {
			}
		}()
	}
}

// Shutdown ends connections that wait for a request, and waits for the others.
func (f *face) Shutdown(ctx context.Context) error {
	defer f.cancel()
	f.mu.Lock()
	f.closing = true
	if f.listener != nil {
		_ = f.listener.Close()
	}
	for conn, waits := range f.conns {
		if waits {
			_ = conn.SetReadDeadline(time.Unix(1, 0))
		}
	}
	f.mu.Unlock()
	done := make(chan struct{})
	go func() {
		f.served.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		f.mu.Lock()
		defer f.mu.Unlock()
		for conn := range f.conns {
			_ = conn.Close()
		}
		return ctx.Err()
	}
}

// enter keeps account of what is served, unless all is about to end.
func (f *face) enter(keep func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closing {
		keep()
		f.served.Add(1)
	}
	return !f.closing
}

// waits notes whether a connection waits for a request. It is false when none
// will come.
func (f *face) waits(conn net.Conn, yes bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conns[conn] = yes
	return !yes || !f.closing
}

func (f *face) leave(conn net.Conn) {
	_ = conn.Close()
	f.mu.Lock()
	delete(f.conns, conn)
	f.mu.Unlock()
	f.served.Done()
}

func (f *face) ends() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closing
}
