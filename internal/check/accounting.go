package check

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// accountsOff is how far sums that should agree may be apart.
const accountsOff = 0.10

func accounting() Check {
	return Check{
		ID:       "accounting",
		Severity: tare.Void,
		Summary: "Figures that are read from different counters must add up. Requests over time are the rate; rate × CPU per request is as many cores as the server was busy; neither server nor load generator can be busier than the cores it may use; " +
			"and the slices of a trial cannot use more CPU time than the process did from start to end. A contender is void where one of these is more than 10 % off " + byRounds + ".",
		Why: "A CPU counter that is clamped, wraps, or belongs to another process gives a figure that looks like any other: a server that \"needs 3 µs per request\" " +
			"at 100,000 requests per second and is busy half a core is not one server but two counters.",
		Advice: "see which process and which clock each figure comes from; do not use the CPU figures until they agree",
		suspects: func(in Input, contender string) []suspicion {
			out := []suspicion{{above(partsOfWhole(in, contender), 1+accountsOff)}}
			for _, w := range in.trafficked() {
				out = append(out,
					suspicion{off(in.perRound(contender, w.ID, countedRate), accountsOff)},
					suspicion{off(busyCores(in, contender, w.ID), accountsOff)},
					suspicion{above(in.perRound(contender, w.ID, busy(tare.KeyServerCPU, tare.KeyServerCores)), 1+accountsOff)},
					suspicion{above(in.perRound(contender, w.ID, busy(tare.KeyClientCPU, tare.KeyClientCores)), 1+accountsOff)})
			}
			return out
		},
		atEnd: true,
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			for _, c := range in.measured() {
				for _, w := range in.trafficked() {
					if said := unbalanced(in, c.ID, w.ID); len(said) > 0 {
						out = append(out, tare.Finding{Contender: c.ID, Workload: w.ID, Message: strings.Join(said, "; ")})
					}
				}
				if e, ok := over(partsOfWhole(in, c.ID)); ok && e.above(1+accountsOff) {
					out = append(out, tare.Finding{
						Contender: c.ID,
						Message:   fmt.Sprintf("its slices used %.3g× the CPU time of the whole process (%.3g to %.3g, %s)", e.mid, e.lo, e.hi, format.Count(e.rounds, "round")),
					})
				}
			}
			return out
		},
	}
}

// unbalanced says which accounts of contender on workload do not agree.
func unbalanced(in Input, contender, workload string) []string {
	var said []string
	say := func(e extent, text string) {
		said = append(said, fmt.Sprintf(text, e.mid)+fmt.Sprintf(" (%.3g to %.3g, %s)", e.lo, e.hi, format.Count(e.rounds, "round")))
	}
	if e, ok := over(in.perRound(contender, workload, countedRate)); ok && e.off(accountsOff) {
		say(e, "requests over time are %.3g× the rate")
	}
	if e, ok := over(busyCores(in, contender, workload)); ok && e.off(accountsOff) {
		say(e, "rate × CPU per request is %.3g× the cores the server was busy")
	}
	if e, ok := over(in.perRound(contender, workload, busy(tare.KeyServerCPU, tare.KeyServerCores))); ok && e.above(1+accountsOff) {
		say(e, "the server was busy %.3g× the cores it may use")
	}
	if e, ok := over(in.perRound(contender, workload, busy(tare.KeyClientCPU, tare.KeyClientCores))); ok && e.above(1+accountsOff) {
		say(e, sender(in.ownClient(contender, workload))+" was busy %.3g× the cores it may use")
	}
	return said
}

const nsPerSecond = 1e9

// countedRate reads requests over time, over the rate.
func countedRate(s tare.Sample) (float64, bool) {
	v, ok := ratio([]string{tare.KeyRequests}, []string{tare.KeyWall, tare.KeyRate})(s)
	return v * nsPerSecond, ok
}

// busyCores returns, per round, rate × CPU per request over the cores the
// server was busy. CPU per request is that of
// the slices: KeyServerCPU does not cover the time between slices either.
func busyCores(in Input, contender, workload string) []float64 {
	per := map[int]float64{}
	ops := map[int]int64{}
	for _, s := range in.Slices {
		if s.Contender == contender && s.Workload == workload && s.Tau <= 1 {
			per[s.Round] += float64(s.CPUNS)
			ops[s.Round] += s.Ops
		}
	}
	var out []float64
	for _, t := range in.Trials {
		if t.Contender != contender || !counts(t) || ops[t.Round] <= 0 {
			continue
		}
		f := ratio([]string{tare.KeyRate, tare.KeyWall}, []string{tare.KeyServerCPU})
		if v, ok := f(t.Samples[workload]); ok {
			out = append(out, v*per[t.Round]/float64(ops[t.Round])/nsPerSecond)
		}
	}
	return out
}

// partsOfWhole returns, per round, the CPU time of the slices over that of the
// process.
func partsOfWhole(in Input, contender string) []float64 {
	parts := map[int]int64{}
	for _, s := range in.Slices {
		if s.Contender == contender && s.Tau <= 1 {
			parts[s.Round] += s.CPUNS + s.IdleCPUNS
		}
	}
	var out []float64
	for _, t := range in.Trials {
		if whole := t.Evidence.CPUSeconds * 1e9; t.Contender == contender && t.Tau <= 1 && t.Counts("") && whole > 0 && parts[t.Round] > 0 {
			out = append(out, float64(parts[t.Round])/whole)
		}
	}
	return out
}
