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
	"github.com/tarebench/tare/stats"
)

// The rule for slices of benchmarks; docs/bench.md explains it.
const (
	// MostSlices is the number in a round, of each side, and four times fewer where a benchmark
	// allocates: testing takes time around each of them, and more rounds are worth more than more
	// slices.
	MostSlices     = 16
	sliceLength    = 4 * time.Millisecond   // of a benchmark that allocates nothing
	allocLength    = 12 * time.Millisecond  // of one that does, as in other studies …
	allocBytes     = 16e6                   // … or until so much is allocated,
	maxAllocLength = 48 * time.Millisecond  // but not longer than this: so slow an allocator is hardly collected
	maxLength      = 250 * time.Millisecond // nor than this for testing's work around it
	overheadFactor = 2                      // a slice takes at least this many times testing's work around it
	notedOverhead  = 20 * time.Millisecond  // of that, which is worth a note
	wholeLength    = 500 * time.Millisecond // of a run of a benchmark that cannot be cut into slices

	wantRounds = 27 // of a budget that the user did not choose
	minBudget  = 15 * time.Second
	warmLength = 10 * time.Millisecond // of a warm-up, about
)

// planSlices makes the workloads of the study: each slice is long enough that its result is the
// benchmark's, and not that of testing's work around it. A benchmark that cannot be cut into slices
// is measured in complete runs.
func (b *Bench) planSlices(shared []suite.Benchmark) {
	for _, m := range shared {
		w := tare.Workload{ID: m.ID(), Fixture: m.Package, Op: m.Name}
		if why := b.whyIndivisible(m); why != "" {
			n := wholeIterations(m) // the same on both sides, or their values would not be comparable
			w.Set = map[string]string{gobench.SetRun: strconv.FormatInt(n, 10)}
			of := wholeRuns()
			if m.Alone != "" {
				of = oneProcess()
			} else if m.Run == 0 && m.Around < maxLength/overheadFactor {
				of.Advice = "a smaller input leaves time for more rounds, if it is equally meaningful"
			}
			b.note(of, w.ID, fmt.Sprintf("%s: it is measured in whole runs of %s, two of each side in a round", why, format.Count(n, "iteration")))
			b.Study.Workloads = append(b.Study.Workloads, w)
			b.Expected = append(b.Expected, expectWhole(w, m, n)...)
			continue
		}
		w.Slice = b.sliceTime(m)
		if w.Slice > b.Slice && m.Around > notedOverhead {
			b.note(longSlices(), w.ID, fmt.Sprintf("testing takes %v to set the benchmark up again for every slice: slices are about %v long, and fewer of them fit a budget", roundTime(m.Around), roundTime(w.Slice)))
		}
		b.Study.Workloads = append(b.Study.Workloads, w)
		b.Expected = append(b.Expected, expectSlices(w, m)...)
	}
}

// sliceTime returns the length of slices of m; 0 if it cannot have any. Of a benchmark that stops
// its timer it is the timed part of that length.
func (b *Bench) sliceTime(m suite.Benchmark) time.Duration {
	if b.whyIndivisible(m) != "" {
		return 0
	}
	least, want := overheadFactor*m.Around, b.Slice
	if m.BytesPer >= 1 {
		want = max(want, allocLength)
		least = max(least, min(maxAllocLength, time.Duration(allocBytes/m.BytesPer*m.NSPerOp)))
	}
	if m.Untimed > 0 { // so little of it is timed that a few more iterations are worth it
		want = max(want, maxAllocLength)
	}
	long := m.TimedShare() * float64(max(want, min(least, maxLength)))
	return time.Duration(max(1, long, m.NSPerOp))
}

// whyIndivisible returns why m cannot be cut into slices; "" if it can.
func (b *Bench) whyIndivisible(m suite.Benchmark) string {
	most := max(b.Slice, maxLength)
	switch one := time.Duration(m.Elapsed()); {
	case m.Alone != "":
		return "no two processes of its package can run at once (" + m.Alone + ")"
	case one > most && m.Untimed > m.NSPerOp:
		return fmt.Sprintf("one iteration takes %v, most of it with its timer stopped, and a slice is at most %v long", roundTime(one), most)
	case one > most:
		return fmt.Sprintf("one iteration takes %v, and a slice is at most %v long", roundTime(one), most)
	case overheadFactor*m.Around > most:
		return fmt.Sprintf("testing takes %v to set the benchmark up again for every slice, and a slice is at most %v long", roundTime(m.Around), most)
	case m.Fixed > 0:
		return fmt.Sprintf("%v of every run of it is work outside the loop that its time includes", roundTime(m.Fixed))
	case m.Growth > 0:
		return fmt.Sprintf("an iteration takes %.2g times as long where eight times as many are asked for", m.Growth)
	}
	return ""
}

// wholeIterations returns the number of iterations of a complete run of m.
func wholeIterations(m suite.Benchmark) int64 {
	if m.Run > 0 {
		return m.Run
	}
	return max(1, int64(math.Round(float64(wholeLength)/max(1, m.Elapsed()))))
}

