package server

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/load/relay"
)

// Keys and words of a set that matter here; others are passed on.
const (
	setLog     = "log"
	setLogFile = "log_file"
	setTLSCert = "tls_cert"
	setTLSKey  = "tls_key"
	logPTY     = "pty"
	logFile    = "file"
)

// work is a prepared workload: a server that listens for it, and what the load
// generator has done so far.
type work struct {
	in      wire.Workload
	app     string // empty: there is no reference
	traffic tare.Traffic
	pool    []request
	place   place
	target  load.Target
	relay   *relay.Relay  // nil: there is none
	session *load.Session // nil: not opened yet
	log     string        // path of the server's log; empty: it writes none that can be looked at
	printed int64         // bytes on stdout, stderr and in the log when it was prepared
	clock   *clock        // of the server; nil: it is not ours
	last    reading       // of the clock, when load last ended
	asked   load.Totals   // sent otherwise than by the session: to show answers, or by one before it
	sum     tally
}

// prepare has a server listen for w.
func (c *conn) prepare(ctx context.Context, w wire.Workload) (wire.Reply, error) {
	c.release()
	told, err := specOf(w)
	if err != nil {
		return wire.Reply{}, refuse("%v", err)
	}
	if w.Set[setLog] == logPTY && !c.terminal && c.process != nil {
		return wire.Reply{}, refuse("log: a terminal is there from the start or not at all; choose pty in the contender's set, not in the workload's")
	}
	pool, err := c.kind.pool(w)
	if err != nil {
		return wire.Reply{}, refuse("%v", err)
	}
	if told.Own && c.entry.Role == tare.RoleNull {
		told.App, pool = nothingApp, nothingOf(pool)
	}
	next := &work{in: w, traffic: *told.Traffic, pool: pool, place: c.where}
	if !told.Own {
		next.app = told.App
	}
	var reply wire.Reply
	if c.program != nil {
		reply, err = c.prepareProgram(ctx, next, told.App)
	} else {
		reply.Unsupported = told.Traffic.TLS && !c.where.tls // nobody can tell it to
	}
	if err != nil || reply.Unsupported {
		return reply, err
	}
	if err := c.reach(ctx, next); err != nil {
		next.close()
		return wire.Reply{}, c.fail(ctx, "prepare", "", err)
	}
	if c.process != nil {
		next.clock = &clock{c.process}
		next.last = next.clock.after(next.clock.processes())
		next.printed = c.written(next)
	}
	c.work = next
	return reply, nil
}

// prepareProgram tells the program which app to serve, and how it is
// configured. It answers where it listens.
func (c *conn) prepareProgram(ctx context.Context, w *work, app string) (wire.Reply, error) {
	in := w.in
	in.Set = maps.Clone(in.Set)
	if in.Set == nil {
		in.Set = map[string]string{}
	}
	if in.Set[setLog] == logFile {
		w.log = filepath.Join(c.dir, "access.log")
		_ = os.Remove(w.log) // of the workload before
		in.Set[setLogFile] = w.log
	}
	if w.traffic.TLS {
		pair, err := c.kind.pair()
		if err == nil {
			in.Set[setTLSCert], in.Set[setTLSKey], err = pair.write(c.dir)
		}
		if err != nil {
			return wire.Reply{}, refuse("certificate: %v", err)
		}
	}
	var err error
	if in.Spec, err = json.Marshal(spec{App: app}); err != nil {
		return wire.Reply{}, refuse("%v", err)
	}
	reply, err := c.pass(ctx, wire.Request{Op: wire.OpPrepare, Workload: &in})
	if err != nil || reply.Unsupported {
		return reply, err
	}
	if w.place, err = listening(reply.Addr); err != nil {
		c.failure = err
	}
	return reply, err
}

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

// open opens the load generator's session.
func (w *work) open(k *Kind, cores cores) error {
	if w.session != nil {
		return nil
	}
	o := load.Options{
		Target: w.target, Connections: w.traffic.Connections, Timeout: w.timeout(k.visit),
		Threads: cores.clients, CPUs: cores.client,
	}
	for _, r := range w.pool {
		o.Requests = append(o.Requests, load.Request{Method: r.Method, Path: w.place.prefix + r.Path, Header: headers(r), Body: r.Body})
	}
	if w.app != "" {
		o.Verify = w.verify(apps()[w.app])
	}
	s, err := load.Open(o)
	if err != nil {
		return trialError(tare.ErrStart, "load: %v", err)
	}
	w.session = s
	return nil
}

// verify holds the sample of answers that load looks at against the reference.
func (w *work) verify(a app) func(request, status int, body []byte) error {
	want := make([]response, len(w.pool))
	for i, r := range w.pool {
		want[i] = a.answer(r)
	}
	return func(i, status int, body []byte) error {
		got := response{Status: status, Header: want[i].Header, Body: body}
		if d := differ(want[i], got); d != "" {
			return fmt.Errorf("%s %s: %s", w.pool[i].Method, clip(w.pool[i].Path), d)
		}
		return nil
	}
}

// headers are those of a request, in one order.
func headers(r request) [][2]string {
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
		w.asked, w.session = w.sent(), nil
	}
}

// sent is all that was sent to the server since it was prepared.
func (w *work) sent() load.Totals {
	t := w.asked
	if w.session != nil {
		s := w.session.Totals()
		t.Sent, t.Body, t.BodyIn, t.Opened = t.Sent+s.Sent, t.Body+s.Body, t.BodyIn+s.BodyIn, t.Opened+s.Opened
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

// written is how many bytes the server has written to stdout, stderr and its
// log.
func (c *conn) written(w *work) int64 {
	n := c.process.Printed()
	if w.log != "" {
		if info, err := os.Stat(w.log); err == nil {
			n += info.Size()
		}
	}
	return n
}
