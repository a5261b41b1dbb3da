package bring

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/bring/suite"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/plan"
	"github.com/tarebench/tare/kinds/gobench"
)

// The rule for slices of benchmarks, which docs/bench.md tells.
const (
	// MostSlices is how many there are in a round, of each side, and four times
	// fewer where a benchmark allocates: testing takes time around each of them, and
	// more rounds are worth more than more slices.
	MostSlices  = 16
	sliceLength = 4 * time.Millisecond   // of a benchmark that allocates nothing
	allocLength = 12 * time.Millisecond  // of one that does, as the lab has it …
	allocBytes  = 16e6                   // … or until so much is allocated,
	allocMost   = 48 * time.Millisecond  // but not longer than this: what allocates that slowly is hardly collected
	mostLength  = 250 * time.Millisecond // nor than this for what testing does around it
	aroundShare = 2                      // a slice is at least so many times what testing does around it
	aroundNoted = 20 * time.Millisecond  // of that, which is worth a note
	wholeLength = 500 * time.Millisecond // of a run of a benchmark that cannot be cut into slices

	wantRounds  = 27                     // of a budget that nobody chose
	pilotTime   = 300 * time.Millisecond // of one contender on one benchmark
	leastBudget = 15 * time.Second
	processes   = 3 // base, control, head
)

// cost is what a benchmark takes.
type cost struct {
	round time.Duration
	long  time.Duration // a round whose slices are longer
	pilot time.Duration
}

// plan makes the workloads of the study: each slice is as long as it takes for
// its result to be the benchmark's, and not that of what testing does around it.
// What cannot be cut into slices is measured in whole runs.
func (b *Bench) plan(shared []suite.Benchmark) {
	for _, m := range shared {
		w := tare.Workload{ID: m.ID(), Fixture: m.Package, Op: m.Name}
		if why := b.indivisible(m); why != "" {
			n := iterations(m) // the same on both sides, or their figures would be of different things
			w.Set = map[string]string{gobench.SetRun: strconv.FormatInt(n, 10)}
			of := wholeRuns()
			if m.Alone != "" {
				of = oneProcess()
			} else if m.Run == 0 && m.Around < mostLength/aroundShare {
				of.Advice = "a smaller input leaves time for more rounds, if it is equally meaningful"
			}
			b.note(of, w.ID, fmt.Sprintf("%s: it is measured in whole runs of %s, two of each side in a round", why, format.Count(n, "iteration")))
			b.Study.Workloads = append(b.Study.Workloads, w)
			b.costs = append(b.costs, wholeCosts(m, n))
			continue
		}
		w.Slice = b.slice(m)
		if w.Slice > b.Slice && m.Around > aroundNoted {
			b.note(longSlices(), w.ID, fmt.Sprintf("testing takes %v to set the benchmark up again for every slice: slices are about %v long, and fewer of them fit a budget", rounded(m.Around), rounded(w.Slice)))
		}
		b.Study.Workloads = append(b.Study.Workloads, w)
		b.costs = append(b.costs, costs(w, m))
	}
}

// slice is how long slices of m are; zero where it cannot have any.
func (b *Bench) slice(m suite.Benchmark) time.Duration {
	if b.indivisible(m) != "" {
		return 0
	}
	least, want := aroundShare*m.Around, b.Slice
	if m.BytesPer >= 1 {
		want = max(want, allocLength)
		least = max(least, min(allocMost, time.Duration(allocBytes/m.BytesPer*m.NSPerOp)))
	}
	return max(want, time.Duration(m.NSPerOp), min(least, mostLength))
}

// indivisible says why m cannot be cut into slices; empty where it can.
func (b *Bench) indivisible(m suite.Benchmark) string {
	most := max(b.Slice, mostLength)
	switch one := time.Duration(m.NSPerOp); {
	case m.Alone != "":
		return "no two processes of its package can run at once (" + m.Alone + ")"
	case one > most:
		return fmt.Sprintf("one iteration takes %v, and a slice is at most %v long", rounded(one), most)
	case aroundShare*m.Around > most:
		return fmt.Sprintf("testing takes %v to set the benchmark up again for every slice, and a slice is at most %v long", rounded(m.Around), most)
	case m.Fixed > 0:
		return fmt.Sprintf("%v of every run of it is work outside the loop that its time includes", rounded(m.Fixed))
	case m.Growth > 0:
		return fmt.Sprintf("an iteration takes %.2g times as long where eight times as many are asked for", m.Growth)
	}
	return ""
}