// expectWhole forecasts the pilots of a benchmark that is measured in complete runs of n
// iterations: an operation is a run, which allocates.
func expectWhole(w tare.Workload, m suite.Benchmark, n int64) []tare.Pilot {
	around := float64(m.Around) + float64(n)*m.Untimed
	if n > 1 { // testing tries one before
		around += float64(m.Around) + m.Elapsed()
	}
	warm := min(float64(2*m.Around)+max(float64(warmLength), 2*m.Elapsed()), float64(n)*m.NSPerOp+around)
	if m.Alone != "" { // a process for the warm-up, and for each run
		around, warm, m.Start = around+float64(m.Start), warm+float64(m.Start), 0
	}
	return expectAll(w, m, tare.Pilot{
		NSPerOp: float64(n) * max(0.1, m.NSPerOp), BytesPerOp: max(1, float64(n)*m.BytesPer), AroundNS: around,
		SetupNS: warm, Counted: true,
	})
}

// expectSlices forecasts the pilots of a benchmark that is cut into slices.
func expectSlices(w tare.Workload, m suite.Benchmark) []tare.Pilot {
	around := float64(2*m.Around) + m.Elapsed() // testing tries one iteration before the others
	return expectAll(w, m, tare.Pilot{
		NSPerOp: max(0.1, m.NSPerOp), UntimedNS: m.Untimed, BytesPerOp: m.BytesPer, AroundNS: around,
		SetupNS: around + max(float64(warmLength), m.Elapsed()),
	})
}

// expectAll forecasts the pilots of all contenders on w, if that of one shows p.
func expectAll(w tare.Workload, m suite.Benchmark, p tare.Pilot) []tare.Pilot {
	p.Workload, p.Process, p.StartNS = w.ID, m.Package, float64(m.Link+m.Start)
	null := tare.Pilot{Contender: tare.NullID, Workload: w.ID, NSPerOp: 0.1}
	all := []tare.Pilot{null}
	for _, id := range []string{Base, tare.ControlID, Head} {
		p.Contender = id
		all = append(all, p)
	}
	return all
}

// Takes returns about how long that number of rounds takes.
func (b *Bench) Takes(rounds int) time.Duration { return b.forecastTime(b.Study.Workloads, rounds) }

// forecastTime returns how long that number of rounds of works takes, with the pilots before them.
func (b *Bench) forecastTime(works []tare.Workload, rounds int) time.Duration {
	in := map[string]bool{}
	for _, w := range works {
		in[w.ID] = true
	}
	expected := slices.DeleteFunc(slices.Clone(b.Expected), func(p tare.Pilot) bool { return !in[p.Workload] })
	o := plan.Options{Rounds: rounds, Slice: b.Slice, Most: MostSlices, Brief: []string{tare.NullID}}
	round := plan.New(works, []string{Base, tare.ControlID, Head, tare.NullID}, expected, o).SecondsPerRound
	if rounds >= stats.LongRounds*plan.LongEvery { // with rounds whose slices are longer
		rounds += rounds / plan.LongEvery
	}
	return lab.PilotTime(expected) + time.Duration(float64(rounds)*round*float64(time.Second))
}

// Keep skips all benchmarks but one, and reports whether that one exists.
func (b *Bench) Keep(id string) bool {
	i := slices.IndexFunc(b.Study.Workloads, func(w tare.Workload) bool { return w.ID == id })
	if i >= 0 {
		b.Study.Workloads = b.Study.Workloads[i : i+1]
		b.benchmarks = slices.DeleteFunc(b.benchmarks, func(m suite.Benchmark) bool { return m.ID() != id })
	}
	return i >= 0
}

// Budget returns the time to measure if the user does not set it: enough for many rounds, at most
// most. Benchmarks that do not fit into most are skipped and named; 0 means no limit.
func (b *Bench) Budget(most time.Duration) (time.Duration, error) {
	all := b.Study.Workloads
	var in, out []tare.Workload
	for _, w := range all {
		if with := append(slices.Clip(in), w); most > 0 && b.forecastTime(with, plan.MinRounds) > most {
			out = append(out, w)
		} else {
			in = with
		}
	}
	if len(in) == 0 {
		return 0, usageError("--max %v has no time for %s: %v would do", most, out[0].ID, roundUp(b.forecastTime(all[:1], plan.MinRounds)))
	}
	for _, w := range out {
		b.addLeft(suite.Left{ID: w.ID, Why: fmt.Sprintf("--max %v holds %d of %d benchmarks; all of them take about %v", most, len(in), len(all), roundUp(b.forecastTime(all, plan.MinRounds)))})
		b.findings = slices.DeleteFunc(b.findings, func(f tare.Finding) bool { return f.Workload == w.ID })
	}
	b.Study.Workloads = in
	budget := max(minBudget, roundUp(b.forecastTime(in, wantRounds)))
	if most > 0 {
		budget = min(budget, most)
	}
	return budget, nil
}

// roundUp returns d in complete seconds.
func roundUp(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

func roundTime(d time.Duration) time.Duration { return d.Round(d / 50).Round(100 * time.Microsecond) }
