// Package server is the kind of contenders that serve HTTP. Each is a server in a separate process,
// or one that already runs somewhere. A load generator sends requests to it.
//
// A trial is a measurement in a new process, with a session of package load. To prepare a workload
// means to start a server for it. The answer to a case is the response to one request. A slice is a
// phase of load, whose CPU time in the server is read from the operating system. Gauges returns the
// measurements for which replies have no field.
package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/lab"
)

// Name is the name of the kind in studies.
const Name = "server"

// OpRequests is the op of the user's own requests.
const OpRequests = "requests"

// Kind is the server kind, or another one whose contenders serve HTTP.
type Kind struct {
	name string
	apps map[string]App // by the fixture's name

	cores   func() cores             // processors of load generator and server, read once
	pair    func() (*keyPair, error) // certificate of all encrypted servers
	visit   time.Duration            // limit of a request in a slice of operations
	arrival time.Duration            // limit for acknowledged items

	mu        sync.Mutex                 // guards the following maps
	pools     map[string][]Request       // by path of the pool
	encoded   map[[2]string][]Request    // by path of the pool and name of the encoding
	calls     map[string]wire.Workload   // calls for contenders' own clients, by path of the pool of requests
	appsByDir map[string]map[string]bool // by the directory of their inputs

	refsMu sync.Mutex // guards refs, also while references are computed
	refs   map[referenceKey][]Response
}

var (
	_ lab.Kind      = (*Kind)(nil)
	_ lab.Describer = (*Kind)(nil)
	_ lab.Launcher  = (*Kind)(nil)
	_ lab.Holder    = (*Kind)(nil)
	_ lab.Prober    = (*Kind)(nil)
	_ lab.Examiner  = (*Kind)(nil)
)

// Of returns a kind with the given name, whose contenders serve apps.
func Of(name string, apps ...App) *Kind {
	kind := map[string]App{}
	for _, a := range apps {
		if a.Probes == nil {
			a.Probes = func() []Probe { return nil }
		}
		if a.Questions == nil {
			a.Questions = func() []Question { return nil }
		}
		kind[a.Name] = a
	}
	return &Kind{
		name:      name,
		apps:      kind,
		cores:     sync.OnceValue(divideCores),
		pair:      sync.OnceValues(newKeyPair),
		visit:     visitTimeout,
		arrival:   arrivalLimit,
		pools:     map[string][]Request{},
		encoded:   map[[2]string][]Request{},
		calls:     map[string]wire.Workload{},
		appsByDir: map[string]map[string]bool{},
		refs:      map[referenceKey][]Response{},
	}
}

// Launches returns the ways to run contenders.
func (k *Kind) Launches() []tare.Launch {
	return []tare.Launch{tare.LaunchProgram, tare.LaunchCommand, tare.LaunchURL}
}

// spec is the content of a workload's Spec. A program receives only the app.
type spec struct {
	App     string        `json:"app"`
	Traffic *tare.Traffic `json:"traffic,omitempty"`
	Own     bool          `json:"own,omitempty"` // the user's requests: there is no reference
}

const defaultConnections = 1

// specOf parses the Spec of w. Without an error, its Traffic is not nil.
func specOf(w wire.Workload) (spec, error) {
	var s spec
	if err := json.Unmarshal(w.Spec, &s); err != nil {
		return s, fmt.Errorf("workload %q: spec: %w", w.ID, err)
	}
	if s.Traffic == nil {
		s.Traffic = &tare.Traffic{Connections: defaultConnections}
	}
	return s, nil
}

