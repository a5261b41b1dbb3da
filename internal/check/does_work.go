package check

import (
	"fmt"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// This check finds contenders that wait, e.g. in a sleep, instead of working. The null contender
// and the null server do almost nothing. They show how long tare's own code takes: the harness,
// which times operations, or the load generator.

const (
	// A contender may be waiting if it works for a smaller share of its time, or of its cores' time.
	minWorkShare = 0.20
	// Without a server, the null contender must work for this share. Otherwise the harness waits.
	minNullWorkShare = 0.5
	// In a closed loop a request must also take more than minWaitRatio times the null server's
	// latency. Without a null server it must take more than minWaitNS.
	minWaitRatio = 2
	minWaitNS    = 1e6
	// At a given rate, a timer causes the latency if two conditions hold. It is above timerRatio
	// times both the CPU time and the null server's latency. Its p90 / p50 is below maxTimerTail.
	timerRatio   = 5
	maxTimerTail = 1.25
)

// loadKind is the way in which operations are requested. It decides which values show that a
// contender waits.
type loadKind int

const (
	inProcess    loadKind = iota // no server: the contender's process repeats the operation
	emulatedLink                 // a delay or bandwidth determines the latencies, so they show nothing
	fixedRate                    // open loop: requests come at a given rate
	closedLoop                   // each connection waits for a response before its next request
)

func loadKindOf(w tare.Workload) loadKind {
	switch t := w.Traffic; {
	case t == nil:
		return inProcess
	case t.Delay > 0 || t.Bandwidth > 0:
		return emulatedLink
	case t.Rate > 0:
		return fixedRate
	}
	return closedLoop
}

func doesWork() Check {
	return Check{
		ID:       "does-work",
		Severity: tare.Void,
		Summary: "A contender must work, not wait. It is void if requests were answered and no CPU time was used at all. In a closed loop it is void if its server worked less than 20 % of the time of its cores (of one core per request in flight, if those are fewer) " +
			"while the load generator was not busy and a request took more than twice as long as the null server's (without a null server: more than 1 ms). At a given rate it is void if a request took five times its CPU time and five times the null server's latency, and always the same time: p90 within 25 % of p50. " +
			"A contender that is not a server is void if its CPU time is below 20 % of wall time while the null contender's is above half. All of these " + byRounds + ". Time in which the contender was ready to run and had no processor counts as work; " +
			"workloads with a delay or a bandwidth are not judged by their latencies. Waiting that many connections hide costs no throughput and is not found.",
		Why: "A benchmark that sleeps instead of working compares two timers. " +
			"A timer has hardly any variance and uses no processor; work has variance and uses one.",
		Advice:             "look for a sleep, a ticker, a lock or a call to another process; if the contender waits for another process (a database), measure that process too",
		adviceIsForAuthors: true,
		voidReasons: func(in Input, contender string) (out []voidReason) {
			for _, w := range in.Study.Workloads {
				out = append(out, in.waitReason(contender, w))
			}
			return out
		},
		onlyAtEnd: true,
		Run: func(in Input) []tare.Finding {
			return findEach(in.measuredContenders(), in.Study.Workloads, func(c tare.Contender, w tare.Workload) string { return whyIdle(in, c.ID, w) })
		},
	}
}

// whyIdle returns a sentence saying that contender waits on w, or "".
func whyIdle(in Input, contender string, w tare.Workload) string {
	load := loadKindOf(w)
	if load != inProcess && in.serverCPU(contender, w.ID) == 0 {
		return "requests were answered and the server used no CPU time"
	}
	switch load {
	case inProcess:
		return whyIdleInProcess(in, contender, w.ID)
	case fixedRate:
		return whyTimer(in, contender, w.ID)
	case closedLoop:
		return whyIdleInClosedLoop(in, contender, w.ID)
	}
	return ""
}

// waitReason returns the conditions that whyIdle tests. All of them must hold.
func (in Input) waitReason(contender string, w tare.Workload) voidReason {
	null := in.withRole(tare.RoleNull)
	latencyOverNull := func() []float64 { return in.pairedRatios(contender, null, w.ID, readKey(tare.KeyMeanLatency)) }
	switch loadKindOf(w) {
	case inProcess:
		return voidReason{belowLimit(in.workShares(contender, w.ID), minWorkShare), aboveLimit(in.workShares(null, w.ID), minNullWorkShare)}
	case emulatedLink: // only a server without any CPU time is known to wait
		return voidReason{belowLimit(in.perRound(contender, w.ID, readKey(tare.KeyServerCPU)), 0)}
	case fixedRate:
		return voidReason{
			aboveLimit(in.perRound(contender, w.ID, readLatencyOverCPU), timerRatio),
			aboveLimit(latencyOverNull(), timerRatio),
			belowLimit(in.perRound(contender, w.ID, readTail), maxTimerTail),
		}
	}
	isSlow := aboveLimit(latencyOverNull(), minWaitRatio)
	if len(isSlow.x) == 0 { // no null server
		isSlow = aboveLimit(in.perRound(contender, w.ID, readKey(tare.KeyMeanLatency)), minWaitNS)
	}
	s := voidReason{belowLimit(in.serverWorkShares(contender, w.ID), minWorkShare), isSlow}
	if clientShares := in.perRound(contender, w.ID, readOccupied); len(clientShares) > 0 {
		s = append(s, belowLimit(clientShares, saturated))
	}
	return s
}

// workShares returns, per round, the share of an operation's time in which the process worked. Time
// waiting for a processor counts as work. It is only known for the entire trial, so each workload
// gets the trial's share.
func (in Input) workShares(contender, workload string) []float64 {
	readShare := readRatio([]string{"cpu_ns_per_op"}, []string{"time_ns_per_op"})
	var out []float64
	for _, t := range in.Trials {
		share, ok := readShare(t.Samples[workload])
		isKnown := ok && !math.IsNaN(share) && !math.IsInf(share, 0)
		if t.Contender != contender || !isCounted(t) || !isKnown {
			continue
		}
		if t.Seconds > 0 {
			share += float64(t.Evidence.RunQueueNS) / nsPerSecond / t.Seconds
		}
		out = append(out, share)
	}
	return out
}

func readLatencyOverCPU(s tare.Sample) (value float64, ok bool) {
	return readRatio([]string{tare.KeyMeanLatency, tare.KeyRequests}, []string{tare.KeyServerCPU})(s)
}

func readTail(s tare.Sample) (value float64, ok bool) {
	return readRatio([]string{"p90_ns"}, []string{"p50_ns"})(s)
}

// serverCPU returns the CPU time of contender's server in ns, or -1 if it is unknown.
func (in Input) serverCPU(contender, workload string) float64 {
	sum, hasSum := 0.0, false
	for _, t := range in.Trials {
		s := t.Samples[workload]
		cpu, ok := s[tare.KeyServerCPU]
		isKnown := ok && s[tare.KeyRequests] > 0
		if t.Contender == contender && isCounted(t) && isKnown {
			sum, hasSum = sum+cpu, true
		}
	}
	if !hasSum {
		return -1
	}
	return sum
}

func whyIdleInProcess(in Input, contender, workload string) string {
	shares := in.workShares(contender, workload)
	if len(shares) == 0 || slices.Min(shares) >= minWorkShare { // saves computing the interval
		return ""
	}
	null, okNull := estimateOver(in.workShares(in.withRole(tare.RoleNull), workload))
	e, ok := estimateOver(shares)
	nullWorks := okNull && null.mid >= minNullWorkShare
	if !ok || !nullWorks || !e.isBelow(minWorkShare) {
		return ""
	}
	return fmt.Sprintf("it worked %s of the time an operation took (%s to %s, %s), the null contender %s: it waits",
		format.Percent(e.mid), format.Percent(e.lo), format.Percent(e.hi), format.Count(e.rounds, "round"), format.Percent(null.mid))
}

// whyIdleInClosedLoop returns a sentence saying that contender's server waits, or "". It returns ""
// if the load generator was busy or the null server is nearly as slow.
func whyIdleInClosedLoop(in Input, contender, workload string) string {
	worked, ok := estimateOver(in.serverWorkShares(contender, workload))
	latency, okLatency := in.estimateValue(contender, workload, readKey(tare.KeyMeanLatency))
	if !ok || !okLatency || !worked.isBelow(minWorkShare) {
		return ""
	}
	if client, ok := in.estimateValue(contender, workload, readOccupied); ok && client.mid > saturated {
		return ""
	}
	comparison, isSlow := "", latency.isAbove(minWaitNS)
	if overNull, hasNull := estimateOver(in.pairedRatios(contender, in.withRole(tare.RoleNull), workload, readKey(tare.KeyMeanLatency))); hasNull {
		comparison, isSlow = fmt.Sprintf(", %.3g× the null server's", overNull.mid), overNull.isAbove(minWaitRatio)
	}
	if !isSlow {
		return ""
	}
	return fmt.Sprintf("the server worked %s of the time it could (%s to %s, %s) while a request took %s µs%s: it waits",
		format.Percent(worked.mid), format.Percent(worked.lo), format.Percent(worked.hi), format.Count(worked.rounds, "round"), formatNumber(latency.mid/1e3), comparison)
}

// serverWorkShares returns, per round, the share of its cores' time in which the server worked. Time
// waiting for a core counts as work. A server cannot use more cores than requests are in flight.
func (in Input) serverWorkShares(contender, workload string) []float64 {
	var out []float64
	for _, t := range in.Trials {
		s := t.Samples[workload]
		wallNS, ok := s[tare.KeyWall]
		cpuNS, okCPU := s[tare.KeyServerCPU]
		isKnown := ok && okCPU && wallNS > 0
		if t.Contender != contender || !isCounted(t) || !isKnown {
			continue
		}
		cores := max(1, min(s[tare.KeyServerCores], s[tare.KeyConcurrency]))
		out = append(out, (cpuNS+s[tare.KeyServerWait])/(wallNS*cores))
	}
	return out
}

func whyTimer(in Input, contender, workload string) string {
	overCPU, ok := in.estimateValue(contender, workload, readLatencyOverCPU)
	overNull, okNull := estimateOver(in.pairedRatios(contender, in.withRole(tare.RoleNull), workload, readKey(tare.KeyMeanLatency)))
	tail, okTail := in.estimateValue(contender, workload, readTail)
	isKnown := ok && okNull && okTail
	isTimer := overCPU.isAbove(timerRatio) && overNull.isAbove(timerRatio) && tail.isBelow(maxTimerTail)
	if !isKnown || !isTimer {
		return ""
	}
	return fmt.Sprintf("a request took %.3g× its CPU time and %.3g× the null server's latency, and nearly always the same (p90 is %.3g× p50): a timer, not work",
		overCPU.mid, overNull.mid, tail.mid)
}
