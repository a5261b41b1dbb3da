package server

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
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
	setSink    = "sink"
	logPTY     = "pty"
	logFile    = "file"
	sinkFile   = "file"

	SetReset   = "reset" // of apps that are changed by what is asked: never, or left out before each slice
	resetNever = "never"
)

// work is a prepared workload: a server that listens for it, and what the load
// generator has done so far.
type work struct {
	in      wire.Workload
	app     App
	held    holding
	traffic tare.Traffic
	dialect Dialect
	pool    []Request  // as the load generator sends them; one without a method is not asked
	asked   []Request  // the same as the app says them
	refs    []Response // what each is to be answered; nil: nobody knows, or it depends on what was asked before
	items   int        // in all bodies of the pool
	per     int64      // requests that one operation takes
	most    int64      // requests that the service can take before it must be set back; zero: any number
	changes bool       // what is asked changes the service
	grows   bool       // it is not set back before each slice
	touched bool       // something was asked since it was set back
	showed  bool       // among that were cases, with counters of their own
	sliced  bool       // there was a slice
	arrived int64      // lines that were delivered before it was prepared
	place   place
	target  load.Target
	relay   *relay.Relay  // nil: there is none
	session sender        // nil: not opened yet
	stopped bool          // the server was told to end
	log     string        // path of the server's log; empty: it writes none that can be looked at
	printed int64         // bytes on stdout, stderr and in the log when it was prepared
	clock   *clock        // of the server; nil: it is not ours
	last    reading       // of the clock, when load last ended
	idle    time.Duration // CPU time of the server between legs, up to then
	before  load.Totals   // sent otherwise than by the session: to show answers, or by one before it
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
	next, err := c.asks(w, &told)
	if err != nil {
		return wire.Reply{}, refuse("%v", err)
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
	if next.dialect.Client != nil {
		reply, err = c.call(ctx, next)
		if err != nil || reply.Unsupported {
			next.close()
			return reply, err
		}
	}
	if c.process != nil {
		next.clock = &clock{c.process}
		next.last = next.clock.after(next.clock.processes())
		next.printed = c.written(next)
	}
	if c.delivery != nil {
		if next.arrived, err = c.delivery.count(); err != nil {
			next.close()
			return wire.Reply{}, refuse("delivers: %v", err)
		}
	}
	c.work = next
	return reply, nil
}

// asks is what w asks for, and what is to be answered.
func (c *conn) asks(w wire.Workload, told *spec) (*work, error) {
	a := c.kind.apps[told.App]
	next := &work{in: w, sum: tally{per: a.per(w.Op)}, app: a, held: c.kind.holdingOf(c.entry, *told), traffic: *told.Traffic, place: c.where, per: a.per(w.Op)}
	var err error
	if a.Dialect != nil {
		if next.dialect, err = a.Dialect(c.entry, w.Set); err != nil {
			return nil, err
		}
	}
	if next.pool, err = c.kind.poolIn(w, next.dialect); err != nil {
		return nil, err
	}
	if next.asked, err = c.kind.pool(w); err != nil {
		return nil, err
	}
	if next.refs, err = c.kind.references(w, *told); err != nil {
		return nil, err
	}
	if next.held == holdAny {
		told.App, next.app, next.refs, next.dialect.Client = nothingApp, App{Words: a.Words}, nil, nil
	}
	if next.changes = next.app.changes(w.Op); next.changes {
		next.grows = w.Set[SetReset] == resetNever
		if a.Most != nil {
			next.most = a.Most(w, next.traffic)
		}
	}
	for _, q := range next.pool {
		next.items += q.Items
	}
	return next, nil
}

// prepareProgram tells the program which app to serve, and how it is
// configured. It answers where it listens.
func (c *conn) prepareProgram(ctx context.Context, w *work, app string) (wire.Reply, error) {
	in := w.in
	sink, err := c.configure(w, &in)
	if err != nil {
		return wire.Reply{}, refuse("%v", err)
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
	if in.Spec, err = json.Marshal(spec{App: app}); err != nil {
		return wire.Reply{}, refuse("%v", err)
	}
	reply, err := c.pass(ctx, wire.Request{Op: wire.OpPrepare, Workload: &in})
	if c.sink != "" { // nobody writes into it any more
		_ = os.RemoveAll(c.sink)
	}
	c.sink = sink
	if err != nil || reply.Unsupported {
		return reply, err
	}
	if w.place, err = listening(reply.Addr); err != nil {
		c.failure = err
	}
	return reply, err
}

// configure fills in how the program is to be configured: what it knows the
// words of, and what follows from the workload. sink is the directory it is to
// deliver into; empty: none.
func (c *conn) configure(w *work, in *wire.Workload) (sink string, err error) {
	set := maps.Clone(in.Set)
	if set == nil {
		set = map[string]string{}
	}
	in.Set = set
	for _, word := range w.app.Words {
		delete(set, word)
	}
	if w.held == holdAny { // of the app's own settings it knows nothing
		maps.DeleteFunc(set, func(key, _ string) bool {
			return !slices.Contains([]string{setLog, setLogFile, setTLSCert, setTLSKey}, key)
		})
	}
	if w.app.Settings == nil {
		return "", nil
	}
	if err := w.app.Settings(w.in, w.pool, set, c.dir); err != nil {
		return "", err
	}
	if set[setSink] != sinkFile {
		return "", nil
	}
	c.sinks++
	sink = filepath.Join(c.dir, fmt.Sprintf("sink-%d", c.sinks))
	if err := os.Mkdir(sink, 0o755); err != nil {
		return "", err
	}
	set[setSink] = sinkFile + ":" + filepath.Join(sink, "events.ndjson")
	return sink, nil
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
