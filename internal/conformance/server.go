package conformance

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

	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/wire"
)

// Servers tests servers. The lab does the operations, so it calls none. A server is tested with
// each app that its contender.json names, or else with the app tiny.
func Servers(apps map[string]func() (App, error)) Kind {
	return Kind{Examine: func(s Subject, dir string) []error { return s.examineServer(apps, dir) }}
}

// App describes one app to the suite.
type App struct {
	Name string

	// Good are requests that are answered with 200 over one connection, whatever were sent before,
	// and are counted.
	Good []Good
	// Nth returns the k-th request of the i-th of several callers; if nil, they take the good ones
	// in turn.
	Nth func(i, k int) Good
	// Layers is the number of the app's own middlewares.
	Layers int64
	// Checks are further tests, each in a separate process.
	Checks []Check
	// Slow is the path of a request whose body may arrive too slowly.
	Slow string
	// Settings are the settings of the app.
	Settings []server.Setting
	// Set is its configuration when it runs standalone.
	Set  func(dir string) map[string]string
	Kept func(dir string) error
	Asks func(s Subject, addr string) error // how to send requests to it standalone; nil sends all good ones
}

// Good is a request and what is wrong with an answer to it, if anything is.
type Good struct {
	Request
	Items int // that the sink then has
	Wrong func(Answer) error
}

// Check is one further test of an app.
type Check struct {
	Name string
	Ask  func(e Exam) error
}

// Exam is the test of one app.
type Exam struct {
	Subject
	App
	Process *Process
	Dir     string
}

// examineServer runs the suite on a server.
func (s Subject) examineServer(known map[string]func() (App, error), dir string) []error {
	if err := s.Visit(false, true, s.CheckHello); err != nil {
		return []error{err} // nothing else can go right
	}
	names := s.Apps
	if len(names) == 0 {
		names = []string{"tiny"}
	}
	var wrong []error
	var apps []App
	slow := make(chan error, len(names))
	for _, name := range names {
		suite := known[name]
		if suite == nil {
			wrong = append(wrong, fmt.Errorf("there is no conformance suite for app %q", name))
			continue
		}
		a, err := suite()
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		apps = append(apps, a)
		go func() { slow <- s.examineSlow(a) }() // most of which is waiting
	}
	for _, a := range apps {
		if s.isEnough(wrong) {
			break
		}
		for _, err := range s.examineApp(a, dir) {
			wrong = append(wrong, fmt.Errorf("app %s: %w", a.Name, err))
		}
	}
	for range apps {
		if err := <-slow; err != nil {
			wrong = append(wrong, err)
		}
	}
	if s.isEnough(wrong) {
		return wrong
	}
	if err := s.Visit(true, true, func(*Process, wire.Reply) error { return nil }); err != nil {
		wrong = append(wrong, err)
	}
	return wrong
}

func (s Subject) examineApp(a App, dir string) []error {
	var wrong []error
	all := append([]Check{
		{"", Exam.checkGood}, {"", Exam.checkAgain}, {"", Exam.checkEnd}, {"", Exam.checkLogs}, {"", Exam.checkTLS}, {"", Exam.CheckRefusals},
	}, a.Checks...)
	for i, c := range all {
		err := s.Visit(false, i%2 == 0, func(p *Process, _ wire.Reply) error { return c.Ask(Exam{s, a, p, dir}) })
		if err != nil && c.Name != "" {
			err = fmt.Errorf("%s: %w", c.Name, err)
		}
		if err != nil {
			wrong = append(wrong, err)
		}
		if s.isEnough(wrong) {
			return wrong
		}
	}
	for _, err := range s.ExamineStandalone(a, dir) {
		wrong = append(wrong, fmt.Errorf("alone: %w", err))
	}
	return wrong
}

// Workload returns the workload that a server gets for an app. It has no pool: no server knows its
// requests in advance.
func (a App) Workload(set map[string]string) *wire.Workload {
	spec, _ := json.Marshal(server.Spec{App: a.Name}) // a string in a struct always can be
	return &wire.Workload{ID: a.Name + "/some", Fixture: a.Name, Op: "some", Set: set, Spec: spec}
}

