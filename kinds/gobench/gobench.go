// Package gobench is the kind of studies that run Go benchmarks, those of go test -bench. Each side
// of a comparison is a [Suite] of test binaries. A test that is added to each package ([TestFile])
// runs a benchmark for a requested number of iterations.
//
// A benchmark is measured in slices, runs of a few milliseconds between which the sides take turns.
// If it cannot be divided, it is measured in complete runs ([SetRun]). For times, its operations
// are iterations, as for every benchmark. For other metrics, one operation is a complete run with
// all allocations of the process. Then a plan has few and long slices.
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
	SetRegexp = "regexp" // pattern as for go test -bench, below the named benchmark
	SetRun    = "run"    // iterations of each slice, whatever the plan requests
)

// Suite is one side of a comparison after its build.
type Suite struct {
	Packages map[string]Package `json:"packages"`         // by import path; path_test for external tests
	Env      []string           `json:"env"`              // NAME=value, in addition to the environment
	Go       string             `json:"go"`               // version that built the suite
	GOROOT   string             `json:"goroot,omitempty"` // GOROOT that built the suite; may be ""
	Bench    string             `json:"bench,omitempty"`  // pattern for -test.bench; "" for all benchmarks
	Procs    int                `json:"procs"`            // default GOMAXPROCS
}

// Package is the test binary of a package.
type Package struct {
	Binary string `json:"binary"`
	Link   *Link  `json:"link,omitempty"`  // makes a binary for each trial; nil if trials run Binary
	Dir    string `json:"dir"`             // package's directory
	Test   string `json:"test"`            // name of the test that runs benchmarks
	Alone  bool   `json:"alone,omitempty"` // two processes cannot run concurrently
}

// Outcome is the result of one run of a benchmark.
type Outcome struct {
	Name    string             `json:"name"`
	N       int64              `json:"n"`      // iterations
	Values  map[string]float64 `json:"values"` // by unit
	Failed  bool               `json:"failed"`
	Skipped bool               `json:"skipped"`
	Why     string             `json:"why"` // reason if the benchmark failed or was skipped
}

// Save writes the suite to a file.
func (s Suite) Save(path string) error {
	text, err := json.Marshal(s)
	if err == nil {
		err = os.WriteFile(path, text, 0o600) // the environment may have secrets
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

// Input returns the request for workload w. Its fixture is a package, and its op the full name of a
// benchmark.
func (k *Kind) Input(w tare.Workload, _, _ string) (wire.Workload, error) {
	top, _, _ := strings.Cut(w.Op, "/")
	if w.File != "" || !strings.HasPrefix(top, "Benchmark") {
		return wire.Workload{}, fmt.Errorf("workload %q: want a package as fixture and the name of a benchmark as op, e.g. BenchmarkParse/small; tare bench makes such studies", w.ID)
	}
	return wire.Workload{ID: w.ID, Fixture: w.Fixture, Op: w.Op, Set: w.Set}, nil
}

// Group returns the package of a benchmark, whose benchmarks run in one process.
func (k *Kind) Group(w wire.Workload) string { return w.Fixture }

// Open starts one trial. The process of a package starts when its first benchmark is prepared.
func (k *Kind) Open(_ context.Context, p build.Program, spec trial.Spec) (trial.Conn, error) {
	if p.Contender.ID == tare.NullID {
		return nullConn{}, nil
	}
	s, err := k.loadSuite(p.Path)
	if err != nil {
		return nil, err
	}
	return &conn{suite: s, spec: spec, reported: map[string]map[string]weightedMean{}}, nil
}

// Compare returns no differences, because benchmarks have no output to compare.
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
