package check

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// This check finds load tests in which the load was not as planned. For example, 3,000 requests per
// second were planned and 2,700 sent, or 48 of 50 connections were opened.

func rateHeld() Check {
	return Check{
		ID:       "rate-held",
		Severity: tare.Void,
		Summary: "The load must be the one that was set. A contender is void on a workload if the achieved rate of an open loop is more than 3 % off " + byRounds + ", " +
			"if fewer connections were opened than planned, or if its server could use another number of cores than the baseline's.",
		Why: "A tool that was given -c50 -t12 opened 48 connections, four for each thread, and reported 50. Another dropped one request in 20 at the rate it was given. " +
			"What a server does at 2,900 requests per second does not show what it does at 3,000.",
		Advice: "set a rate that this server and this machine can achieve (the message names the side that was busy), and a number of connections that can be opened",
		voidReasons: func(in Input, contender string) (out []voidReason) {
			for _, w := range in.trafficWorkloads() {
				out = append(out, in.loadReasons(contender, w.ID)...)
			}
			return out
		},
		onlyAtEnd: true,
		Run: func(in Input) []tare.Finding {
			return findEach(in.measuredContenders(), in.trafficWorkloads(), func(c tare.Contender, w tare.Workload) string {
				return strings.Join(loadDeviations(in, c.ID, w.ID), "; ")
			})
		},
	}
}

func (in Input) loadReasons(contender, workload string) []voidReason {
	out := []voidReason{{notNearOne(in.perRound(contender, workload, readHeldRate), tolerance)}}
	if planned, ok := in.estimateValue(contender, workload, readKey(tare.KeyConnections)); ok {
		out = append(out, voidReason{belowLimit(in.perRound(contender, workload, readKey(tare.KeyConnects)), planned.lo)})
	}
	if base, ok := in.estimateValue(in.Study.Baseline, workload, readKey(tare.KeyServerCores)); ok {
		out = append(out, voidReason{outsideRange(in.perRound(contender, workload, readKey(tare.KeyServerCores)), base.lo, base.hi)})
	}
	return out
}

func readHeldRate(s tare.Sample) (value float64, ok bool) {
	return readRatio([]string{tare.KeyRate}, []string{tare.KeyRateAsked})(s)
}

// loadDeviations returns a sentence for each difference between the load and the plan: the rate, the
// connections or the cores.
func loadDeviations(in Input, contender, workload string) []string {
	var sentences []string
	if e, ok := in.estimateValue(contender, workload, readHeldRate); ok && e.isFarFromOne(tolerance) {
		planned, _ := in.estimateValue(contender, workload, readKey(tare.KeyRateAsked))
		sentences = append(sentences, fmt.Sprintf("%s requests per second were asked for and %s achieved (%s)%s",
			formatNumber(planned.mid), formatNumber(e.mid*planned.mid), format.Count(e.rounds, "round"), in.describeLoad(contender, workload)))
	}
	planned, okPlanned := in.estimateValue(contender, workload, readKey(tare.KeyConnections))
	// Reconnects only raise the number of opened connections, so only too few are wrong.
	opened, okOpened := in.estimateValue(contender, workload, readKey(tare.KeyConnects))
	areKnown := okPlanned && okOpened && opened.mid > 0
	if areKnown && opened.isBelow(planned.lo) {
		sentences = append(sentences, fmt.Sprintf("%s were planned and %s opened", format.Count(int(planned.mid), "connection"), formatNumber(opened.mid)))
	}
	cores, okCores := in.estimateValue(contender, workload, readKey(tare.KeyServerCores))
	base, okBase := in.estimateValue(in.Study.Baseline, workload, readKey(tare.KeyServerCores))
	if okCores && okBase && cores.isOutside(base, 0) {
		sentences = append(sentences, fmt.Sprintf("the server may use %s and the baseline's %s", format.Count(int(cores.mid), "core"), format.Count(int(base.mid), "core")))
	}
	return sentences
}
