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

// dialLimit is how long a server that listens may take to accept a connection.
const dialLimit = 5 * time.Second

// reach works out how w's server is reached, and sees that it is there.
func (c *conn) reach(ctx context.Context, w *work) error {
	w.target = load.Target{Addr: w.place.addr, Host: w.place.host}
	if w.place.tls || w.traffic.TLS {
		name, _, err := net.SplitHostPort(w.place.addr)
		if err != nil {
			return trialError(tare.ErrStart, "address %q: %v", w.place.addr, err)
		}
		w.target.TLS = &tls.Config{ServerName: name, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
		if w.traffic.TLS && c.program != nil {
			pair, err := c.kind.pair()
			if err != nil {
				return trialError(tare.ErrStart, "certificate: %v", err)
			}
			w.target.TLS = pair.client()
		}
	}
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	conn, err := dial(ctx, w.target)
	if err != nil {
		return trialError(tare.ErrStart, "no connection to %s: %s", w.place.addr, reason(err))
	}
	_ = conn.Close()
	if w.traffic.Delay == 0 && w.traffic.Bandwidth == 0 {
		return nil
	}
	if w.relay, err = relay.Listen(w.place.addr, relay.Options{Delay: w.traffic.Delay, Bandwidth: w.traffic.Bandwidth}); err != nil {
		return trialError(tare.ErrStart, "%v", err)
	}
	w.target.Addr = w.relay.Addr()
	return nil
}

// Time-outs of requests. A request that stalls in a visit must be known as one
// before the visit's own deadline of five seconds.
const (
	visitTimeout   = 4 * time.Second
	segmentTimeout = load.DefaultTimeout
	turns          = 4 // round trips that a path's delay may add to them
)

func (w *work) timeout(visit time.Duration) time.Duration {
	if w.traffic.Segment > 0 {
		return segmentTimeout + turns*w.traffic.Delay
	}
	return visit + turns*w.traffic.Delay
}

// sender sends the requests of a work: the load generator, or the contender's
// own client.
type sender interface {
	Run(ctx context.Context, leg load.Leg) (*load.Result, error)
	Totals() load.Totals
	Rewind() // what requests are filled in with begins anew
	Close()
}

var _ sender = (*load.Session)(nil)

// open opens the load generator's session.
func (w *work) open(k *Kind) error {
	if w.session != nil {
		return nil
	}
	cores := k.cores()
	o := load.Options{
		Target: w.target, Connections: w.traffic.Connections, Timeout: w.timeout(k.visit),
		Threads: cores.clients, CPUs: cores.client,
		Protocol: w.dialect.Protocol, PerConn: w.dialect.PerConn,
	}
	for i, q := range w.pool {
		r := load.Request{Method: q.Method, Path: w.place.prefix + q.Path, Header: headers(q), Body: q.Body, Items: q.Items, Fill: q.Fill, Status: q.Status}
		if w.refs != nil && r.Status == 0 {
			r.Status = w.refs[i].Status
		}
		if !w.takes(i) {
			r.Items = 0
		}
		if w.held == holdAny {
			r.Status = 0
		}
		o.Requests = append(o.Requests, r)
	}
	switch {
	case w.held != holdWhole:
	case w.refs != nil:
		o.Verify = w.verify(w.app)
	case w.app.Sound != nil:
		o.Verify = w.sound(w.app)
	}
	s, err := load.Open(o)
	if err != nil {
		return trialError(tare.ErrStart, "load: %v", err)
	}
	w.session = s
	return nil
}

// takes reports whether a server should take what is in request i.
func (w *work) takes(i int) bool { return w.refs == nil || w.refs[i].Status < leastRefusal }

// took reports whether a server that answers so to request i says that it has.
func (w *work) took(i, status int) bool {
	if w.refs == nil {
		return status < leastError
	}
	return w.takes(i) && status == w.refs[i].Status
}

// headers are those of a request, in one order.
func headers(r Request) [][2]string {
	var list [][2]string
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		list = append(list, [2]string{name, r.Header[name]})
	}
	return list
}

// again gives up the session, and the connections with it: the next leg opens
// another.
func (w *work) again() {
	if w.session != nil {
		w.session.Close()
		w.before, w.session = w.sent(), nil
	}
}

// sent is all that was sent to the server since it was prepared.
func (w *work) sent() load.Totals {
	t := w.before
	if w.session != nil {
		s := w.session.Totals()
		t.Sent, t.Body, t.BodyIn, t.Opened, t.Acked = t.Sent+s.Sent, t.Body+s.Body, t.BodyIn+s.BodyIn, t.Opened+s.Opened, t.Acked+s.Acked
	}
	return t
}

// close gives up connections and relay.
func (w *work) close() {
	w.again()
	if w.relay != nil {
		_ = w.relay.Close()
		w.relay = nil
	}
}
