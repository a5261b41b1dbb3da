package check

import (
	"fmt"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

const (
	idles       = 0.20 // share of the processors it could use below which a server waits
	waitsLonger = 2    // times the null server's latency from which the wait is its own
	waitsAlone  = 1e6  // ns of latency from which it is, if there is no null server
	quantum     = 5    // times its CPU time, and the null server's latency, that a timer's latency is
	quantumTail = 1.25 // p90 over p50 up to which a latency is a constant
	nullWorks   = 0.5  // share of its time that the null contender must have worked for others to be judged by theirs
)

func doesWork() Check {
	return Check{
		ID:       "does-work",
		Severity: tare.Void,
		Summary: "A contender must work, not wait. It is void where requests were answered and no CPU time was used at all. In a closed loop it is void where its server worked less than 20 % of the time of its cores (of one core per request under way, if those are fewer) " +
			"while the load generator was not busy and a request took more than twice as long as the null server's (without one: more than 1 ms). At a given rate it is void where a request took five times its CPU time and five times the null server's latency, and always the same: p90 within 25 % of p50. " +
			"In process it is void where CPU time is below 20 % of wall time while the null contender's is above half. All of these " + byRounds + ". Time in which the contender was ready to run and had no processor counts as work; " +
			"workloads with a delay or a bandwidth are not judged by their latencies. Waiting that many connections hide costs no throughput and is not found.",
		Why: "A benchmark that sleeps where work should be compares two timers. " +
			"A timer has no variance to speak of and uses no processor; work has both.",
		Advice:  "look for a sleep, a ticker, a lock or a call to somewhere else; if the wait is on another process (a database), measure that process too",
		authors: true,
		suspects: func(in Input, contender string) (out []suspicion) {
			for _, w := range in.Study.Workloads {
				out = append(out, in.waitSuspicion(contender, w))
			}
			return out
		},
		atEnd: true,
		Run: func(in Input) []tare.Finding {
			return findEach(in.measuredContenders(), in.Study.Workloads, func(c tare.Contender, w tare.Workload) string { return whyIdle(in, c.ID, w) })
		},
	}
}

// whyIdle returns the evidence that contender waits on w instead of working, or "" if there is
// none.
func whyIdle(in Input, contender string, w tare.Workload) string {
	switch t := w.Traffic; {
	case t == nil:
		return whyIdleInProcess(in, contender, w.ID)
	case in.serverCPU(contender, w.ID) == 0:
		return "requests were answered and the server used no CPU time"
	case t.Delay > 0 || t.Bandwidth > 0:
		return ""
	case t.Rate > 0:
		return whyTimer(in, contender, w.ID)
	}
	return whyIdleInClosedLoop(in, contender, w.ID)
}

// waitSuspicion returns the suspicion that contender waits on w.
func (in Input) waitSuspicion(contender string, w tare.Workload) suspicion {
	null := in.withRole(tare.RoleNull)
	latency := func() []float64 { return in.pairedRatios(contender, null, w.ID, readKey(tare.KeyMeanLatency)) }
	switch t := w.Traffic; {
	case t == nil:
		return suspicion{belowLimit(in.workShares(contender, w.ID), idles), aboveLimit(in.workShares(null, w.ID), nullWorks)}
	case t.Delay > 0 || t.Bandwidth > 0: // void if no CPU time at all was used
		return suspicion{belowLimit(in.perRound(contender, w.ID, readKey(tare.KeyServerCPU)), 0)}
	case t.Rate > 0:
		return suspicion{aboveLimit(in.perRound(contender, w.ID, readLatencyOverCPU), quantum), aboveLimit(latency(), quantum), belowLimit(in.perRound(contender, w.ID, readTail), quantumTail)}
	}
	s := suspicion{belowLimit(in.workingShares(contender, w.ID), idles), aboveLimit(latency(), waitsLonger)}
	if len(s[1].x) == 0 {
		s[1] = aboveLimit(in.perRound(contender, w.ID, readKey(tare.KeyMeanLatency)), waitsAlone)
	}
	if client := in.perRound(contender, w.ID, readOccupied); len(client) > 0 {
		s = append(s, belowLimit(client, saturated))
	}
	return s
}

// workShares returns, per round, the share of an operation's time in which contender's process
// worked or was ready to. The time it was ready and did not run is known for the entire trial, so
// each of its workloads gets that share.
func (in Input) workShares(contender, workload string) []float64 {
	worked := readRatio([]string{"cpu_ns_per_op"}, []string{"time_ns_per_op"})
	var out []float64
	for _, t := range in.Trials {
		share, ok := worked(t.Samples[workload])
		if t.Contender != contender || !isCounted(t) || !ok || math.IsNaN(share) || math.IsInf(share, 0) {
			continue
		}
		if t.Seconds > 0 {
			share += float64(t.Evidence.RunQueueNS) / 1e9 / t.Seconds
		}
		out = append(out, share)
	}
	return out
}

// readLatencyOverCPU reads the latency of a request over its CPU time.
func readLatencyOverCPU(s tare.Sample) (float64, bool) {
	return readRatio([]string{tare.KeyMeanLatency, tare.KeyRequests}, []string{tare.KeyServerCPU})(s)
}

// readTail reads p90 over p50.
func readTail(s tare.Sample) (float64, bool) {
	return readRatio([]string{"p90_ns"}, []string{"p50_ns"})(s)
}

// serverCPU returns the CPU time of contender's server over all rounds, in ns. It is negative if it
// is unknown or there were no requests.
func (in Input) serverCPU(contender, workload string) float64 {
	sum, rounds := 0.0, 0
	for _, t := range in.Trials {
		s := t.Samples[workload]
		cpu, ok := s[tare.KeyServerCPU]
		if t.Contender == contender && isCounted(t) && ok && s[tare.KeyRequests] > 0 {
			sum, rounds = sum+cpu, rounds+1
		}
	}
	if rounds == 0 {
		return -1
	}
	return sum
}

func whyIdleInProcess(in Input, contender, workload string) string {
	shares := in.workShares(contender, workload)
	if len(shares) == 0 || slices.Min(shares) >= idles { // the interval begins above
		return ""
	}
	null, okNull := estimateOver(in.workShares(in.withRole(tare.RoleNull), workload))
	e, ok := estimateOver(shares)
	if !ok || !okNull || null.mid < nullWorks || !e.isBelow(idles) {
		return ""
	}
	return fmt.Sprintf("it worked %s of the time an operation took (%s to %s, %s), the null contender %s: it waits",
		format.Percent(e.mid), format.Percent(e.lo), format.Percent(e.hi), format.Count(e.rounds, "round"), format.Percent(null.mid))
}

func whyIdleInClosedLoop(in Input, contender, workload string) string {
	worked, ok := estimateOver(in.workingShares(contender, workload))
	took, okTook := estimateOver(in.perRound(contender, workload, readKey(tare.KeyMeanLatency)))
	if !ok || !okTook || !worked.isBelow(idles) {
		return ""
	}
	if client, ok := estimateOver(in.perRound(contender, workload, readOccupied)); ok && client.mid > saturated {
		return ""
	}
	beside := ""
	switch times, ok := estimateOver(in.pairedRatios(contender, in.withRole(tare.RoleNull), workload, readKey(tare.KeyMeanLatency))); {
	case ok && !times.isAbove(waitsLonger), !ok && !took.isAbove(waitsAlone):
		return ""
	case ok:
		beside = fmt.Sprintf(", %.3g× the null server's", times.mid)
	}
	return fmt.Sprintf("the server worked %s of the time it could (%s to %s, %s) while a request took %s µs%s: it waits",
		format.Percent(worked.mid), format.Percent(worked.lo), format.Percent(worked.hi), format.Count(worked.rounds, "round"), formatNumber(took.mid/1e3), beside)
}

// workingShares returns, per round, the share of its usable processors that contender's server used
// or was ready to use.
func (in Input) workingShares(contender, workload string) []float64 {
	var out []float64
	for _, t := range in.Trials {
		s := t.Samples[workload]
		room, ok := multiplyKeys(s, tare.KeyWall)
		cpu, okCPU := s[tare.KeyServerCPU]
		if t.Contender != contender || !isCounted(t) || !ok || !okCPU || !(room > 0) {
			continue
		}
		cores := max(1, min(s[tare.KeyServerCores], s[tare.KeyConcurrency]))
		out = append(out, (cpu+s[tare.KeyServerWait])/(room*cores))
	}
	return out
}

func whyTimer(in Input, contender, workload string) string {
	work, ok := estimateOver(in.perRound(contender, workload, readLatencyOverCPU))
	times, okNull := estimateOver(in.pairedRatios(contender, in.withRole(tare.RoleNull), workload, readKey(tare.KeyMeanLatency)))
	p90, okTail := estimateOver(in.perRound(contender, workload, readTail))
	if !ok || !okNull || !okTail || !work.isAbove(quantum) || !times.isAbove(quantum) || !p90.isBelow(quantumTail) {
		return ""
	}
	return fmt.Sprintf("a request took %.3g× its CPU time and %.3g× the null server's latency, and nearly always the same (p90 is %.3g× p50): a timer, not work",
		work.mid, times.mid, p90.mid)
}