// iterations is how many a whole run of m has.
func iterations(m suite.Benchmark) int64 {
	if m.Run > 0 {
		return m.Run
	}
	return max(1, int64(math.Round(float64(wholeLength)/max(1, m.NSPerOp))))
}

// wholeCosts forecasts what a benchmark takes that is measured in whole runs of n
// iterations.
func wholeCosts(m suite.Benchmark, n int64) cost {
	one := time.Duration(m.NSPerOp)
	run := time.Duration(float64(n)*m.NSPerOp) + m.Around
	if n > 1 { // testing tries one before
		run += one + m.Around
	}
	warm := 2*m.Around + max(20*time.Millisecond, 2*one)
	starts := m.Start
	if m.Alone != "" { // for the warm-up, and for each run
		starts *= 3
	}
	return cost{round: processes * (starts + warm + 2*run), pilot: processes * (starts + pilotTime + warm + 2*one + run)}
}

// costs forecasts what a benchmark takes of a round and of the pilot.
func costs(w tare.Workload, m suite.Benchmark) cost {
	ids := []string{Base, tare.ControlID, Head, tare.NullID}
	var pilots []tare.Pilot
	for _, id := range ids {
		pilots = append(pilots, tare.Pilot{Contender: id, Workload: w.ID, NSPerOp: max(0.1, m.NSPerOp), BytesPerOp: m.BytesPer})
	}
	p := plan.New([]tare.Workload{w}, ids, pilots, plan.Options{Rounds: 1, Most: MostSlices})
	if len(p.Slices) == 0 {
		return cost{}
	}
	s := p.Slices[0]
	slice := max(time.Duration(s.TargetNS), time.Duration(m.NSPerOp))
	warm := 2*m.Around + max(20*time.Millisecond, 2*time.Duration(m.NSPerOp))
	stats := m.Around + time.Duration(float64(s.MemoryOps)*m.NSPerOp)
	return cost{
		round: processes * (m.Start + warm + stats + time.Duration(s.Count)*(slice+m.Around)),
		long:  processes * time.Duration(plan.LongCount(s, plan.LongTau)) * (plan.LongTau*slice + m.Around),
		pilot: processes * (m.Start + pilotTime + 4*m.Around + 4*time.Duration(m.NSPerOp)),
	}
}

// takes is what n rounds of the benchmarks take.
func takes(all []cost, n int) time.Duration {
	var round, pilot time.Duration
	for _, c := range all {
		round, pilot = round+c.round+c.long/plan.LongEvery, pilot+c.pilot
	}
	return pilot + time.Duration(n)*round
}

// Keep leaves all benchmarks out but one, and reports whether there is that one.
func (b *Bench) Keep(id string) bool {
	i := slices.IndexFunc(b.Study.Workloads, func(w tare.Workload) bool { return w.ID == id })
	if i >= 0 {
		b.Study.Workloads, b.costs = b.Study.Workloads[i:i+1], b.costs[i:i+1]
	}
	return i >= 0
}

// Takes is about how long so many rounds take.
func (b *Bench) Takes(rounds int) time.Duration { return takes(b.costs, rounds) }

// Budget is how long to measure where nobody says: as long as is enough for
// many rounds, within most. Benchmarks that most has no time for beside those
// before them are left out and named; zero is no limit.
func (b *Bench) Budget(most time.Duration) (time.Duration, error) {
	all := b.costs
	var held []cost
	var in, out []tare.Workload
	for i, w := range b.Study.Workloads {
		if with := append(held, all[i]); most > 0 && takes(with, plan.MinRounds) > most {
			out = append(out, w)
		} else {
			held, in = with, append(in, w)
		}
	}
	if len(in) == 0 {
		return 0, usage("--max %v has no time for %s: %v would do", most, out[0].ID, upwards(takes(all[:1], plan.MinRounds)))
	}
	for _, w := range out {
		b.leave(suite.Left{ID: w.ID, Why: fmt.Sprintf("--max %v holds %d of %d benchmarks; all of them take about %v", most, len(in), len(all), upwards(takes(all, plan.MinRounds)))})
		b.findings = slices.DeleteFunc(b.findings, func(f tare.Finding) bool { return f.Workload == w.ID })
	}
	b.Study.Workloads, b.costs = in, held
	budget := max(leastBudget, upwards(takes(b.costs, wantRounds)))
	if most > 0 {
		budget = min(budget, most)
	}
	return budget, nil
}

// upwards is d in whole seconds.
func upwards(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

func rounded(d time.Duration) time.Duration { return d.Round(d / 50).Round(100 * time.Microsecond) }
