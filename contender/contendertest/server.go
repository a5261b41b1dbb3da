package contendertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tarebench/tare/apps/homelab"
	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/wire"
)

// servers: the lab does the operations, so there are none to be asked for. A
// server is examined with each app that its contender.json names, or else with
// the app tiny.
func servers() kind { return kind{examine: subject.examineServer} }

// app is what the suite knows about one app.
type app struct {
	name string

	// good are requests that are answered with 200 over one connection, whatever
	// was asked before, and are counted.
	good []good
	// nth is the k-th request of the i-th of several callers; nil: good in turn.
	nth func(i, k int) good
	// layers is how many middlewares of its own the app has.
	layers int64
	// checks are what else it is asked, each in a process of its own.
	checks []check
	// slow is where a request has a body that may come too slowly.
	slow string
	// settings are what can be chosen about it.
	settings []server.Setting
	// set is what it is configured as, alone, and kept is looked at after its end.
	set  func(dir string) map[string]string
	kept func(dir string) error
	asks func(s subject, addr string) error // how it is asked alone; nil: all that is good
}

// good is a request and what is wrong with an answer to it, if anything is.
type good struct {
	asked
	items int // that the sink then has
	wrong func(called) error
}

// check is one thing that is asked of an app.
type check struct {
	name string
	ask  func(e exam) error
}

// exam is an app under examination.
type exam struct {
	subject
	app
	p   *process
	dir string
}

func appNamed(name string) (app, error) {
	switch name {
	case "tiny":
		return tinyApp(), nil
	case ingest.Name:
		return ingestApp()
	case homelab.Name:
		return homelabApp()
	}
	return app{}, fmt.Errorf("there is no conformance suite for app %q", name)
}

// examineServer runs the suite on a server.
func (s subject) examineServer(dir string) []error {
	if err := s.visit(false, true, s.checkHello); err != nil {
		return []error{err} // nothing else can go right
	}
	names := s.Apps
	if len(names) == 0 {
		names = []string{"tiny"}
	}
	var wrong []error
	var apps []app
	slow := make(chan error, len(names))
	for _, name := range names {
		a, err := appNamed(name)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		apps = append(apps, a)
		go func() { slow <- s.examineSlow(a) }() // most of which is waiting
	}
	for _, a := range apps {
		for _, err := range s.examineApp(a, dir) {
			wrong = append(wrong, fmt.Errorf("app %s: %w", a.name, err))
		}
	}
	for range apps {
		if err := <-slow; err != nil {
			wrong = append(wrong, err)
		}
	}
	if err := s.visit(true, true, func(*process, wire.Reply) error { return nil }); err != nil {
		wrong = append(wrong, err)
	}
	return wrong
}

func (s subject) examineApp(a app, dir string) []error {
	var wrong []error
	all := append([]check{
		{"", exam.checkGood}, {"", exam.checkAgain}, {"", exam.checkEnd}, {"", exam.checkLogs}, {"", exam.checkTLS}, {"", exam.checkServerRefusals},
	}, a.checks...)
	for i, c := range all {
		err := s.visit(false, i%2 == 0, func(p *process, _ wire.Reply) error { return c.ask(exam{s, a, p, dir}) })
		if err != nil && c.name != "" {
			err = fmt.Errorf("%s: %w", c.name, err)
		}
		if err != nil {
			wrong = append(wrong, err)
		}
	}
	for _, err := range s.aloneServer(a, dir) {
		wrong = append(wrong, fmt.Errorf("alone: %w", err))
	}
	return wrong
}

// workload is what a server is told about an app. It has no pool: no server is
// shown what it will be asked.
func (a app) workload(set map[string]string) *wire.Workload {
	spec, _ := json.Marshal(server.Spec{App: a.name}) // a string in a struct always can be
	return &wire.Workload{ID: a.name + "/some", Fixture: a.name, Op: "some", Set: set, Spec: spec}
}