// Serves prepares the app and returns its address.
func (e Exam) Serves(set map[string]string) (string, error) {
	a, err := e.Process.OK(wire.Request{Op: wire.OpPrepare, Workload: e.Workload(set)})
	if err != nil {
		return "", fmt.Errorf("%v: %w", set, err)
	}
	if a.Unsupported {
		return "", fmt.Errorf("it does not serve the app %s", e.App.Name)
	}
	host, _, err := net.SplitHostPort(a.Addr)
	if err != nil || !net.ParseIP(host).IsLoopback() {
		return "", fmt.Errorf("prepare: addr %q is not host:port of a loopback address", a.Addr)
	}
	return a.Addr, nil
}

// Counted requests stats.
func (e Exam) Counted() (wire.Reply, error) {
	a, err := e.Process.OK(wire.Request{Op: wire.OpStats, On: e.Workload(nil).ID})
	if err == nil && (a.Bytes < 0 || a.Allocs < 0 || a.GC < 0 || a.Received < 0 || a.ReceivedBody < 0 || a.LayerCalls < 0 || a.Delivered < 0) {
		err = fmt.Errorf("stats: a negative number: %+v", a)
	}
	return a, err
}

// Tally counts the sent requests.
type Tally struct{ Requests, Body, Items int64 }

// Add counts one more request that was answered.
func (t *Tally) Add(g Good) {
	t.Requests++
	t.Body += int64(len(g.encodedBody()))
	t.Items += int64(g.Items)
}

// CheckCounts compares stats with the sent requests. configured reports whether settings add
// middleware.
func (e Exam) CheckCounts(t Tally, configured bool) error {
	a, err := e.Counted()
	if err != nil {
		return err
	}
	layers := a.LayerCalls / max(1, t.Requests)
	switch {
	case a.Received != t.Requests:
		return fmt.Errorf("stats: %d received, sent were %d", a.Received, t.Requests)
	case e.Trap:
	case a.LayerCalls != layers*t.Requests || layers < e.Layers || e.Layers > 0 && e.Variant == "" && !configured && layers > e.Layers:
		return fmt.Errorf("stats: %d layer_calls of %d requests; app %s has %d middlewares", a.LayerCalls, t.Requests, e.App.Name, e.Layers)
	case a.ReceivedBody != t.Body:
		return fmt.Errorf("stats: %d received_bytes, sent were %d", a.ReceivedBody, t.Body)
	case a.Delivered != t.Items && !e.Loose():
		return fmt.Errorf("stats: %d delivered, acknowledged were %d", a.Delivered, t.Items)
	}
	return nil
}

// AskGood sends one good request and compares its response with the expected one.
func (s Subject) AskGood(c *Caller, g Good) error {
	got, err := c.Ask(g.Request)
	if err != nil {
		return fmt.Errorf("%v: %w", g.Request, err)
	}
	switch {
	case s.Trap:
	case s.Loose():
		if got.Status != 200 {
			return fmt.Errorf("%v: status %d, want 200", g.Request, got.Status)
		}
	default:
		if err := g.Wrong(got); err != nil {
			return fmt.Errorf("%v: %w", g.Request, err)
		}
	}
	if got.Closes {
		return fmt.Errorf("%v: it closes the connection", g.Request)
	}
	return nil
}

const (
	callers   = 8
	callsEach = 25
)

// checkGood sends good requests, over one connection and then over several.
func (e Exam) checkGood() error {
	addr, err := e.Serves(nil)
	if err != nil {
		return err
	}
	if a, err := e.Counted(); err != nil || a.Received != 0 || a.LayerCalls != 0 {
		return errors.Join(err, fmt.Errorf("stats before the first request: %d received, %d layer_calls", a.Received, a.LayerCalls))
	}
	sent, err := e.AskAll(addr)
	if err != nil {
		return err
	}
	if err := e.CheckCounts(sent, false); err != nil {
		return err
	}
	if err := e.askTogether(addr, &sent); err != nil {
		return err
	}
	return e.CheckCounts(sent, false)
}

// AskAll sends all good requests over one connection.
func (e Exam) AskAll(addr string) (sent Tally, err error) {
	c, err := Dial(addr, nil, e.Limit)
	if err != nil {
		return sent, err
	}
	defer c.Close()
	for _, g := range e.Good {
		if err := e.AskGood(c, g); err != nil {
			return sent, err
		}
		sent.Add(g)
	}
	return sent, nil
}

