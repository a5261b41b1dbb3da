// Package relay makes the network a factor: a TCP relay in user space that
// adds a delay to every round trip and bounds the bandwidth, on one machine
// and without privileges.
//
// It delays bytes, not packets. What the kernel does on its own is not
// delayed: a connection to the relay is made at once, and only its first byte
// takes its time.
package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Options say what the path is like. The zero value passes everything on as
// it comes.
type Options struct {
	Delay     time.Duration // added to every round trip, half of it each way
	Bandwidth int64         // bits per second each way, shared by all connections; zero: no bound
}

// dialTimeout is how long the server may take to accept a connection.
const dialTimeout = 10 * time.Second

// Relay listens on a loopback address and passes everything on to one target.
type Relay struct {
	target   string
	options  Options
	listener net.Listener
	out, in  *link // towards the target, and back
	chunk    int   // bytes that travel together
	buffers  sync.Pool

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	all    sync.WaitGroup // every goroutine

	mu    sync.Mutex
	ended bool
	open  map[net.Conn]bool
}

// Listen starts a relay to target, host:port.
func Listen(target string, o Options) (*Relay, error) {
	switch {
	case o.Delay < 0:
		return nil, fmt.Errorf("relay: a delay of %v", o.Delay)
	case o.Bandwidth < 0:
		return nil, fmt.Errorf("relay: a bandwidth of %d bits per second", o.Bandwidth)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("relay: %w", err)
	}
	r := &Relay{
		target: target, options: o, listener: listener, open: map[net.Conn]bool{},
		out: newLink(o.Bandwidth), in: newLink(o.Bandwidth), chunk: chunkOf(o.Bandwidth),
	}
	r.buffers.New = func() any { b := make([]byte, r.chunk); return &b }
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.all.Go(r.accept)
	return r, nil
}

// Addr is where the relay listens, host:port.
func (r *Relay) Addr() string { return r.listener.Addr().String() }

// Close ends the relay and every connection through it. Nothing of it is left
// when it returns.
func (r *Relay) Close() error {
	r.mu.Lock()
	if r.ended {
		r.mu.Unlock()
		return nil
	}
	r.ended = true
	for c := range r.open {
		c.Close()
	}
	r.mu.Unlock()
	r.cancel()
	err := r.listener.Close()
	r.all.Wait()
	return err
}

// accept takes connections until the listener is closed.
func (r *Relay) accept() {
	for {
		client, err := r.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // no descriptor is free, say: it may get better
			if !r.wait(time.Now().Add(10 * time.Millisecond)) {
				return
			}
			continue
		}
		if r.keep(client) {
			r.all.Go(func() { r.serve(client) })
		}
	}
}

// keep remembers c, so that Close ends it; false: the relay has ended, and so
// has c.
func (r *Relay) keep(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		c.Close()
		return false
	}
	r.open[c] = true
	return true
}

// drop closes connections.
func (r *Relay) drop(conns ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range conns {
		delete(r.open, c)
		c.Close()
	}
}

// serve connects client with the target until both sides have ended.
func (r *Relay) serve(client net.Conn) {
	dialer := net.Dialer{Timeout: dialTimeout}
	server, err := dialer.DialContext(r.ctx, "tcp", r.target)
	if err != nil {
		reset(client)
		r.drop(client)
		return
	}
	if !r.keep(server) {
		r.drop(client)
		return
	}
	var both sync.WaitGroup
	both.Go(func() { r.pass(server, client, r.out) })
	both.Go(func() { r.pass(client, server, r.in) })
	both.Wait()
	r.drop(client, server)
}

// wait waits until t; false: the relay has ended.
func (r *Relay) wait(t time.Time) bool {
	d := time.Until(t)
	if d <= 0 {
		return r.ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.ctx.Done():
		return false
	}
}

// reset makes the close of c a reset, so that its peer does not take what it
// has for the whole.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		tcp.SetLinger(0) //nolint:errcheck // c is being given up; a plain close has to do then
	}
}
