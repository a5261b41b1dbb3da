// Package project reads tare.yaml: a repository's settings for tare,
// so that a gate measures the same on every machine. Every field is
// optional; a repository without the file gets the defaults.
package project

import (
	"path"
	"regexp"
	"time"

	"github.com/tarebench/tare"
)

// FileName is the name of the file.
const FileName = "tare.yaml"

// Project is a repository as its tare.yaml describes it.
type Project struct {
	File    string // path of tare.yaml; "" if there is none
	Dir     string // base of its relative paths
	Bench   Bench  // settings of the repository's Go benchmarks
	Studies []File // study files, or names of bundled studies
	JSON    []File // documents that JSON codecs are measured on
	Routes  []File // files of routes that routers are measured on; at most one
	Load    []Server
	Gate    Gate
	Accept  []Waiver
}

// File is a file or bundled study in a tare.yaml.
type File struct {
	Path string // relative to the project's directory, with slashes; of a bundled study its name
	Place
}

// Bundled reports whether f is the name of a study that comes with tare.
func (f File) Bundled() bool { return path.Ext(f.Path) != ".yaml" && path.Ext(f.Path) != ".yml" }

// Bench selects benchmarks and limits their measurement.
type Bench struct {
	Packages []string      // patterns as go list takes them, relative to Dir
	Run      string        // regular expression, as go test -bench takes it
	Tags     []string      // build tags
	Env      []string      // NAME=value
	Budget   time.Duration // measuring time of the benchmarks, without builds; 0 means the default of tare bench
	Max      time.Duration // longest duration of everything; the rest is skipped and reported; 0 means no limit
}

// Gate holds the criteria of a change.
type Gate struct {
	Base           string   // git revision, or merge-base, or merge-base and a revision
	Margin         float64  // the slowdown that matters, as a share: 0.05 is 5 %
	Margins        []Margin // replace Margin for some benchmarks; the first match counts
	Alpha          float64  // the family-wise error rate of the table, as a share
	Metrics        []string // compared with the margin
	Instructions   float64  // largest increase of instructions, as a share; 0 means no limit
	Allocs         Allocs
	OnInconclusive OnInconclusive
	Review         string // a reviewer's text that accepts worse results or other rules; if "", waivers and rules of the change count
	Reference      string // revision that a branch's history is measured against; "" if none
}

// Margin is the relevant slowdown of some benchmarks.
type Margin struct {
	Benchmark *regexp.Regexp // matched against import/path.BenchmarkName/sub; nil matches all
	Metric    string         // "" means any
	Share     float64
}

// MarginOf returns the relevant slowdown of a benchmark by a metric.
func (g Gate) MarginOf(benchmark, metric string) float64 {
	for _, m := range g.Margins {
		if (m.Benchmark == nil || m.Benchmark.MatchString(benchmark)) && (m.Metric == "" || m.Metric == metric) {
			return m.Share
		}
	}
	if tare.MetricFor(metric).Counted {
		return g.Instructions
	}
	return g.Margin
}

// Allocs selects how allocations per operation are compared with the base's.
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
	PassOpen OnInconclusive = "pass" // shown in the table
	WarnOpen OnInconclusive = "warn" // and as a warning
	FailOpen OnInconclusive = "fail" // and in the exit code
)

// Waiver accepts a slowdown until a day.
type Waiver struct {
	Benchmark *regexp.Regexp // matched against import/path.BenchmarkName/sub
	Metric    string         // "" means any
	Until     time.Time      // end of its validity, UTC
	Reason    string
	Line, Col int // in the file
}

// Last returns the waiver's last day, as in the file.
func (w Waiver) Last() string { return w.Until.AddDate(0, 0, -1).Format(time.DateOnly) }

// Default returns the project of a repository without tare.yaml. dir is its top.
func Default(dir string) Project {
	return Project{
		Dir:   dir,
		Bench: Bench{Packages: []string{"./..."}, Run: "."},
		Gate: Gate{
			Base: MergeBase, Margin: 0.05, Alpha: 0.05, Metrics: []string{"time"},
			Allocs: AllocsExact, OnInconclusive: WarnOpen,
		},
	}
}

// MergeBase is the base at which the head left its target branch.
const MergeBase = "merge-base"
