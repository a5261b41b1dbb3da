package server

import (
	"context"
	"crypto/tls"
	"maps"
	"net"
	"slices"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/load/relay"
)

// This file opens the connection between the load generator and a server. It configures time-outs
// and which responses count as failures.

// dialLimit is the time in which a listening server must accept a connection.
const dialLimit = 5 * time.Second

// setTarget sets w.target to the address of w's server, or of a relay to it. It checks that the
// server is reachable.
func (c *conn) setTarget(ctx context.Context, w *work) error {
	w.target = load.Target{Addr: w.addr.addr, Host: w.addr.host}
	if w.addr.tls || w.traffic.TLS {
		name, _, err := net.SplitHostPort(w.addr.addr)
		if err != nil {
			return trialError(tare.ErrStart, "address %q: %v", w.addr.addr, err)
		}
		w.target.TLS = &tls.Config{ServerName: name, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
		if w.traffic.TLS && c.program != nil {
			pair, err := c.kind.pair()
			if err != nil {
				return trialError(tare.ErrStart, "certificate: %v", err)
			}
			w.target.TLS = pair.clientConfig()
		}
	}
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	conn, err := dialTarget(ctx, w.target)
	if err != nil {
		return trialError(tare.ErrStart, "no connection to %s: %s", w.addr.addr, errorText(err))
	}
	_ = conn.Close()
	if w.traffic.Delay == 0 && w.traffic.Bandwidth == 0 {
		return nil
	}
	if w.relay, err = relay.Listen(w.addr.addr, relay.Options{Delay: w.traffic.Delay, Bandwidth: w.traffic.Bandwidth}); err != nil {
		return trialError(tare.ErrStart, "%v", err)
	}
	w.target.Addr = w.relay.Addr()
	return nil
}

// Time-outs of requests.
const (
	// visitTimeout is for requests in a slice of operations, a timed part of a round. The slice's
	// own deadline is five seconds, so a request that stalls is noticed before.
	visitTimeout   = 4 * time.Second
	segmentTimeout = load.DefaultTimeout
	// turns is the number of delays of the path that are added to a time-out.
	turns = 4
)

// requestTimeout returns the time-out of requests, with the delay of the path. visit is the time-out
// of a request in a slice of operations.
func (w *work) requestTimeout(visit time.Duration) time.Duration {
	if w.traffic.Segment > 0 {
		return segmentTimeout + turns*w.traffic.Delay
	}
	return visit + turns*w.traffic.Delay
}

// sender sends the requests of a work: the load generator, or the contender's own client.
type sender interface {
	Run(ctx context.Context, leg load.Leg) (*load.Result, error)
	Totals() load.Totals
	Rewind() // resets the counters whose values are filled into requests
	Close()
}

var _ sender = (*load.Session)(nil)

func (w *work) openSession(k *Kind) error {
	if w.session != nil {
		return nil
	}
	cores := k.cores()
	options := load.Options{
		Target: w.target, Connections: w.traffic.Connections, Timeout: w.requestTimeout(k.visit),
		Threads: cores.clients, CPUs: cores.client,
		Protocol: w.dialect.Protocol, PerConn: w.dialect.PerConn,
	}
	for i, q := range w.pool {
		r := load.Request{Method: q.Method, Path: w.addr.prefix + q.Path, Header: sortedHeaders(q), Body: q.Body, Items: q.Items, Fill: q.Fill, Status: q.Status}
		if w.refs != nil && r.Status == 0 {
			r.Status = w.refs[i].Status
		}
		if !w.isAcceptable(i) {
			r.Items = 0 // no server acknowledges these items
		}
		if w.strictness == strictNone {
			r.Status = 0 // any status is correct
		}
		options.Requests = append(options.Requests, r)
	}
	switch {
	case w.strictness != strictAll: // bodies are not compared
	case w.refs != nil:
		options.Verify = w.checkEqual(w.app)
	case w.app.Sound != nil:
		options.Verify = w.checkSound(w.app)
	}
	s, err := load.Open(options)
	if err != nil {
		return trialError(tare.ErrStart, "load: %v", err)
	}
	w.session = s
	return nil
}

// isAcceptable reports whether a correct server accepts request i.
func (w *work) isAcceptable(i int) bool { return w.refs == nil || w.refs[i].Status < minRejection }

func (w *work) hasAccepted(i, status int) bool {
	if w.refs == nil {
		return status < minError
	}
	return w.isAcceptable(i) && status == w.refs[i].Status
}

func sortedHeaders(r Request) [][2]string {
	var list [][2]string
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		list = append(list, [2]string{name, r.Header[name]})
	}
	return list
}

// closeSession closes the session with its connections, and adds its totals to w.before. The next
// phase opens a new session.
func (w *work) closeSession() {
	if w.session != nil {
		w.session.Close()
		w.before, w.session = w.sentTotals(), nil
	}
}

func (w *work) sentTotals() load.Totals {
	t := w.before
	if w.session != nil {
		s := w.session.Totals()
		t.Sent += s.Sent
		t.Body += s.Body
		t.BodyIn += s.BodyIn
		t.Opened += s.Opened
		t.Acked += s.Acked
	}
	return t
}

func (w *work) close() {
	w.closeSession()
	if w.relay != nil {
		_ = w.relay.Close()
		w.relay = nil
	}
}
