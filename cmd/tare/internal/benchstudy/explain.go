package benchstudy

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/profilediff"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/stats"
)

// This file profiles benchmarks that differ between base and head. Package profilediff finds the
// causes.

// Profile selects the benchmarks that are profiled after the rounds.
type Profile string

// Values of Profile.
const (
	ProfileNone      Profile = ""
	ProfileDifferent Profile = "different" // those that differ in time or allocations
	ProfileAll       Profile = "all"
)

// Profiles lists the values of the option.
func Profiles() []string { return []string{string(ProfileDifferent), string(ProfileAll)} }

// minCountDifference is the least difference in allocations per operation. Less may come from
// allocations before the loop, divided by a varying number of operations.
const minCountDifference = 0.5

// maxExplained limits the profiled benchmarks, because each takes some twenty seconds.
const maxExplained = 6

// Explain profiles both sides of the selected benchmarks, and adds the causes of their differences
// to the result. It returns early if ctx is done.
func (b *Bench) Explain(ctx context.Context, r *tare.Result, selection Profile, setup Setup) {
	rows := b.selectProfiled(r, selection)
	if selection == ProfileDifferent && len(rows) > maxExplained {
		var names []string
		for _, w := range rows[maxExplained:] {
			names = append(names, w.ID)
		}
		r.NotWeighed = append(r.NotWeighed, tare.NotWeighed{
			What: strings.Join(names, ", "), Why: fmt.Sprintf("profiles are taken of the %d rows that differ most; --bench chooses others", maxExplained),
		})
		rows = rows[:maxExplained]
	}
	for i, w := range rows {
		setup.Say(fmt.Sprintf("profiling %s (%d of %d)", w.ID, i+1, len(rows)))
		question := b.newQuestion(r, w, setup)
		if setup.Dir != "" {
			question.SaveFlame = func(flame []byte) (string, error) { return writeFlame(setup.Dir, i+1, flame) }
		}
		explanation, err := profilediff.Explain(ctx, question)
		if err != nil {
			return
		}
		counted := slices.IndexFunc(r.Explanations, func(e tare.Explanation) bool { return e.Workload == explanation.Workload })
		if counted < 0 {
			r.Explanations = append(r.Explanations, explanation)
			continue
		}
		explanation.Work = r.Explanations[counted].Work // saved from the counts of instructions
		r.Explanations[counted] = explanation
	}
}

// writeFlame writes the n-th flame graph next to the result in dir, and returns its path relative to
// dir.
func writeFlame(dir string, n int, flame []byte) (string, error) {
	file := path.Join("profiles", fmt.Sprintf("difference-%d.svg", n))
	if err := os.MkdirAll(filepath.Join(dir, "profiles"), 0o700); err != nil {
		return "", fmt.Errorf("write a flame graph: %w", err)
	}
	if err := atomicfile.Write(atomicfile.System{}, filepath.Join(dir, filepath.FromSlash(file)), flame, 0o600); err != nil {
		return "", fmt.Errorf("write a flame graph: %w", err)
	}
	return file, nil
}

func (b *Bench) selectProfiled(r *tare.Result, selection Profile) []tare.Workload {
	if selection == ProfileNone {
		return nil
	}
	differences := measureDifferences(r)
	rows := slices.DeleteFunc(slices.Clone(r.Workloads), func(w tare.Workload) bool {
		return selection == ProfileDifferent && differences[w.ID] == 0
	})
	slices.SortStableFunc(rows, func(a, c tare.Workload) int { return cmp.Compare(differences[c.ID], differences[a.ID]) })
	return rows
}

