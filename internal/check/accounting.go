package check

import (
	"fmt"
	"math"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// This check compares counters of a load test that must agree: requests, time, CPU time and cores.
// For example, a server is busy on 2.4 cores although it may use only 2. One of the counters is
// then wrong, and the contender is void.

// maxAccountsOff is the tolerated relative difference between two values that should agree.
const maxAccountsOff = 0.10

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
				for _, a := range listAccounts(in, contender, w.ID) {
					out = append(out, voidReason{outsideRange(a.ratios, a.low, 1+maxAccountsOff)})
				}
			}
			return out
		},
		onlyAtEnd: true,
		Run:       findImbalances,
	}
}

func findImbalances(in Input) []tare.Finding {
	var out []tare.Finding
	for _, c := range in.measuredContenders() {
		for _, w := range in.trafficWorkloads() {
			var imbalances []string
			for _, a := range listAccounts(in, c.ID, w.ID) {
				if e, ok := estimateOver(a.ratios); ok && (e.isAbove(1+maxAccountsOff) || e.isBelow(a.low)) {
					imbalances = append(imbalances, fmt.Sprintf(a.text, e.mid)+describeExtent(e))
				}
			}
			if len(imbalances) > 0 {
				out = append(out, tare.Finding{Contender: c.ID, Workload: w.ID, Message: strings.Join(imbalances, "; ")})
			}
		}
		if e, ok := estimateOver(slicesOverProcess(in, c.ID)); ok && e.isAbove(1+maxAccountsOff) {
			out = append(out, tare.Finding{
				Contender: c.ID,
				Message:   fmt.Sprintf("its slices used %.3g× the CPU time of the whole process", e.mid) + describeExtent(e),
			})
		}
	}
	return out
}

// account compares two counters that should agree, such as requests over time and the rate.
type account struct {
	ratios []float64 // of the two counters, by round; ideally 1
	low    float64   // least tolerated ratio; -Inf if only a ratio above 1 is wrong
	text   string    // format of the message, with a verb for the ratio
}

func listAccounts(in Input, contender, workload string) []account {
	equal, anyLess := 1/(1+maxAccountsOff), math.Inf(-1)
	sender := nameSender(in.hasOwnClient(contender, workload))
	return []account{
		{in.perRound(contender, workload, countedRate), equal, "requests over time are %.3g× the rate"},
		{busyCores(in, contender, workload), equal, "rate × CPU per request is %.3g× the cores the server was busy"},
		{in.perRound(contender, workload, readServerBusy), anyLess, "the server was busy %.3g× the cores it may use"},
		{in.perRound(contender, workload, readClientBusy), anyLess, sender + " was busy %.3g× the cores it may use"},
	}
}

// describeExtent returns e.g. " (1.2 to 1.4, 12 rounds)".
func describeExtent(e extent) string {
	return fmt.Sprintf(" (%.3g to %.3g, %s)", e.lo, e.hi, format.Count(e.rounds, "round"))
}

const nsPerSecond = 1e9

// countedRate reads requests over time, divided by the reported rate.
func countedRate(s tare.Sample) (value float64, ok bool) {
	v, ok := readRatio([]string{tare.KeyRequests}, []string{tare.KeyWall, tare.KeyRate})(s)
	return v * nsPerSecond, ok
}

// busyCores returns, per round, rate × CPU per request over the cores that the server used. The CPU
// per request comes from slices, the timed parts of a trial. KeyServerCPU covers the same time.
func busyCores(in Input, contender, workload string) []float64 {
	cpuNS := map[int]float64{} // by round
	ops := map[int]int64{}     // by round
	for _, s := range in.Slices {
		if s.Contender == contender && s.Workload == workload && s.Tau <= 1 { // of the usual length
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

// slicesOverProcess returns, per round, the CPU time of contender's slices over that of its
// process.
func slicesOverProcess(in Input, contender string) []float64 {
	slicesNS := map[int]int64{} // by round
	for _, s := range in.Slices {
		if s.Contender == contender && s.Tau <= 1 {
			slicesNS[s.Round] += s.CPUNS + s.IdleCPUNS
		}
	}
	var out []float64
	for _, t := range in.Trials {
		hasLongSlices := t.Tau > 1
		if t.Contender != contender || hasLongSlices || !t.Counts("") {
			continue
		}
		if processNS := t.Evidence.CPUSeconds * nsPerSecond; processNS > 0 && slicesNS[t.Round] > 0 {
			out = append(out, float64(slicesNS[t.Round])/processNS)
		}
	}
	return out
}
