package benchstudy

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/plan"
	"github.com/tarebench/tare/kinds/gobench"
	"github.com/tarebench/tare/lab"
)

// This file plans how long to measure benchmarks. A round measures base, head and the control,
// which is base once more. It cuts each benchmark into slices, and the sides take turns: 4 ms of
// base, 4 ms of head, 4 ms of the control.

// The rule for the lengths of slices; docs/bench.md explains it.
const (
	// MaxSlices is the largest number of slices of each side in a round. It is a quarter for a
	// benchmark that allocates, because package testing takes time around each slice.
	MaxSlices = 16

	sliceLength    = 4 * time.Millisecond   // length if a benchmark allocates nothing
	allocLength    = 12 * time.Millisecond  // least length if a benchmark allocates
	allocBytes     = 16e6                   // bytes to allocate in a slice, so that it contains collections
	maxAllocLength = 48 * time.Millisecond  // longest slice because of allocBytes
	maxLength      = 250 * time.Millisecond // longest slice because of allocations or testing's work
	overheadFactor = 2                      // multiple of testing's work around a slice
	notedOverhead  = 20 * time.Millisecond  // least work of testing that gets a note
	wholeLength    = 500 * time.Millisecond // length of a run of a benchmark that cannot be cut

	defaultRounds = 27 // used unless the user chooses a budget
	minBudget     = 15 * time.Second
	warmLength    = 10 * time.Millisecond
	minNSPerOp    = 0.1 // least ns of an operation in a forecast
)

// planSlices makes a workload of each benchmark and forecasts its pilots, short runs that time
// operations. Slices are so long that testing's work around them hardly counts.
func (b *Bench) planSlices(shared []suite.Benchmark) {
	for _, m := range shared {
		workload := tare.Workload{ID: m.ID(), Fixture: m.Package, Op: m.Name, Slice: b.sliceTime(m)}
		if why := b.whyIndivisible(m); why != "" {
			iterations := wholeIterations(m) // the time of an iteration may depend on it
			workload.Set = map[string]string{gobench.SetRun: strconv.FormatInt(iterations, 10)}
			b.ExpectedPilots = append(b.ExpectedPilots, expectAll(m, expectWhole(m, iterations))...)
			b.noteWholeRuns(m, iterations, why)
		} else {
			b.ExpectedPilots = append(b.ExpectedPilots, expectAll(m, expectSlices(m))...)
			b.noteLongSlices(m, workload.Slice)
		}
		b.Study.Workloads = append(b.Study.Workloads, workload)
	}
}

func (b *Bench) noteLongSlices(m suite.Benchmark, slice time.Duration) {
	if slice > b.SliceTime && m.Overhead > notedOverhead {
		b.note(longSlices(), m.ID(), fmt.Sprintf("testing takes %v to set the benchmark up again for every slice: slices are about %v long, and fewer of them fit a budget", roundTime(m.Overhead), roundTime(slice)))
	}
}

func (b *Bench) noteWholeRuns(m suite.Benchmark, iterations int64, why string) {
	finding := wholeRuns()
	isIterationLong := m.RunIterations == 0 && m.Overhead < maxLength/overheadFactor
	if m.WhyAlone != "" {
		finding = oneProcess()
	} else if isIterationLong {
		finding.Advice = "a smaller input leaves time for more rounds, if it is equally meaningful"
	}
	b.note(finding, m.ID(), fmt.Sprintf("%s: it is measured in whole runs of %s, two of each side in a round", why, format.Count(iterations, "iteration")))
}

// sliceTime returns the length of a slice of m, or 0 if m cannot be cut. If m stops its timer, only
// the timed part counts in the length.
func (b *Bench) sliceTime(m suite.Benchmark) time.Duration {
	if b.whyIndivisible(m) != "" {
		return 0
	}
	allocates, stopsTimer := m.BytesPerOp >= 1, m.UntimedNS > 0
	length := b.SliceTime
	minLength := overheadFactor * m.Overhead // maxLength limits it
	if allocates {
		length = max(length, allocLength)
		minLength = max(minLength, min(maxAllocLength, time.Duration(allocBytes/m.BytesPerOp*m.NSPerOp)))
	}
	if stopsTimer {
		length = max(length, maxAllocLength)
	}
	length = max(length, min(minLength, maxLength))
	timed := m.TimedShare() * float64(length)
	return time.Duration(max(1, timed, m.NSPerOp)) // at least 1 ns, as 0 means no slices
}

func (b *Bench) whyIndivisible(m suite.Benchmark) string {
	maxSlice := max(b.SliceTime, maxLength)
	switch iteration := time.Duration(m.IterationNS()); {
	case m.WhyAlone != "":
		return "no two processes of its package can run at once (" + m.WhyAlone + ")"
	case iteration > maxSlice && m.UntimedNS > m.NSPerOp:
		return fmt.Sprintf("one iteration takes %v, most of it with its timer stopped, and a slice is at most %v long", roundTime(iteration), maxSlice)
	case iteration > maxSlice:
		return fmt.Sprintf("one iteration takes %v, and a slice is at most %v long", roundTime(iteration), maxSlice)
	case overheadFactor*m.Overhead > maxSlice:
		return fmt.Sprintf("testing takes %v to set the benchmark up again for every slice, and a slice is at most %v long", roundTime(m.Overhead), maxSlice)
	case m.OutsideLoop > 0:
		return fmt.Sprintf("%v of every run of it is work outside the loop that its time includes", roundTime(m.OutsideLoop))
	case m.Growth > 0:
		return fmt.Sprintf("an iteration takes %.2g times as long where eight times as many are requested", m.Growth)
	}
	return ""
}