// Input writes the requests of w into dir, one per line. It records the app of w for Exams.
func (k *Kind) Input(w tare.Workload, studyDir, dir string) (wire.Workload, error) {
	s := spec{Traffic: w.Traffic, Own: w.File != ""}
	if s.Traffic == nil {
		return wire.Workload{}, fmt.Errorf("workload %q: a server's workload needs traffic, e.g. traffic: {connections: 50}", w.ID)
	}
	if a := k.apps[w.Fixture]; w.N == 0 && !s.Own {
		w.N = a.N
	}
	list, err := k.makeRequests(w, studyDir, &s)
	if err != nil {
		return wire.Workload{}, fmt.Errorf("workload %q: %w", w.ID, err)
	}
	input, err := k.writePool(dir, list, s)
	if err != nil {
		return wire.Workload{}, fmt.Errorf("write input of workload %q: %w", w.ID, err)
	}
	input.ID = w.ID
	input.Fixture = w.Fixture
	input.N = w.N
	input.Op = w.Op
	input.Heap = w.Heap
	if a, known := k.apps[s.App]; known && !s.Own {
		if err := k.writeClientPool(dir, input.Input, a); err != nil {
			return wire.Workload{}, fmt.Errorf("write input of workload %q: %w", w.ID, err)
		}
		k.mu.Lock()
		if k.appsByDir[dir] == nil {
			k.appsByDir[dir] = map[string]bool{}
		}
		k.appsByDir[dir][s.App] = true
		k.mu.Unlock()
	}
	return input, nil
}

// makeRequests makes the requests of w, or reads the user's file. It sets s.App.
func (k *Kind) makeRequests(w tare.Workload, studyDir string, s *spec) ([]Request, error) {
	known := k.apps
	if s.Own {
		if _, ok := known[w.Op]; ok { // the name of the app that programs must serve
			s.App = w.Op
		} else if w.Op != OpRequests {
			return nil, fmt.Errorf("unknown op %q; with a file it is %s, or for programs that serve more than one app its name: %s", w.Op, OpRequests, joinNames(known))
		}
		return readFile(w.File, studyDir)
	}
	a, ok := known[w.Fixture]
	if !ok {
		return nil, fmt.Errorf("unknown fixture %q; a %s can serve %s", w.Fixture, k.name, joinNames(known))
	}
	s.App = w.Fixture
	if !slices.Contains(a.Ops, w.Op) {
		return nil, fmt.Errorf("unknown op %q; %s can be asked to %s", w.Op, w.Fixture, strings.Join(a.Ops, ", "))
	}
	return a.Requests(w)
}

// Describe adds to w the bytes of request bodies and, unless the op repeats requests on purpose,
// the different requests. In another dialect the bodies have other lengths.
func (k *Kind) Describe(w tare.Workload, input wire.Workload) (tare.Workload, error) {
	list, err := k.poolOf(input)
	if err != nil {
		return w, err
	}
	s, err := specOf(input)
	if err != nil {
		return w, err
	}
	w.Bytes = 0
	distinct := map[string]bool{}
	for _, r := range list {
		w.Bytes += int64(len(r.Body))
		distinct[r.Method+" "+r.Path+"\n"+string(r.Body)] = true
	}
	if s.Own {
		return w, nil
	}
	w.N = input.N
	a := k.apps[s.App]
	if !slices.Contains(a.Repeats, w.Op) {
		w.Keys, w.DistinctKeys = len(list), len(distinct)
	}
	if a.Parts != nil {
		w.Parts = a.Parts(w.Op)
	}
	if a.Counts != nil {
		counts := a.Counts(w.Op)
		w.Counts = &counts
	}
	return w, nil
}

// Holds returns the bytes of memory that c needs for the data of w, or 0 if unknown.
func (k *Kind) Holds(c tare.Contender, w wire.Workload) int64 {
	s, err := specOf(w)
	a := k.apps[s.App]
	isProgram := c.Launch != tare.LaunchCommand && c.Launch != tare.LaunchURL
	if err != nil || a.Holds == nil || !isProgram || k.strictnessOf(c, s) == strictNone {
		return 0
	}
	return a.Holds(w)
}

// Open starts one trial: a program or a command, or no process if the server runs already.
func (k *Kind) Open(ctx context.Context, p build.Program, spec trial.Spec) (trial.Conn, error) {
	c, err := k.openTrial(ctx, p, spec)
	if err != nil {
		return nil, err
	}
	return c, nil
}
