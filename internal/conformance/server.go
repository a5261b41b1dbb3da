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

// Servers returns the tests of servers. They send HTTP requests, as a load generator does. For example, they
// send 25 requests over each of 8 connections, and then compare the server's count of requests with 200.
//
// An app is the service that a server provides, such as users or ingest. A server is tested with each app in
// its contender.json. The default is tiny, the smallest app.
func Servers(apps map[string]func() (App, error)) Kind {
	return Kind{TestAll: func(s Subject, dir string) []error { return s.testServer(apps, dir) }}
}

// App defines the tests of one app.
type App struct {
	Name string

	// GoodRequests must get status 200 over one connection, whatever was sent before.
	GoodRequests []GoodRequest
	// NthRequest returns request k of caller i. Several callers run concurrently. If NthRequest is nil, they
	// cycle through GoodRequests.
	NthRequest func(i, k int) GoodRequest
	// Layers is the number of middleware layers that each request to the app passes.
	Layers int64
	// Checks are further tests, each of which gets a new process.
	Checks []Check
	// StalledPath is the path of requests that stop before their end. "" skips this test.
	StalledPath string
	// Settings are the settings that a server accepts for the app.
	Settings []server.Setting
	// StandaloneSettings returns the settings of a server that a user runs without tare. The server stores its
	// files in dir. nil means no settings.
	StandaloneSettings func(dir string) map[string]string
	// CheckFiles checks the files of the standalone server in dir; nil means no check.
	CheckFiles func(dir string) error
	// SendRequests sends requests to the standalone server at addr; nil means all GoodRequests.
	SendRequests func(s Subject, addr string) error
}

// GoodRequest is a request that must succeed.
type GoodRequest struct {
	Request
	Items         int                  // number of items that the app forwards to its destination
	CheckResponse func(Response) error // returns an error unless the response is correct
}

// Check is a further test of an app.
type Check struct {
	Name string
	Run  func(e Env) error
}

// Env has what one test of an app needs. StartServer makes its process serve the app.
type Env struct {
	Subject // the contender, with WrongOnPurpose, IsStatusOnly, Limit, SendGood and SendOnce
	App     // the app, with GoodRequests, Layers and Checks
	Process *Process
	Dir     string // directory for files of the tests
}

// testServer runs the tests of all apps on a server. known has the apps by name. Tests of stalled requests
// mostly wait, so they run concurrently with the others.
func (s Subject) testServer(known map[string]func() (App, error), dir string) []error {
	if err := s.RunSession(Session{}, s.CheckHello); err != nil {
		return []error{err} // every other test would fail too
	}
	names := s.Apps
	if len(names) == 0 {
		names = []string{"tiny"}
	}
	var errs []error
	var apps []App
	stalled := make(chan error, len(names))
	for _, name := range names {
		newApp := known[name]
		if newApp == nil {
			errs = append(errs, fmt.Errorf("there is no conformance suite for app %q", name))
			continue
		}
		a, err := newApp()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		apps = append(apps, a)
		go func() { stalled <- s.testStalled(a) }()
	}
	for _, a := range apps {
		if s.isEnough(errs) {
			break
		}
		for _, err := range s.testApp(a, dir) {
			errs = append(errs, fmt.Errorf("app %s: %w", a.Name, err))
		}
	}
	for range apps {
		if err := <-stalled; err != nil {
			errs = append(errs, err)
		}
	}
	if s.isEnough(errs) {
		return errs
	}
	if err := s.CheckSocket(); err != nil {
		errs = append(errs, err)
	}
	return errs
}

func (s Subject) testApp(a App, dir string) []error {
	var errs []error
	checks := append([]Check{
		{Run: Env.checkGood}, // no name: its errors explain themselves
		{Run: Env.checkAgain},
		{Run: Env.checkEnd},
		{Run: Env.checkLogs},
		{Run: Env.checkTLS},
		{Run: Env.CheckRefusals},
	}, a.Checks...)
	for i, c := range checks {
		withBye := i%2 == 0 // tests both ways to end a process
		err := s.RunSession(Session{NoBye: !withBye}, func(p *Process, _ wire.Reply) error {
			return c.Run(Env{Subject: s, App: a, Process: p, Dir: dir})
		})
		if err != nil && c.Name != "" {
			err = fmt.Errorf("%s: %w", c.Name, err)
		}
		if err != nil {
			errs = append(errs, err)
		}
		if s.isEnough(errs) {
			return errs
		}
	}
	for _, err := range s.TestStandalone(a, dir) {
		errs = append(errs, fmt.Errorf("alone: %w", err))
	}
	return errs
}

// Workload returns the workload of a server for app a. It has no pool of inputs: a server does not know its
// requests in advance.
func (a App) Workload(set map[string]string) *wire.Workload {
	spec, _ := json.Marshal(server.Spec{App: a.Name}) // cannot fail
	return &wire.Workload{ID: a.Name + "/some", Fixture: a.Name, Op: "some", Set: set, Spec: spec}
}

