// Package relay simulates a slow network on one machine. It is a TCP relay that delays every round trip and
// limits the bandwidth. It needs no privileges.
//
// It delays bytes, not packets: a connection opens immediately, and only its first byte is late.
package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Options are the properties of the path. The zero value has no delay and no limit.
type Options struct {
	Delay     time.Duration // added to every round trip, half of it each way
	Bandwidth int64         // bits per second in each direction, shared by all connections; 0 means unlimited
}

const dialTimeout = 10 * time.Second

// Relay listens on a loopback address and relays to one target.
type Relay struct {
	target   string
	options  Options
	listener net.Listener
	out, in  *link // direction to the target, and back
	chunk    int   // bytes
	buffers  sync.Pool

	ctx    context.Context
	cancel context.CancelFunc
	all    sync.WaitGroup

	mu       sync.Mutex
	isClosed bool
	open     map[net.Conn]bool
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
		out: newLink(o.Bandwidth), in: newLink(o.Bandwidth), chunk: chunkSize(o.Bandwidth),
	}
	r.buffers.New = func() any { b := make([]byte, r.chunk); return &b }
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.all.Go(r.acceptConns)
	return r, nil
}

// Addr returns the address of the listener, host:port.
func (r *Relay) Addr() string { return r.listener.Addr().String() }

// Close closes the relay and its connections, and waits for its goroutines.
func (r *Relay) Close() error {
	r.mu.Lock()
	if r.isClosed {
		r.mu.Unlock()
		return nil
	}
	r.isClosed = true
	for c := range r.open {
		c.Close()
	}
	r.mu.Unlock()
	r.cancel()
	err := r.listener.Close()
	r.all.Wait()
	return err
}

func (r *Relay) acceptConns() {
	for {
		client, err := r.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // for example no free descriptor: retry
			if !r.waitUntil(time.Now().Add(10 * time.Millisecond)) {
				return
			}
			continue
		}
		if r.addConn(client) {
			r.all.Go(func() { r.serveConn(client) })
		}
	}
}

// addConn registers c for Close. It returns false, and closes c, if the relay is closed.
func (r *Relay) addConn(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isClosed {
		c.Close()
		return false
	}
	r.open[c] = true
	return true
}

func (r *Relay) closeConns(conns ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range conns {
		delete(r.open, c)
		c.Close()
	}
}

// serveConn connects client with the target until both sides have ended.
func (r *Relay) serveConn(client net.Conn) {
	dialer := net.Dialer{Timeout: dialTimeout}
	server, err := dialer.DialContext(r.ctx, "tcp", r.target)
	if err != nil {
		resetOnClose(client)
		r.closeConns(client)
		return
	}
	if !r.addConn(server) {
		r.closeConns(client)
		return
	}
	var both sync.WaitGroup
	both.Go(func() { r.copyDelayed(server, client, r.out) })
	both.Go(func() { r.copyDelayed(client, server, r.in) })
	both.Wait()
	r.closeConns(client, server)
}

func (r *Relay) waitUntil(t time.Time) bool {
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

// resetOnClose makes the close of c a reset. So its peer does not consider the bytes so far complete.
func resetOnClose(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		tcp.SetLinger(0) //nolint:errcheck // a plain close has to do then
	}
}