// serves prepares the app and returns where it listens.
func (e exam) serves(set map[string]string) (string, error) {
	a, err := e.p.ok(wire.Request{Op: wire.OpPrepare, Workload: e.workload(set)})
	if err != nil {
		return "", fmt.Errorf("%v: %w", set, err)
	}
	if a.Unsupported {
		return "", fmt.Errorf("it does not serve the app %s", e.app.name)
	}
	host, _, err := net.SplitHostPort(a.Addr)
	if err != nil || !net.ParseIP(host).IsLoopback() {
		return "", fmt.Errorf("prepare: addr %q is not host:port of a loopback address", a.Addr)
	}
	return a.Addr, nil
}

// counted asks for stats.
func (e exam) counted() (wire.Reply, error) {
	a, err := e.p.ok(wire.Request{Op: wire.OpStats, On: e.workload(nil).ID})
	if err == nil && (a.Bytes < 0 || a.Allocs < 0 || a.GC < 0 || a.Received < 0 || a.ReceivedBody < 0 || a.LayerCalls < 0 || a.Delivered < 0) {
		err = fmt.Errorf("stats: a negative number: %+v", a)
	}
	return a, err
}

// tally is what was sent.
type tally struct{ requests, body, items int64 }

func (t *tally) add(g good) {
	t.requests++
	t.body += int64(len(g.sent()))
	t.items += int64(g.items)
}

// checkCounts holds stats against what was sent. configured says whether
// settings add middleware.
func (e exam) checkCounts(t tally, configured bool) error {
	a, err := e.counted()
	if err != nil {
		return err
	}
	layers := a.LayerCalls / max(1, t.requests)
	switch {
	case a.Received != t.requests:
		return fmt.Errorf("stats: %d received, sent were %d", a.Received, t.requests)
	case e.Trap:
	case a.LayerCalls != layers*t.requests || layers < e.layers || e.layers > 0 && e.variant == "" && !configured && layers > e.layers:
		return fmt.Errorf("stats: %d layer_calls of %d requests; app %s has %d middlewares", a.LayerCalls, t.requests, e.app.name, e.layers)
	case a.ReceivedBody != t.body:
		return fmt.Errorf("stats: %d received_bytes, sent were %d", a.ReceivedBody, t.body)
	case a.Delivered != t.items && !e.loose():
		return fmt.Errorf("stats: %d delivered, acknowledged were %d", a.Delivered, t.items)
	}
	return nil
}

// askGood asks one good request and holds its answer against what is wanted.
func (s subject) askGood(c *caller, g good) error {
	got, err := c.ask(g.asked)
	if err != nil {
		return fmt.Errorf("%v: %w", g.asked, err)
	}
	switch {
	case s.Trap:
	case s.loose():
		if got.status != 200 {
			return fmt.Errorf("%v: status %d, want 200", g.asked, got.status)
		}
	default:
		if err := g.wrong(got); err != nil {
			return fmt.Errorf("%v: %w", g.asked, err)
		}
	}
	if got.closes {
		return fmt.Errorf("%v: it closes the connection", g.asked)
	}
	return nil
}

const (
	callers   = 8
	callsEach = 25
)

// checkGood asks what is answered, over one connection and then over several.
func (e exam) checkGood() error {
	addr, err := e.serves(nil)
	if err != nil {
		return err
	}
	if a, err := e.counted(); err != nil || a.Received != 0 || a.LayerCalls != 0 {
		return errors.Join(err, fmt.Errorf("stats before the first request: %d received, %d layer_calls", a.Received, a.LayerCalls))
	}
	sent, err := e.askAll(addr)
	if err != nil {
		return err
	}
	if err := e.checkCounts(sent, false); err != nil {
		return err
	}
	if err := e.askTogether(addr, &sent); err != nil {
		return err
	}
	return e.checkCounts(sent, false)
}

// askAll asks all good requests over one connection.
func (e exam) askAll(addr string) (sent tally, err error) {
	c, err := call(addr, nil, e.limit)
	if err != nil {
		return sent, err
	}
	defer c.close()
	for _, g := range e.good {
		if err := e.askGood(c, g); err != nil {
			return sent, err
		}
		sent.add(g)
	}
	return sent, nil
}

