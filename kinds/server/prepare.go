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

// Keys and values of a set that this package reads; others are passed on.
const (
	setLog     = "log"
	setLogFile = "log_file"
	setTLSCert = "tls_cert"
	setTLSKey  = "tls_key"
	setSink    = "sink"
	logPTY     = "pty"
	logFile    = "file"
	sinkFile   = "file"

	SetReset   = "reset" // of apps that requests change: never reset, or not before each slice
	resetNever = "never"
)

// work is a prepared workload: a server that listens for it, and the state of its load.
type work struct {
	in          wire.Workload
	app         App
	strictness  strictness
	traffic     tare.Traffic
	dialect     Dialect
	pool        []Request  // as the load generator sends them; one without a method is skipped
	original    []Request  // the same in the app's form
	refs        []Response // correct responses; nil if unknown, or if they depend on earlier requests
	items       int        // in all bodies of the pool
	per         int64      // requests that one operation takes
	maxRequests int64      // requests that the service can take before it must be reset; 0 means any number
	changes     bool       // requests change the service
	grows       bool       // it is not reset before each slice
	touched     bool       // there were requests since it was reset
	showed      bool       // among that were cases, with counters of their own
	sliced      bool       // there was a slice
	arrived     int64      // lines that were delivered before it was prepared
	addr        serverAddr
	target      load.Target
	relay       *relay.Relay  // nil if there is none
	session     sender        // nil if not opened yet
	stopped     bool          // the server was asked to end
	log         string        // path of the server's log; "" if it has no readable one
	printed     int64         // bytes on stdout, stderr and in the log when it was prepared
	clock       *clock        // of the server; nil if tare did not start it
	last        reading       // of the clock, when load last ended
	idle        time.Duration // CPU time of the server between legs, up to then
	before      load.Totals   // requests not sent by the session: to show answers, or by an earlier session
	sum         trafficSum
}

// prepareWork prepares a server for w.
func (c *conn) prepareWork(ctx context.Context, w wire.Workload) (wire.Reply, error) {
	c.closeWork()
	told, err := specOf(w)
	if err != nil {
		return wire.Reply{}, requestError("%v", err)
	}
	if w.Set[setLog] == logPTY && !c.terminal && c.process != nil {
		return wire.Reply{}, requestError("log: a terminal is there from the start or not at all; choose pty in the contender's set, not in the workload's")
	}
	next, err := c.makeWork(w, &told)
	if err != nil {
		return wire.Reply{}, requestError("%v", err)
	}
	var reply wire.Reply
	if c.program != nil {
		reply, err = c.prepareProgram(ctx, next, told.App)
	} else {
		reply.Unsupported = told.Traffic.TLS && !c.where.tls // it cannot be configured
	}
	if err != nil || reply.Unsupported {
		return reply, err
	}
	if err := c.setTarget(ctx, next); err != nil {
		next.close()
		return wire.Reply{}, c.failWith(ctx, "prepare", "", err)
	}
	if next.dialect.Client != nil {
		reply, err = c.prepareClient(ctx, next)
		if err != nil || reply.Unsupported {
			next.close()
			return reply, err
		}
	}
	if c.process != nil {
		next.clock = &clock{c.process}
		next.last = next.clock.readAfter(next.clock.listPIDs())
		next.printed = c.countOutput(next)
	}
	if c.delivery != nil {
		if next.arrived, err = c.delivery.count(); err != nil {
			next.close()
			return wire.Reply{}, requestError("delivers: %v", err)
		}
	}
	c.work = next
	return reply, nil
}

// makeWork returns the requests of w, and the correct responses.
func (c *conn) makeWork(w wire.Workload, told *spec) (*work, error) {
	a := c.kind.apps[told.App]
	next := &work{in: w, sum: trafficSum{per: a.requestsPerOp(w.Op)}, app: a, strictness: c.kind.strictnessOf(c.entry, *told), traffic: *told.Traffic, addr: c.where, per: a.requestsPerOp(w.Op)}
	var err error
	if a.Dialect != nil {
		if next.dialect, err = a.Dialect(c.entry, w.Set); err != nil {
			return nil, err
		}
	}
	if next.pool, err = c.kind.poolIn(w, next.dialect); err != nil {
		return nil, err
	}
	if next.original, err = c.kind.poolOf(w); err != nil {
		return nil, err
	}
	if next.refs, err = c.kind.referencesOf(w, *told); err != nil {
		return nil, err
	}
	if next.strictness == strictNone {
		told.App, next.app, next.refs, next.dialect.Client = nothingApp, App{Words: a.Words}, nil, nil
	}
	if next.changes = next.app.isChanging(w.Op); next.changes {
		next.grows = w.Set[SetReset] == resetNever
		if a.Most != nil {
			next.maxRequests = a.Most(w, next.traffic)
		}
	}
	for _, q := range next.pool {
		next.items += q.Items
	}
	return next, nil
}

// prepareProgram sends the program its app and configuration. The reply has the address at which it
// listens.
func (c *conn) prepareProgram(ctx context.Context, w *work, app string) (wire.Reply, error) {
	in := w.in
	sink, err := c.setConfig(w, &in)
	if err != nil {
		return wire.Reply{}, requestError("%v", err)
	}
	if in.Set[setLog] == logFile {
		w.log = filepath.Join(c.dir, "access.log")
		_ = os.Remove(w.log) // of the workload before
		in.Set[setLogFile] = w.log
	}
	if w.traffic.TLS {
		pair, err := c.kind.pair()
		if err == nil {
			in.Set[setTLSCert], in.Set[setTLSKey], err = pair.writeFiles(c.dir)
		}
		if err != nil {
			return wire.Reply{}, requestError("certificate: %v", err)
		}
	}
	if in.Spec, err = json.Marshal(spec{App: app}); err != nil {
		return wire.Reply{}, requestError("%v", err)
	}
	reply, err := c.forward(ctx, wire.Request{Op: wire.OpPrepare, Workload: &in})
	if c.sink != "" { // no process writes into it any more
		_ = os.RemoveAll(c.sink)
	}
	c.sink = sink
	if err != nil || reply.Unsupported {
		return reply, err
	}
	if w.addr, err = parseListenAddr(reply.Addr); err != nil {
		c.failure = err
	}
	return reply, err
}

// setConfig completes the program's set: the settings it knows, and those that follow from the
// workload. sink is the directory it must deliver into; "" means none.
func (c *conn) setConfig(w *work, in *wire.Workload) (sink string, err error) {
	set := maps.Clone(in.Set)
	if set == nil {
		set = map[string]string{}
	}
	in.Set = set
	for _, word := range w.app.Words {
		delete(set, word)
	}
	if w.strictness == strictNone { // of the app's own settings it knows nothing
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

// countOutput returns the number of bytes that the server has written to stdout, stderr and its
// log.
func (c *conn) countOutput(w *work) int64 {
	n := c.process.Printed()
	if w.log != "" {
		if info, err := os.Stat(w.log); err == nil {
			n += info.Size()
		}
	}
	return n
}
