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

// This file prepares a workload: it gives the program its app and settings, and learns the address
// at which the program listens.

// Keys and values of a set that this package reads. The program gets others.
const (
	setLog     = "log"
	setLogFile = "log_file"
	setTLSCert = "tls_cert"
	setTLSKey  = "tls_key"
	setSink    = "sink"
	logPTY     = "pty"
	logFile    = "file"
	sinkFile   = "file"

	// SetReset is the key for when to reset a service that requests change. With value never it is
	// not reset before each slice, a timed part of a round.
	SetReset   = "reset"
	resetNever = "never"
)

// work is a prepared workload: the address of its server, and the state of the load.
type work struct {
	workload    wire.Workload
	app         App        // without its functions if the contender does not serve it
	strictness  strictness // how closely responses are compared
	traffic     tare.Traffic
	dialect     Dialect
	pool        []Request  // requests as sent; those without a method are skipped
	original    []Request  // requests in the app's form
	refs        []Response // correct responses; nil if unknown, or if they depend on earlier requests
	items       int        // items in all bodies of the pool
	perOp       int64      // requests of one operation
	maxRequests int64      // requests before a reset; 0 means any number

	changes bool // requests change the service
	grows   bool // the service is not reset before each slice
	touched bool // requests were sent since the last reset
	showed  bool // cases were sent since the last reset
	sliced  bool // a slice was run
	stopped bool // the server has ended, or is ending

	addr    serverAddr
	target  load.Target
	relay   *relay.Relay  // imitates the delay and bandwidth of a path; may be nil
	session sender        // nil until it is opened
	log     string        // path of the server's log, or ""
	printed int64         // bytes of output before the workload
	arrived int64         // items delivered before the workload
	clock   *clock        // nil if tare did not start the server
	last    reading       // last reading outside of a phase of load
	idle    time.Duration // CPU time between phases of load, up to last
	before  load.Totals   // totals of other requests: for answers, or in earlier sessions
	sum     trafficSum
}

// prepareWork closes the previous workload, and prepares a server and its load for w.
func (c *conn) prepareWork(ctx context.Context, w wire.Workload) (wire.Reply, error) {
	c.closeWork()
	s, err := specOf(w)
	if err != nil {
		return wire.Reply{}, requestError("%v", err)
	}
	isLateTerminal := w.Set[setLog] == logPTY && !c.terminal && c.process != nil
	if isLateTerminal { // the process has no terminal
		return wire.Reply{}, requestError("log: a server gets its terminal when it starts; choose pty in the contender's set, not in the workload's")
	}
	next, err := c.makeWork(w, &s)
	if err != nil {
		return wire.Reply{}, requestError("%v", err)
	}
	var reply wire.Reply
	if c.program != nil {
		reply, err = c.prepareProgram(ctx, next, s.App)
	} else {
		reply.Unsupported = s.Traffic.TLS && !c.address.tls // tare can only configure a program
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

// makeWork returns the work of w with its requests and correct responses, but without a target. It
// changes s.App if the contender does not serve it.
func (c *conn) makeWork(w wire.Workload, s *spec) (*work, error) {
	a := c.kind.apps[s.App]
	perOp := a.requestsPerOp(w.Op)
	next := &work{
		workload: w, app: a, strictness: c.kind.strictnessOf(c.entry, *s), traffic: *s.Traffic,
		addr:  c.address,
		perOp: perOp, sum: trafficSum{perOp: perOp},
	}
	var err error
	if a.Dialect != nil {
		if next.dialect, err = a.Dialect(c.entry, w.Set); err != nil {
			return nil, err
		}
	}
	if next.pool, err = c.kind.encodedPool(w, next.dialect); err != nil {
		return nil, err
	}
	if next.original, err = c.kind.poolOf(w); err != nil {
		return nil, err
	}
	if next.refs, err = c.kind.referencesOf(w, *s); err != nil {
		return nil, err
	}
	if next.strictness == strictNone { // the contender sends one response to all requests
		s.App = nothingApp
		next.app = App{Words: a.Words}
		next.refs = nil
		next.dialect.Client = nil
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

// prepareProgram sends the program its app and settings, and sets w.addr to the address at which it
// listens.
func (c *conn) prepareProgram(ctx context.Context, w *work, app string) (wire.Reply, error) {
	toProgram := w.workload // workload as the program receives it
	set, sink, err := c.makeSet(w)
	if err != nil {
		return wire.Reply{}, requestError("%v", err)
	}
	toProgram.Set = set
	if set[setLog] == logFile {
		w.log = filepath.Join(c.dir, "access.log")
		_ = os.Remove(w.log)
		set[setLogFile] = w.log
	}
	if w.traffic.TLS {
		pair, err := c.kind.pair()
		if err == nil {
			set[setTLSCert], set[setTLSKey], err = pair.writeFiles(c.dir)
		}
		if err != nil {
			return wire.Reply{}, requestError("certificate: %v", err)
		}
	}
	if toProgram.Spec, err = json.Marshal(spec{App: app}); err != nil {
		return wire.Reply{}, requestError("%v", err)
	}
	reply, err := c.forward(ctx, wire.Request{Op: wire.OpPrepare, Workload: &toProgram})
	if c.sink != "" {
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

// makeSet returns the settings that the program receives, by name. sink is the directory, which it
// makes, for what the program delivers, or "".
func (c *conn) makeSet(w *work) (set map[string]string, sink string, err error) {
	set = maps.Clone(w.workload.Set)
	if set == nil {
		set = map[string]string{}
	}
	for _, word := range w.app.Words {
		delete(set, word)
	}
	if w.strictness == strictNone { // the program does not know the settings of the app
		maps.DeleteFunc(set, func(key, _ string) bool {
			return !slices.Contains([]string{setLog, setLogFile, setTLSCert, setTLSKey}, key)
		})
	}
	if w.app.Settings == nil {
		return set, "", nil
	}
	if err := w.app.Settings(w.workload, w.pool, set, c.dir); err != nil {
		return nil, "", err
	}
	if set[setSink] != sinkFile {
		return set, "", nil
	}
	c.sinks++
	sink = filepath.Join(c.dir, fmt.Sprintf("sink-%d", c.sinks))
	if err := os.Mkdir(sink, 0o755); err != nil {
		return nil, "", err
	}
	set[setSink] = sinkFile + ":" + filepath.Join(sink, "events.ndjson")
	return set, sink, nil
}

func (c *conn) countOutput(w *work) int64 {
	n := c.process.Printed()
	if w.log != "" {
		if info, err := os.Stat(w.log); err == nil {
			n += info.Size()
		}
	}
	return n
}
