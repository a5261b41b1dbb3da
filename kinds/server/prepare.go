package server

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

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
)

// work is a prepared workload: a server that listens for it, and what the load
// generator has done so far.
type work struct {
	in      wire.Workload
	app     app
	held    holding
	traffic tare.Traffic
	pool    []request
	refs    []response // what each is to be answered; nil: nobody knows
	items   int        // in all bodies of the pool
	arrived int64      // lines that were delivered before it was prepared
	place   place
	target  load.Target
	relay   *relay.Relay  // nil: there is none
	session *load.Session // nil: not opened yet
	stopped bool          // the server was told to end
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
	if c.process != nil {
		next.clock = &clock{c.process}
		next.last = next.clock.after(next.clock.processes())
		next.printed = c.written(next)
	}
	if c.lines != nil {
		if next.arrived, err = c.lines.count(); err != nil {
			next.close()
			return wire.Reply{}, refuse("delivers: %v", err)
		}
	}
	c.work = next
	return reply, nil
}

// asks is what w asks for, and what is to be answered.
func (c *conn) asks(w wire.Workload, told *spec) (*work, error) {
	next := &work{in: w, app: apps()[told.App], held: holdingOf(c.entry, *told), traffic: *told.Traffic, place: c.where}
	var err error
	if next.pool, err = c.kind.poolIn(w, next.app, w.Set[setBody]); err != nil {
		return nil, err
	}
	if next.refs, err = c.kind.references(w, *told); err != nil {
		return nil, err
	}
	if next.held == holdAny {
		told.App, next.app, next.refs = nothingApp, app{}, nil
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
	delete(set, setBody)
	if w.held == holdAny { // of the app's own settings it knows nothing
		maps.DeleteFunc(set, func(key, _ string) bool {
			return !slices.Contains([]string{setLog, setLogFile, setTLSCert, setTLSKey}, key)
		})
	}
	if w.app.settings == nil {
		return "", nil
	}
	if err := w.app.settings(w.in, w.pool, set); err != nil {
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