// askTogether asks over several connections at once.
func (e exam) askTogether(addr string, sent *tally) error {
	nth := e.nth
	if nth == nil {
		nth = func(i, k int) good { return e.good[(i*callsEach+k)%len(e.good)] }
	}
	wrong := make([]error, callers)
	var all sync.WaitGroup
	for i := range callers {
		for k := range callsEach {
			sent.add(nth(i, k))
		}
		all.Go(func() {
			c, err := call(addr, nil, e.limit)
			if err != nil {
				wrong[i] = err
				return
			}
			defer c.close()
			for k := range callsEach {
				if wrong[i] = e.askGood(c, nth(i, k)); wrong[i] != nil {
					return
				}
			}
		})
	}
	all.Wait()
	return errors.Join(wrong...)
}

// checkAgain prepares twice: the second server counts from zero, and nobody
// listens any more where the first did. Somebody else's server may have come
// by its port, but hardly three times in a row.
func (e exam) checkAgain() error {
	for tries := 3; ; tries-- {
		before, err := e.serves(nil)
		if err != nil {
			return err
		}
		idle, err := call(before, nil, e.limit)
		if err != nil {
			return err
		}
		if err := e.askGood(idle, e.good[0]); err != nil {
			return err
		}
		after, err := e.serves(nil)
		if err != nil {
			return fmt.Errorf("a second prepare: %w", err)
		}
		a, err := e.counted()
		if err != nil || a.Received != 0 || a.Delivered != 0 {
			return errors.Join(err, fmt.Errorf("stats after a second prepare: %d received, %d delivered", a.Received, a.Delivered))
		}
		last, err := idle.ask(e.good[0].asked)
		idle.close()
		if err == nil && !last.closes {
			return errors.New("after a second prepare the first server goes on over its connection")
		}
		if before == after || !listens(before) {
			return nil
		}
		if tries == 1 {
			return fmt.Errorf("after a second prepare somebody still listens at %s", before)
		}
	}
}

// checkEnd has the server end while a connection is open, and asks afterwards
// what it has counted.
func (e exam) checkEnd() error {
	addr, err := e.serves(nil)
	if err != nil {
		return err
	}
	idle, err := call(addr, nil, e.limit)
	if err != nil {
		return err
	}
	defer idle.close()
	var sent tally
	if err := e.askGood(idle, e.good[0]); err != nil {
		return err
	}
	sent.add(e.good[0])
	a, err := e.p.ok(wire.Request{Op: wire.OpEnd, On: e.workload(nil).ID})
	if err != nil {
		return err
	}
	if took := time.Duration(a.WallNS); took <= 0 || took > 5*time.Second || a.Message != "" {
		return fmt.Errorf("end: it took %v, with one idle connection: %s", took, a.Message)
	}
	if last, err := idle.ask(e.good[0].asked); err == nil && !last.closes {
		return errors.New("after end it goes on over its connection")
	}
	if a, err := e.counted(); err != nil || a.Delivered != sent.items && !e.Trap && !e.loose() {
		return errors.Join(err, fmt.Errorf("after end: stats: %d delivered, acknowledged were %d", a.Delivered, sent.items))
	}
	return nil
}

// checkLogs: with a log the server answers as without, and a file has a line
// for each request, if the framework's log goes there at all.
func (e exam) checkLogs() error {
	path := filepath.Join(e.dir, e.app.name+"-access.log")
	for _, set := range []map[string]string{{server.SetLog: server.LogDiscard}, {server.SetLog: server.LogFile, server.SetLogFile: path}} {
		addr, err := e.serves(set)
		if err != nil {
			return err
		}
		sent, err := e.askAll(addr)
		if err == nil {
			err = e.checkCounts(sent, true)
		}
		if err != nil {
			return fmt.Errorf("%v: %w", set, err)
		}
	}
	if _, err := e.serves(nil); err != nil { // the one that writes has ended
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("log to a file: %w", err)
	}
	if lines := strings.Count(string(text), "\n"); lines > 0 && lines < len(e.good) {
		return fmt.Errorf("log to a file: %d lines for %d requests", lines, len(e.good))
	}
	return nil
}