func wholeIterations(m suite.Benchmark) int64 {
	if m.RunIterations > 0 {
		return m.RunIterations
	}
	return max(1, int64(math.Round(float64(wholeLength)/max(1, m.IterationNS()))))
}

// expectWhole forecasts the pilot of a benchmark that is measured in complete runs of n iterations.
// In the plan, a run is one operation. It allocates at least one byte, so that it gets few slices.
func expectWhole(m suite.Benchmark, n int64) tare.Pilot {
	iterations, overhead := float64(n), float64(m.Overhead)
	around := overhead + iterations*m.UntimedNS
	if n > 1 { // testing runs one iteration by itself before the n
		around += overhead + m.IterationNS()
	}
	run := iterations*m.NSPerOp + around
	warm := min(2*overhead+max(float64(warmLength), 2*m.IterationNS()), run) // at most as long as a run
	p := tare.Pilot{
		NSPerOp: iterations * max(minNSPerOp, m.NSPerOp), BytesPerOp: max(1, iterations*m.BytesPerOp),
		AroundNS: around, SetupNS: warm, StartNS: float64(m.LinkTime + m.StartTime), Counted: true,
	}
	if m.WhyAlone != "" { // each run starts a process
		start := float64(m.StartTime)
		p.AroundNS, p.SetupNS, p.StartNS = around+start, warm+start, float64(m.LinkTime)
	}
	return p
}

func expectSlices(m suite.Benchmark) tare.Pilot {
	around := float64(2*m.Overhead) + m.IterationNS() // testing tries one iteration before the others
	return tare.Pilot{
		NSPerOp: max(minNSPerOp, m.NSPerOp), UntimedNS: m.UntimedNS, BytesPerOp: m.BytesPerOp, AroundNS: around,
		SetupNS: around + max(float64(warmLength), m.IterationNS()), StartNS: float64(m.LinkTime + m.StartTime),
	}
}

// expectAll forecasts the pilots of all contenders on m: p for both sides and the control. The null
// contender does nothing and shows the cost of measuring, so it takes almost no time.
func expectAll(m suite.Benchmark, p tare.Pilot) []tare.Pilot {
	p.Workload, p.Process = m.ID(), m.Package
	all := []tare.Pilot{{Contender: tare.NullID, Workload: m.ID(), NSPerOp: minNSPerOp}}
	for _, id := range []string{Base, tare.ControlID, Head} {
		p.Contender = id
		all = append(all, p)
	}
	return all
}

// EstimateTime returns the approximate duration of a number of rounds, including the pilots.
func (b *Bench) EstimateTime(rounds int) time.Duration {
	const withLongSlices = false
	return b.forecastTime(b.Study.Workloads, rounds, withLongSlices)
}

// forecastTime returns the duration of a number of rounds, including the pilots before them.
// withLongSlices adds the extra rounds with longer slices, which only the plan of a budget has.
func (b *Bench) forecastTime(workloads []tare.Workload, rounds int, withLongSlices bool) time.Duration {
	included := map[string]bool{}
	for _, w := range workloads {
		included[w.ID] = true
	}
	expected := slices.DeleteFunc(slices.Clone(b.ExpectedPilots), func(p tare.Pilot) bool { return !included[p.Workload] })
	o := plan.Options{Rounds: rounds, Slice: b.SliceTime, Most: MaxSlices, Brief: []string{tare.NullID}}
	p := plan.New(workloads, []string{Base, tare.ControlID, Head, tare.NullID}, expected, o)
	return lab.PilotTime(expected) + time.Duration(plan.Seconds(p, expected, rounds, withLongSlices)*float64(time.Second))
}

// KeepOnly skips all benchmarks except id. It returns false, and skips none, if id does not exist.
func (b *Bench) KeepOnly(id string) bool {
	i := slices.IndexFunc(b.Study.Workloads, func(w tare.Workload) bool { return w.ID == id })
	if i >= 0 {
		b.Study.Workloads = b.Study.Workloads[i : i+1]
		b.benchmarks = slices.DeleteFunc(b.benchmarks, func(m suite.Benchmark) bool { return m.ID() != id })
	}
	return i >= 0
}

// Budget returns the measuring time if the user sets none. It is at most limit, unless limit is 0.
// It skips benchmarks that limit has no time for.
func (b *Bench) Budget(limit time.Duration) (time.Duration, error) {
	workloads := b.Study.Workloads
	var fitting, skipped []tare.Workload
	const withLongSlices = true
	minTime := func(ws []tare.Workload) time.Duration { return b.forecastTime(ws, plan.MinRounds, withLongSlices) }
	for _, w := range workloads {
		if withW := append(slices.Clip(fitting), w); limit > 0 && minTime(withW) > limit {
			skipped = append(skipped, w)
		} else {
			fitting = withW
		}
	}
	if len(fitting) == 0 {
		return 0, usageError("--max %v has no time for %s: %v would do", limit, skipped[0].ID, roundUp(minTime(workloads[:1])))
	}
	for _, w := range skipped {
		b.addSkipped(suite.Skipped{ID: w.ID, Why: fmt.Sprintf("--max %v holds %d of %d benchmarks; all of them take about %v", limit, len(fitting), len(workloads), roundUp(minTime(workloads)))})
		b.findings = slices.DeleteFunc(b.findings, func(f tare.Finding) bool { return f.Workload == w.ID })
	}
	b.Study.Workloads = fitting
	budget := max(minBudget, roundUp(b.forecastTime(fitting, defaultRounds, withLongSlices)))
	if limit > 0 {
		budget = min(budget, limit)
	}
	return budget, nil
}

func roundUp(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

// roundTime rounds d to about two digits, for a message.
func roundTime(d time.Duration) time.Duration { return d.Round(d / 50).Round(100 * time.Microsecond) }
