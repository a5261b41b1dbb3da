// Package project reads tare.yaml, which contains the settings of a repository for tare. A gate
// compares a change (head) with its base and blocks it if it is slower. With these settings it measures
// the same on every machine. All fields are optional, and so is the file.
package project

import (
	"path"
	"regexp"
	"time"

	"github.com/tarebench/tare"
)

// FileName is the name of the file.
const FileName = "tare.yaml"

// Project holds the settings of a repository.
type Project struct {
	File    string   // path of tare.yaml; "" if absent
	Dir     string   // directory to which paths in tare.yaml are relative
	Bench   Bench    // Go benchmarks
	Studies []File   // measurements that compare programs: files, or names of bundled ones
	JSON    []File   // documents for the measurement of JSON codecs
	Routes  []File   // file of routes for the measurement of routers; at most one
	Load    []Server // servers that are measured under load
	Gate    Gate     // criteria of a change
	Accept  []Waiver // slowdowns that are accepted
}

// File is a file that a tare.yaml names, or a bundled study.
type File struct {
	Path  string // relative to the project's directory, with slashes, or name of a bundled study
	Place        // position of the name in tare.yaml
}

// Bundled reports whether f is the name of a study that comes with tare.
func (f File) Bundled() bool { return path.Ext(f.Path) != ".yaml" && path.Ext(f.Path) != ".yml" }

// Bench selects benchmarks and limits their measurement.
type Bench struct {
	Packages []string      // patterns as go list takes them, relative to Dir
	Run      string        // regular expression, as go test -bench takes it
	Tags     []string      // build tags
	Env      []string      // NAME=value
	Budget   time.Duration // time for measuring, without builds; 0 means the default of tare bench
	Max      time.Duration // maximum duration of a gate, which skips the rest; 0 means no limit
}

// Gate holds the criteria of a change.
type Gate struct {
	Base           string   // git revision, or merge-base, or merge-base and a revision
	Margin         float64  // least slowdown that blocks a change, as a share: 0.05 is 5 %
	Margins        []Margin // replace Margin for some benchmarks; the first match counts
	Alpha          float64  // family-wise error rate of all comparisons of a gate, as a share
	Metrics        []string // those that are compared with the margin
	Instructions   float64  // maximum increase of instructions, as a share; 0 means no limit
	Allocs         Allocs
	OnInconclusive OnInconclusive
	Review         string // line with which a reviewer accepts worse results or changed rules; "" requires none
	Reference      string // revision with which the history of a branch is compared; "" if absent
}

// Margin replaces Gate.Margin for some benchmarks, or for one metric.
type Margin struct {
	Benchmark *regexp.Regexp // matched against import/path.BenchmarkName/sub; nil matches all
	Metric    string         // "" means any
	Share     float64        // slowdown as a share
}

// MarginOf returns the least slowdown of a benchmark, by a metric, that blocks a change, as a share.
func (g Gate) MarginOf(benchmark, metric string) float64 {
	for _, m := range g.Margins {
		matchesBenchmark := m.Benchmark == nil || m.Benchmark.MatchString(benchmark)
		matchesMetric := m.Metric == "" || m.Metric == metric
		if matchesBenchmark && matchesMetric {
			return m.Share
		}
	}
	if tare.MetricFor(metric).Counted {
		return g.Instructions
	}
	return g.Margin
}

// Allocs selects how allocations per operation are compared with those of the base.
type Allocs string

// Comparisons of allocations.
const (
	AllocsExact  Allocs = "exact"  // no increase is allowed
	AllocsMargin Allocs = "margin" // like the other metrics
	AllocsIgnore Allocs = "ignore"
)

// OnInconclusive selects the outcome of a gate with inconclusive results.
type OnInconclusive string

// Outcomes of a gate with inconclusive results.
const (
	PassOpen OnInconclusive = "pass" // only the table shows the inconclusive results
	WarnOpen OnInconclusive = "warn" // the gate passes with a warning about them
	FailOpen OnInconclusive = "fail"
)

// Waiver accepts a slowdown until a day.
type Waiver struct {
	Benchmark *regexp.Regexp // matched against import/path.BenchmarkName/sub
	Metric    string         // "" means any
	Until     time.Time      // end of the last day, in UTC
	Reason    string
	Line, Col int // position in the file
}

// Last returns the last day of the waiver, as in the file.
func (w Waiver) Last() string { return w.Until.AddDate(0, 0, -1).Format(time.DateOnly) }

// Default returns the project of a repository without tare.yaml. dir is the top of the repository.
func Default(dir string) Project {
	return Project{
		Dir:   dir,
		Bench: Bench{Packages: []string{"./..."}, Run: "."},
		Gate: Gate{
			Base:           MergeBase,
			Margin:         0.05,
			Alpha:          0.05,
			Metrics:        []string{"time"},
			Allocs:         AllocsExact,
			OnInconclusive: WarnOpen,
		},
	}
}

// MergeBase is the value of Gate.Base for the commit at which the head left its target branch.
const MergeBase = "merge-base"