// StartServer makes the contender serve the app with the settings in set, and returns the address
// of the server.
func (e Env) StartServer(set map[string]string) (string, error) {
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

// ReadCounts requests stats, the counts of the server, and checks that no number is negative.
func (e Env) ReadCounts() (wire.Reply, error) {
	a, err := e.Process.OK(wire.Request{Op: wire.OpStats, On: e.Workload(nil).ID})
	if err == nil && min(a.Bytes, a.Allocs, a.GC, a.Received, a.ReceivedBody, a.LayerCalls, a.Delivered) < 0 {
		err = fmt.Errorf("stats: a negative number: %+v", a)
	}
	return a, err
}

// Tally counts requests that were sent and answered, the bytes of their bodies, and the items in
// them.
type Tally struct{ Requests, Body, Items int64 }

// Add counts g.
func (t *Tally) Add(g GoodRequest) {
	t.Requests++
	t.Body += int64(len(g.encodedBody()))
	t.Items += int64(g.Items)
}

// CheckCounts compares the server's counts with t, the requests sent. configured is true if settings may have
// added middleware.
func (e Env) CheckCounts(t Tally, configured bool) error {
	a, err := e.ReadCounts()
	if err != nil {
		return err
	}
	layers := a.LayerCalls / max(1, t.Requests)
	isUneven := a.LayerCalls != layers*t.Requests // some requests pass more layers than others
	// Any server may add middleware if the app has none.
	mayAddLayers := configured || e.Variant != "" || e.Layers == 0
	isWrongNumber := layers < e.Layers || layers > e.Layers && !mayAddLayers
	switch {
	case a.Received != t.Requests:
		return fmt.Errorf("stats: %d received, sent were %d", a.Received, t.Requests)
	case e.WrongOnPurpose:
		return nil // other counts may be wrong too
	case isUneven || isWrongNumber:
		return fmt.Errorf("stats: %d layer_calls of %d requests; app %s has %d middlewares", a.LayerCalls, t.Requests, e.App.Name, e.Layers)
	case a.ReceivedBody != t.Body:
		return fmt.Errorf("stats: %d received_bytes, sent were %d", a.ReceivedBody, t.Body)
	case a.Delivered != t.Items && !e.IsStatusOnly():
		return fmt.Errorf("stats: %d delivered, acknowledged were %d", a.Delivered, t.Items)
	}
	return nil
}

// SendGood sends one good request over c and checks the response. The server must keep the connection open.
func (s Subject) SendGood(c *Caller, g GoodRequest) error {
	got, err := c.Send(g.Request)
	if err != nil {
		return fmt.Errorf("%v: %w", g.Request, err)
	}
	if err := s.checkGoodResponse(g, got); err != nil {
		return fmt.Errorf("%v: %w", g.Request, err)
	}
	if got.Closes {
		return fmt.Errorf("%v: it closes the connection", g.Request)
	}
	return nil
}

// checkGoodResponse checks the response to g.
func (s Subject) checkGoodResponse(g GoodRequest, got Response) error {
	switch {
	case s.WrongOnPurpose:
		return nil
	case !s.IsStatusOnly():
		return g.CheckResponse(got)
	case got.Status != 200: // a status-only server need not have the right body
		return fmt.Errorf("status %d, want 200", got.Status)
	}
	return nil
}

const (
	callers   = 8  // number of concurrent connections
	callsEach = 25 // number of requests over each
)

// checkGood sends good requests, over one connection and then over several, and checks the server's
// counts after each.
func (e Env) checkGood() error {
	addr, err := e.StartServer(nil)
	if err != nil {
		return err
	}
	if a, err := e.ReadCounts(); err != nil || a.Received != 0 || a.LayerCalls != 0 {
		return errors.Join(err, fmt.Errorf("stats before the first request: %d received, %d layer_calls", a.Received, a.LayerCalls))
	}
	sent, err := e.SendAll(addr)
	if err != nil {
		return err
	}
	if err := e.CheckCounts(sent, false); err != nil {
		return err
	}
	if err := e.sendConcurrently(addr, &sent); err != nil {
		return err
	}
	return e.CheckCounts(sent, false)
}

// SendAll sends all good requests over one connection and returns their counts.
func (e Env) SendAll(addr string) (sent Tally, err error) {
	c, err := Dial(addr, nil, e.Limit)
	if err != nil {
		return sent, err
	}
	defer c.Close()
	return e.sendAllOver(c)
}

func (e Env) sendAllOver(c *Caller) (sent Tally, err error) {
	for _, g := range e.GoodRequests {
		if err := e.SendGood(c, g); err != nil {
			return sent, err
		}
		sent.Add(g)
	}
	return sent, nil
}

// sendConcurrently sends requests over several connections and adds them to sent.
func (e Env) sendConcurrently(addr string, sent *Tally) error {
	nth := e.NthRequest
	if nth == nil {
		nth = func(i, k int) GoodRequest { return e.GoodRequests[(i*callsEach+k)%len(e.GoodRequests)] }
	}
	errs := make([]error, callers)
	var group sync.WaitGroup
	for i := range callers {
		for k := range callsEach {
			sent.Add(nth(i, k))
		}
		group.Go(func() {
			c, err := Dial(addr, nil, e.Limit)
			if err != nil {
				errs[i] = err
				return
			}
			defer c.Close()
			for k := range callsEach {
				if errs[i] = e.SendGood(c, nth(i, k)); errs[i] != nil {
					return
				}
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// checkAgain makes the contender serve twice. The second server must count from zero, and the first
// must no longer listen. Another process may have got the first server's port meanwhile, so
// checkAgain tries three times.
func (e Env) checkAgain() error {
	var listening string // address of a first server at which something still listens
	for range 3 {
		oldAddr, newAddr, err := e.prepareTwice()
		if err != nil {
			return err
		}
		if oldAddr == newAddr || !Listens(oldAddr) {
			return nil
		}
		listening = oldAddr
	}
	return fmt.Errorf("after a second prepare a server still listens at %s", listening)
}

// prepareTwice makes the contender serve twice, while a connection to the first server is open. That server
// must not respond any more, and the second must count from 0.
func (e Env) prepareTwice() (oldAddr, newAddr string, err error) {
	if oldAddr, err = e.StartServer(nil); err != nil {
		return "", "", err
	}
	idle, err := Dial(oldAddr, nil, e.Limit)
	if err != nil {
		return "", "", err
	}
	defer idle.Close()
	if err := e.SendGood(idle, e.GoodRequests[0]); err != nil {
		return "", "", err
	}
	if newAddr, err = e.StartServer(nil); err != nil {
		return "", "", fmt.Errorf("a second prepare: %w", err)
	}
	a, err := e.ReadCounts()
	if err != nil || a.Received != 0 || a.Delivered != 0 {
		return "", "", errors.Join(err, fmt.Errorf("stats after a second prepare: %d received, %d delivered", a.Received, a.Delivered))
	}
	last, err := idle.Send(e.GoodRequests[0].Request)
	if err == nil && !last.Closes {
		return "", "", errors.New("after a second prepare the first server responds over its connection")
	}
	return oldAddr, newAddr, nil
}

// checkEnd ends the server while a connection is open. The end must be quick, the connection must
// be closed, and it must still be possible to read the counts.
func (e Env) checkEnd() error {
	addr, err := e.StartServer(nil)
	if err != nil {
		return err
	}
	idle, err := Dial(addr, nil, e.Limit)
	if err != nil {
		return err
	}
	defer idle.Close()
	var sent Tally
	if err := e.SendGood(idle, e.GoodRequests[0]); err != nil {
		return err
	}
	sent.Add(e.GoodRequests[0])
	a, err := e.Process.OK(wire.Request{Op: wire.OpEnd, On: e.Workload(nil).ID})
	if err != nil {
		return err
	}
	const maxEnd = 5 * time.Second
	if took := time.Duration(a.WallNS); took <= 0 || took > maxEnd || a.Message != "" {
		return fmt.Errorf("end: it took %v, with one idle connection: %s", took, a.Message)
	}
	if last, err := idle.Send(e.GoodRequests[0].Request); err == nil && !last.Closes {
		return errors.New("after end it responds over its connection")
	}
	mustDeliver := !e.WrongOnPurpose && !e.IsStatusOnly()
	counted, err := e.ReadCounts()
	isLost := mustDeliver && counted.Delivered != sent.Items
	if err != nil || isLost {
		return errors.Join(err, fmt.Errorf("after end: stats: %d delivered, acknowledged were %d", counted.Delivered, sent.Items))
	}
	return nil
}

// checkLogs checks that logging does not change the responses. A log file has at least a line per request. It
// may be empty, because some frameworks write their log elsewhere.
func (e Env) checkLogs() error {
	path := filepath.Join(e.Dir, e.App.Name+"-access.log")
	for _, set := range []map[string]string{
		{server.SetLog: server.LogDiscard},
		{server.SetLog: server.LogFile, server.SetLogFile: path},
	} {
		addr, err := e.StartServer(set)
		if err != nil {
			return err
		}
		sent, err := e.SendAll(addr)
		if err == nil {
			err = e.CheckCounts(sent, true)
		}
		if err != nil {
			return fmt.Errorf("%v: %w", set, err)
		}
	}
	if _, err := e.StartServer(nil); err != nil { // ends the server that writes the file
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("log to a file: %w", err)
	}
	if lines := strings.Count(string(text), "\n"); lines > 0 && lines < len(e.GoodRequests) {
		return fmt.Errorf("log to a file: %d lines for %d requests", lines, len(e.GoodRequests))
	}
	return nil
}
