// Package project reads tare.yaml: what a repository tells tare about itself,
// so that a gate asks the same thing on every machine. Every field may be left
// out; a repository without the file gets the defaults.
package project

import (
	"path"
	"regexp"
	"time"

	"github.com/tarebench/tare"
)

// FileName is what the file is called.
const FileName = "tare.yaml"

// Project is a repository as its tare.yaml describes it.
type Project struct {
	File    string // path of tare.yaml; empty: there is none
	Dir     string // where its relative paths start
	Bench   Bench  // which of the repository's Go benchmarks are run, and how
	Studies []File // study files, or names of bundled studies
	JSON    []File // documents that JSON codecs are measured on
	Routes  []File // files of routes that routers are measured on; at most one
	Load    []Server
	Gate    Gate
	Accept  []Waiver
}

// File is what a tare.yaml names.
type File struct {
	Path string // relative to the project's directory, with slashes; of a bundled study its name
	Place
}

// Bundled reports whether f is the name of a study that comes with tare.
func (f File) Bundled() bool { return path.Ext(f.Path) != ".yaml" && path.Ext(f.Path) != ".yml" }

// Bench says which benchmarks are run, and how.
type Bench struct {
	Packages []string      // patterns as go list takes them, relative to Dir
	Run      string        // regular expression, as go test -bench takes it
	Tags     []string      // build tags
	Env      []string      // NAME=value
	Budget   time.Duration // measuring time of the benchmarks, builds not included; zero: what tare bench takes
	Max      time.Duration // the longest the whole may last; what does not fit is left out and named; zero: no limit
}

// Gate is what lets a change pass.
type Gate struct {
	Base           string   // git revision, or merge-base, or merge-base and a revision
	Margin         float64  // the slowdown that matters, as a share: 0.05 is 5 %
	Margins        []Margin // of some benchmarks, instead of Margin; the first that covers one counts
	Alpha          float64  // the family-wise error rate of the table, as a share
	Metrics        []string // held to the margin
	Instructions   float64  // more work than this blocks a change, as a share; 0: it is not limited
	Allocs         Allocs
	OnInconclusive OnInconclusive
	Review         string // what a reviewer writes to accept what is worse, or other rules; empty: waivers and rules of the change count
	Reference      string // revision that a branch's history is measured against; empty: none
}

// Margin is the slowdown that matters of some benchmarks.
type Margin struct {
	Benchmark *regexp.Regexp // matched against import/path.BenchmarkName/sub; nil: any
	Metric    string         // empty: any
	Share     float64
}

// MarginOf is the slowdown that matters of a benchmark by a metric.
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

// Allocs is how allocations per operation are compared with those of the base.
type Allocs string

// How allocations are held.
const (
	AllocsExact  Allocs = "exact"  // one more is too many
	AllocsMargin Allocs = "margin" // as the metrics
	AllocsIgnore Allocs = "ignore"
)

// OnInconclusive is what becomes of a gate that could not tell.
type OnInconclusive string

// What becomes of it.
const (
	PassOpen OnInconclusive = "pass" // said in the table
	WarnOpen OnInconclusive = "warn" // and as a warning
	FailOpen OnInconclusive = "fail" // and in the exit code
)

// Waiver lets a slowdown pass for a time.
type Waiver struct {
	Benchmark *regexp.Regexp // matched against import/path.BenchmarkName/sub
	Metric    string         // empty: any
	Until     time.Time      // the first moment it does not hold any more, UTC
	Reason    string
	Line, Col int // in the file
}

// Last is the last day on which the waiver holds, as it was written.
func (w Waiver) Last() string { return w.Until.AddDate(0, 0, -1).Format(time.DateOnly) }

// Default is the project of a repository that says nothing. dir is its top.
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

// MergeBase as a base means where the head left the branch it will go back to.
const MergeBase = "merge-base"
