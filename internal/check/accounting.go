package check

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// maxAccountsOff is the tolerated relative difference between two values that should agree.
const maxAccountsOff = 0.10

// accounting compares values of a load test that come from different counters and should agree.
func accounting() Check {
	return Check{
		ID:       "accounting",
		Severity: tare.Void,
		Summary: "Values that are read from different counters must add up. Requests divided by time must be the rate; rate × CPU per request must be the number of cores on which the server was busy; neither server nor load generator can be busy on more cores than it may use; " +
			"and the slices of a trial cannot use more CPU time than the process did from start to end. A contender is void if one of these is more than 10 % off " + byRounds + ".",
		Why: "A CPU counter that is clamped, wraps, or belongs to another process gives a value that looks like any other. If a server \"needs 3 µs per request\" " +
			"at 100,000 requests per second and is busy on half a core, these are not values of one server but of two counters.",
		Advice: "find out which process and which clock each value comes from; do not use the CPU values until they agree",
		voidReasons: func(in Input, contender string) []voidReason {
			out := []voidReason{{aboveLimit(slicesOverProcess(in, contender), 1+maxAccountsOff)}}
			for _, w := range in.trafficWorkloads() {
				out = append(out,
					voidReason{offOne(in.perRound(contender, w.ID, countedRate), maxAccountsOff)},
					voidReason{offOne(busyCores(in, contender, w.ID), maxAccountsOff)},
					voidReason{aboveLimit(in.perRound(contender, w.ID, readBusyShare(tare.KeyServerCPU, tare.KeyServerCores)), 1+maxAccountsOff)},
					voidReason{aboveLimit(in.perRound(contender, w.ID, readBusyShare(tare.KeyClientCPU, tare.KeyClientCores)), 1+maxAccountsOff)})
			}
			return out
		},
		atEnd: true,
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			for _, c := range in.measuredContenders() {
				for _, w := range in.trafficWorkloads() {
					if imbalances := listImbalances(in, c.ID, w.ID); len(imbalances) > 0 {
						out = append(out, tare.Finding{Contender: c.ID, Workload: w.ID, Message: strings.Join(imbalances, "; ")})
					}
				}
				if e, ok := estimateOver(slicesOverProcess(in, c.ID)); ok && e.isAbove(1+maxAccountsOff) {
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

// listImbalances returns a sentence for each pair of values of contender on workload that should agree and do not.
func listImbalances(in Input, contender, workload string) []string {
	var sentences []string
	// add adds e.g. "requests over time are 1.3× the rate (1.2 to 1.4, 12 rounds)". text is a
	// format with a verb for the estimate.
	add := func(e extent, text string) {
		sentences = append(sentences, fmt.Sprintf(text, e.mid)+fmt.Sprintf(" (%.3g to %.3g, %s)", e.lo, e.hi, format.Count(e.rounds, "round")))
	}
	if e, ok := estimateOver(in.perRound(contender, workload, countedRate)); ok && e.isOff(maxAccountsOff) {
		add(e, "requests over time are %.3g× the rate")
	}
	if e, ok := estimateOver(busyCores(in, contender, workload)); ok && e.isOff(maxAccountsOff) {
		add(e, "rate × CPU per request is %.3g× the cores the server was busy")
	}
	if e, ok := estimateOver(in.perRound(contender, workload, readBusyShare(tare.KeyServerCPU, tare.KeyServerCores))); ok && e.isAbove(1+maxAccountsOff) {
		add(e, "the server was busy %.3g× the cores it may use")
	}
	if e, ok := estimateOver(in.perRound(contender, workload, readBusyShare(tare.KeyClientCPU, tare.KeyClientCores))); ok && e.isAbove(1+maxAccountsOff) {
		add(e, nameSender(in.hasOwnClient(contender, workload))+" was busy %.3g× the cores it may use")
	}
	return sentences
}

const nsPerSecond = 1e9

// countedRate reads requests per second as counted, divided by the reported rate: 1 if they agree.
func countedRate(s tare.Sample) (value float64, ok bool) {
	v, ok := readRatio([]string{tare.KeyRequests}, []string{tare.KeyWall, tare.KeyRate})(s)
	return v * nsPerSecond, ok
}

// busyCores returns, per round, rate × CPU per request divided by the number of cores that the server
// used: 1 if they agree. CPU per request is taken from the slices, the timed parts of a trial, because
// KeyServerCPU does not include the time between slices either.
func busyCores(in Input, contender, workload string) []float64 {
	cpuNS := map[int]float64{} // by round
	ops := map[int]int64{}     // by round
	for _, s := range in.Slices {
		if s.Contender == contender && s.Workload == workload && s.Tau <= 1 {
			cpuNS[s.Round] += float64(s.CPUNS)
			ops[s.Round] += s.Ops
		}
	}
	var out []float64
	for _, t := range in.Trials {
		hasSlices := ops[t.Round] > 0
		if t.Contender != contender || !isCounted(t) || !hasSlices {
			continue
		}
		rateOverCores := readRatio([]string{tare.KeyRate, tare.KeyWall}, []string{tare.KeyServerCPU}) // cores = CPU / wall
		if v, ok := rateOverCores(t.Samples[workload]); ok {
			out = append(out, v*cpuNS[t.Round]/float64(ops[t.Round])/nsPerSecond)
		}
	}
	return out
}

// slicesOverProcess returns, per round, the CPU time of contender's slices divided by the CPU time of its
// process: at most 1.
func slicesOverProcess(in Input, contender string) []float64 {
	slicesNS := map[int]int64{} // by round
	for _, s := range in.Slices {
		if s.Contender == contender && s.Tau <= 1 {
			slicesNS[s.Round] += s.CPUNS + s.IdleCPUNS
		}
	}
	var out []float64
	for _, t := range in.Trials {
		hasLongSlices := t.Tau > 1 // slices of a multiple of the usual length, in rounds of their own
		if t.Contender != contender || hasLongSlices || !t.Counts("") {
			continue
		}
		if processNS := t.Evidence.CPUSeconds * nsPerSecond; processNS > 0 && slicesNS[t.Round] > 0 {
			out = append(out, float64(slicesNS[t.Round])/processNS)
		}
	}
	return out
}