// askTogether sends requests over several connections concurrently.
func (e Exam) askTogether(addr string, sent *Tally) error {
	nth := e.Nth
	if nth == nil {
		nth = func(i, k int) Good { return e.Good[(i*callsEach+k)%len(e.Good)] }
	}
	wrong := make([]error, callers)
	var all sync.WaitGroup
	for i := range callers {
		for k := range callsEach {
			sent.Add(nth(i, k))
		}
		all.Go(func() {
			c, err := Dial(addr, nil, e.Limit)
			if err != nil {
				wrong[i] = err
				return
			}
			defer c.Close()
			for k := range callsEach {
				if wrong[i] = e.AskGood(c, nth(i, k)); wrong[i] != nil {
					return
				}
			}
		})
	}
	all.Wait()
	return errors.Join(wrong...)
}

// checkAgain prepares twice: the second server counts from zero, and the first does not listen any
// more. Another process may have taken its port, but hardly three times in a row.
func (e Exam) checkAgain() error {
	for tries := 3; ; tries-- {
		before, err := e.Serves(nil)
		if err != nil {
			return err
		}
		idle, err := Dial(before, nil, e.Limit)
		if err != nil {
			return err
		}
		if err := e.AskGood(idle, e.Good[0]); err != nil {
			return err
		}
		after, err := e.Serves(nil)
		if err != nil {
			return fmt.Errorf("a second prepare: %w", err)
		}
		a, err := e.Counted()
		if err != nil || a.Received != 0 || a.Delivered != 0 {
			return errors.Join(err, fmt.Errorf("stats after a second prepare: %d received, %d delivered", a.Received, a.Delivered))
		}
		last, err := idle.Ask(e.Good[0].Request)
		idle.Close()
		if err == nil && !last.Closes {
			return errors.New("after a second prepare the first server goes on over its connection")
		}
		if before == after || !Listens(before) {
			return nil
		}
		if tries == 1 {
			return fmt.Errorf("after a second prepare a server still listens at %s", before)
		}
	}
}

// checkEnd ends the server while a connection is open, and then requests its counts.
func (e Exam) checkEnd() error {
	addr, err := e.Serves(nil)
	if err != nil {
		return err
	}
	idle, err := Dial(addr, nil, e.Limit)
	if err != nil {
		return err
	}
	defer idle.Close()
	var sent Tally
	if err := e.AskGood(idle, e.Good[0]); err != nil {
		return err
	}
	sent.Add(e.Good[0])
	a, err := e.Process.OK(wire.Request{Op: wire.OpEnd, On: e.Workload(nil).ID})
	if err != nil {
		return err
	}
	if took := time.Duration(a.WallNS); took <= 0 || took > 5*time.Second || a.Message != "" {
		return fmt.Errorf("end: it took %v, with one idle connection: %s", took, a.Message)
	}
	if last, err := idle.Ask(e.Good[0].Request); err == nil && !last.Closes {
		return errors.New("after end it goes on over its connection")
	}
	if a, err := e.Counted(); err != nil || a.Delivered != sent.Items && !e.Trap && !e.Loose() {
		return errors.Join(err, fmt.Errorf("after end: stats: %d delivered, acknowledged were %d", a.Delivered, sent.Items))
	}
	return nil
}

// checkLogs: with a log the server answers as without, and a file has a line
// for each request, if the framework's log goes there at all.
func (e Exam) checkLogs() error {
	path := filepath.Join(e.Dir, e.App.Name+"-access.log")
	for _, set := range []map[string]string{{server.SetLog: server.LogDiscard}, {server.SetLog: server.LogFile, server.SetLogFile: path}} {
		addr, err := e.Serves(set)
		if err != nil {
			return err
		}
		sent, err := e.AskAll(addr)
		if err == nil {
			err = e.CheckCounts(sent, true)
		}
		if err != nil {
			return fmt.Errorf("%v: %w", set, err)
		}
	}
	if _, err := e.Serves(nil); err != nil { // the one that writes has ended
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("log to a file: %w", err)
	}
	if lines := strings.Count(string(text), "\n"); lines > 0 && lines < len(e.Good) {
		return fmt.Errorf("log to a file: %d lines for %d requests", lines, len(e.Good))
	}
	return nil
}
