// Package gobench runs the benchmarks of the user's packages: those that go test -bench runs. Each
// side of a comparison is a [Suite] of test binaries, to whose packages an overlay has added one
// test ([TestFile]) that runs a benchmark for a requested number of iterations.
//
// What testing does around each run of a benchmark (collections before it, one
// iteration by itself) is not in its result, and not measured.
//
// A benchmark that cannot be cut into slices is measured in complete runs ([SetRun]). Where timing
// does not matter, one operation of it is a run with all allocations of the process, so that a plan
// has few and long slices. Timed results count iterations, as for every benchmark.
package gobench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/lab"
)

// Name is the name of the kind in studies.
const Name = "gobench"

// Keys of a workload's set.
const (
	SetRegexp = "regexp" // instead of the benchmark by its name, those below it that match as with go test -bench
	SetRun    = "run"    // a slice is one run of the benchmark, of this many iterations, whatever the plan requests
)

// Suite is one side of a comparison, built: a program of this kind is the path of a file with one.
type Suite struct {
	Packages map[string]Package `json:"packages"`         // by import path; external tests by that and _test
	Env      []string           `json:"env"`              // NAME=value, of this side in addition to the caller's environment
	Go       string             `json:"go"`               // version it was built with
	GOROOT   string             `json:"goroot,omitempty"` // of the go command that built it; "" if unknown
	Bench    string             `json:"bench,omitempty"`  // what go test -bench would be called with; "" for all
	Procs    int                `json:"procs"`            // GOMAXPROCS by default
}

// Package is a test binary.
type Package struct {
	Binary string `json:"binary"`
	Link   *Link  `json:"link,omitempty"`  // how each trial links its own binary; nil if Binary runs
	Dir    string `json:"dir"`             // working directory: that of the package
	Test   string `json:"test"`            // name of the test that runs benchmarks
	Alone  bool   `json:"alone,omitempty"` // no two processes of it can run at once: each request has its own
}

// Outcome is the result of testing for one run of a benchmark. A process answers with a list of
// them.
type Outcome struct {
	Name    string             `json:"name"`
	N       int64              `json:"n"`
	Values  map[string]float64 `json:"values"` // by unit
	Failed  bool               `json:"failed"`
	Skipped bool               `json:"skipped"`
	Why     string             `json:"why"` // first line of its log if it failed or was skipped
}

// Save writes the suite to a file.
func (s Suite) Save(path string) error {
	text, err := json.Marshal(s)
	if err == nil {
		err = os.WriteFile(path, text, 0o600) // it has the environment
	}
	if err != nil {
		return fmt.Errorf("write the suite: %w", err)
	}
	return nil
}

// Kind is the gobench kind.
type Kind struct {
	mu     sync.Mutex
	suites map[string]Suite // by path
}

var (
	_ lab.Kind    = (*Kind)(nil)
	_ lab.Grouper = (*Kind)(nil)
)

// New returns the gobench kind.
func New() *Kind { return &Kind{suites: map[string]Suite{}} }

// Input describes workload w: its fixture is the package, its op the
// benchmark's full name. There is nothing to write, and nothing to answer: a
// benchmark has no output to compare.
func (k *Kind) Input(w tare.Workload, _, _ string) (wire.Workload, error) {
	top, _, _ := strings.Cut(w.Op, "/")
	if w.File != "" || !strings.HasPrefix(top, "Benchmark") {
		return wire.Workload{}, fmt.Errorf("workload %q: want a package as fixture and the name of a benchmark as op, e.g. BenchmarkParse/small; tare bench makes such studies", w.ID)
	}
	return wire.Workload{ID: w.ID, Fixture: w.Fixture, Op: w.Op, Set: w.Set}, nil
}

// Group returns the package of a benchmark: each has a process of its own.
func (k *Kind) Group(w wire.Workload) string { return w.Fixture }

// Open starts one trial: the process of a package starts when a benchmark of it
// is prepared.
func (k *Kind) Open(_ context.Context, p build.Program, spec trial.Spec) (trial.Conn, error) {
	if p.Contender.ID == tare.NullID {
		return nothing{}, nil
	}
	s, err := k.loadSuite(p.Path)
	if err != nil {
		return nil, err
	}
	return &conn{suite: s, spec: spec, reported: map[string]map[string]mean{}}, nil
}

// Compare finds nothing wrong: benchmarks show no answers.
func (k *Kind) Compare(wire.Workload, []wire.Answer) ([]string, error) { return nil, nil }

func (k *Kind) loadSuite(path string) (Suite, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s, ok := k.suites[path]; ok {
		return s, nil
	}
	text, err := os.ReadFile(filepath.Clean(path))
	var s Suite
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return s, &tare.TrialError{Class: tare.ErrStart, Message: "read the suite: " + err.Error()}
	}
	k.suites[path] = s
	return s, nil
}