// measureDifferences returns the largest significant difference of each benchmark, as the absolute
// logarithm of a ratio.
func measureDifferences(r *tare.Result) map[string]float64 {
	differences := map[string]float64{}
	add := func(id string, ratio float64) { differences[id] = max(differences[id], math.Abs(math.Log(ratio))) }
	for _, c := range r.Comparisons {
		isVoid := len(r.VoidsMetric(c.Contender, c.Workload, c.Metric)) > 0
		if c.Contender != Head || c.Metric == "bytes" || isVoid {
			continue
		}
		if c.Differs(tare.NoiseFloor(r.Comparisons, c.Workload, c.Metric)) == tare.Significant {
			add(c.Workload, c.Ratio)
		}
	}
	for _, w := range r.Workloads { // constant counts need no interval
		base, head := allocsPerRound(r, w)
		areConstant := IsConstant(base) && IsConstant(head)
		baseCount, headCount := stats.Median(base), stats.Median(head)
		if areConstant && math.Abs(headCount-baseCount) >= minCountDifference {
			add(w.ID, (headCount+1)/(baseCount+1)) // +1: a side may allocate nothing
		}
	}
	return differences
}

func (b *Bench) newQuestion(r *tare.Result, w tare.Workload, setup Setup) profilediff.Question {
	m, _ := tare.MetricNamed("time")
	q := profilediff.Question{
		Workload: w.ID, Name: w.Op, Work: b.workDir,
		Spec:   trial.Spec{Run: setup.RunTag, Guardian: setup.Guardian},
		IsUser: newUserFilter(b.Sources),
	}
	for _, t := range r.Trials {
		q.NSPerOp = max(q.NSPerOp, t.Samples[w.ID][m.Key])
	}
	base, head := allocsPerRound(r, w)
	q.Allocs = stats.Median(head) - stats.Median(base)
	q.Base, q.Head = b.profileSide(Base, w, setup), b.profileSide(Head, w, setup)
	return q
}

func allocsPerRound(r *tare.Result, w tare.Workload) (base, head []float64) {
	m, _ := tare.MetricNamed("allocs")
	index := evidence.FromResult(r).Index()
	return index.PerRound(m, w.ID, Base), index.PerRound(m, w.ID, Head)
}

// IsConstant reports whether there are counts and all are the same.
func IsConstant(counts []float64) bool {
	return len(counts) > 0 && slices.Max(counts)-slices.Min(counts) < minCountDifference
}

// profileSide returns one side of a benchmark to profile. Each round links again, as for timing.
func (b *Bench) profileSide(id string, w tare.Workload, setup Setup) profilediff.Side {
	built := b.Sources.Suites[id]
	pkg := built.Packages[w.Fixture]
	s := profilediff.Side{ID: id, Dir: pkg.Dir, Env: built.Environment(w.Fixture)}
	if setup.Procs > 0 {
		s.Env = append(s.Env, fmt.Sprintf("GOMAXPROCS=%d", setup.Procs))
	}
	s.Binary = func(ctx context.Context, round int) (string, func(), error) {
		if pkg.Link == nil {
			return pkg.Binary, func() {}, nil
		}
		path, err := pkg.Link.Binary(ctx, uint64(round+1)<<32)
		return path, func() { _ = os.Remove(path) }, err
	}
	tested := built.ImportPath(w.Fixture)
	s.Source = func(ctx context.Context, packages []string) (profilediff.Source, error) {
		others := slices.DeleteFunc(slices.Clone(packages), func(p string) bool { return p == tested || strings.HasSuffix(p, "_test") })
		output, dir, err := built.Side.CompilerOutput(ctx, profilediff.Flags, tested, others)
		return profilediff.Source{Dir: dir, Output: output}, err
	}
	return s
}

// newUserFilter returns a predicate for the packages whose functions an explanation names. It
// rejects package testing and the standard library. If the sides have different releases of Go, it
// rejects only the runtime and testing.
func newUserFilter(s suite.Sources) func(path string) bool {
	differentGo := s.Suites[Base].Go != s.Suites[Head].Go
	return func(path string) bool {
		first, _, _ := strings.Cut(path, "/")
		isRuntime := path == "runtime" || strings.HasPrefix(path, "runtime/") || strings.HasPrefix(path, "internal/runtime/")
		switch {
		case path == "" || path == "testing" || isRuntime:
			return false
		case differentGo || strings.Contains(first, "."): // a dot: not of the standard library
			return true
		}
		return path == s.Module || strings.HasPrefix(path, s.Module+"/") || path == s.Module+"_test"
	}
}
