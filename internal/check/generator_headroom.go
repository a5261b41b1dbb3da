package check

import (
	"fmt"
	"math"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

const (
	lagShare     = 0.1  // of a limit, or of a p99, that send lag may take
	minLag       = 1e6  // ns: a lower send lag does not matter if no criterion sets a limit
	headroom     = 1.25 // times a contender's throughput that the null server must reach
	headroomWarn = 2
)

func generatorHeadroom() Check {
	return Check{
		ID:       "generator-headroom",
		Severity: tare.Void,
		Summary: "The load generator must have been able to do more. Three limits, each compared with the middle over rounds: it used, or was ready to run and waited for, at most 85 % of its cores; the p99 of how late it sent is at most 10 % of the criterion's limit on that latency " +
			"(without a criterion at most 1 ms, or 10 % of the p99 where that is more), where the latency is a p50, the p50 of how late it sent is at most 10 % of that limit, or without a criterion 10 % of the p50 itself; and in a closed loop the null server, which does next to nothing, reached 1.25 times the contender's throughput in the same rounds. " +
			"Beyond the first and the third, throughput and latencies are void; beyond the second, that latency. CPU per request stands. Below 2 times the null server's throughput it warns. Servers at a URL are not compared with the null server. " +
			"A contender's own client is part of what it takes: where that is busy it warns, and the null server, which has another client, says nothing.",
		Why: "ab, ghz and hey need more CPU time for a request than many a server needs to answer it. What was published as the limit of several servers, all alike, was that of the tool; " +
			"and a tool that sends late measures its own queue.",
		Advice: "compare CPU per request, which a busy load generator does not touch, or give it more cores",
		suspects: func(in Input, contender string) (out []suspicion) {
			c, _ := in.Contender(contender)
			for _, w := range in.trafficWorkloads() {
				out = append(out, in.headroomSuspects(c, w)...)
			}
			return out
		},
		atEnd: true,
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			for _, w := range in.trafficWorkloads() {
				for _, c := range in.measuredContenders() {
					out = append(out, findHeadroom(in, c, w)...)
				}
			}
			return out
		},
	}
}

// findHeadroom returns a finding for each metric of c on w that the load generator limited, and a
// warning if it came near.
func findHeadroom(in Input, c tare.Contender, w tare.Workload) []tare.Finding {
	var limited, near string
	own := in.hasOwnClient(c.ID, w.ID)
	if e, ok := estimateOver(in.perRound(c.ID, w.ID, readOccupied)); ok && e.mid > saturated {
		used, _ := estimateOver(in.perRound(c.ID, w.ID, readBusyShare(tare.KeyClientCPU, tare.KeyClientCores)))
		limited = fmt.Sprintf("%s used %s of its cores", nameSender(own), format.Percent(used.mid))
		if waited, ok := estimateOver(in.perRound(c.ID, w.ID, readBusyShare(tare.KeyClientWait, tare.KeyClientCores))); ok && waited.mid >= 0.01 {
			limited += fmt.Sprintf(" and waited for them %s of the time", format.Percent(waited.mid))
		}
		limited += ", over " + format.Percent(saturated)
	}
	if beside, ok := estimateOver(in.ratiosToNull(c, w)); ok && !own && beside.mid < headroomWarn {
		near = fmt.Sprintf("the null server reached %.3g× its throughput (%.3g to %.3g, %s)", beside.mid, beside.lo, beside.hi, format.Count(beside.rounds, "round"))
		if beside.mid < headroom {
			limited, near = joinNonEmpty(limited, near+fmt.Sprintf(", under %.3g×", headroom)), ""
		}
	}
	if own && limited != "" {
		limited, near = "", limited+": what its client costs limits its throughput and its latencies"
	} else if near != "" {
		near += fmt.Sprintf(", under %d×: part of its cost is the load generator's", headroomWarn)
	}
	var out []tare.Finding
	for _, name := range in.capacityMetrics(w) {
		if said := joinNonEmpty(limited, whyLate(in, c.ID, w, name)); said != "" {
			out = append(out, tare.Finding{Contender: c.ID, Workload: w.ID, Metric: name, Message: said})
		}
	}
	if near != "" && limited == "" && len(in.capacityMetrics(w)) > 0 {
		out = append(out, tare.Finding{
			Contender: c.ID, Workload: w.ID, Severity: tare.Warn, Message: near,
		})
	}
	return out
}

// headroomSuspects returns the ways in which the load generator could limit c on w.
func (in Input) headroomSuspects(c tare.Contender, w tare.Workload) (out []suspicion) {
	metrics := in.capacityMetrics(w)
	if len(metrics) > 0 && !in.hasOwnClient(c.ID, w.ID) {
		out = append(out, suspicion{aboveLimit(in.perRound(c.ID, w.ID, readOccupied), saturated)}, suspicion{belowLimit(in.ratiosToNull(c, w), headroom)})
	}
	for _, name := range metrics {
		if m, _ := tare.MetricNamed(name); m.IsLatency() {
			l := in.sendLagOf(c.ID, w.ID, name)
			out = append(out, suspicion{aboveLimit(l.rounds, l.limit)})
		}
	}
	return out
}

// hasOwnClient reports whether contender came with its own client.
func (in Input) hasOwnClient(contender, workload string) bool {
	e, ok := estimateOver(in.perRound(contender, workload, readKey(tare.KeyOwnClient)))
	return ok && e.mid > 0
}

// nameSender returns the name of the program that sent the requests.
func nameSender(own bool) string {
	if own {
		return "its own client"
	}
	return "the load generator"
}

// ratiosToNull returns the null server's throughput over that of c, per round, in a
// closed loop.
func (in Input) ratiosToNull(c tare.Contender, w tare.Workload) []float64 {
	null := in.withRole(tare.RoleNull)
	if null == "" || w.Traffic.Rate > 0 || c.Launch == tare.LaunchURL {
		return nil
	}
	return in.pairedRatios(null, c.ID, w.ID, readKey(tare.KeyRate))
}

// whyLate returns the sentence that requests were sent too late for metric, or "" if they were not
// or metric is no latency.
func whyLate(in Input, contender string, w tare.Workload, metric string) string {
	m, _ := tare.MetricNamed(metric)
	l := in.sendLagOf(contender, w.ID, metric)
	e, ok := estimateOver(l.rounds)
	if !m.IsLatency() || !ok || e.mid <= l.limit {
		return ""
	}
	return fmt.Sprintf("requests were sent up to %s ms late (%s), over %s ms (%s)", formatNumber(e.mid/1e6), l.quantile, formatNumber(l.limit/1e6), l.limitSource)
}

// sendLag holds the delays of sent requests, and their limit.
type sendLag struct {
	quantile    string    // of the send lag: p50 or p99
	rounds      []float64 // that quantile in each round, in ns
	limit       float64   // ns
	limitSource string    // how the limit is derived, for a message
}

// sendLagOf returns the send lag that a latency of contender is judged by: its p50
// for a p50, and its p99 for every other latency.
func (in Input) sendLagOf(contender, workload, metric string) sendLag {
	l := sendLag{quantile: "p99", rounds: in.perRound(contender, workload, readKey(tare.KeySendLag)), limit: minLag, limitSource: "without a criterion"}
	p99, ok := estimateOver(in.perRound(contender, workload, readKey("p99_ns")))
	if ok && lagShare*p99.mid > l.limit {
		l.limit, l.limitSource = lagShare*p99.mid, "10 % of its p99"
	}
	half := in.perRound(contender, workload, readKey(tare.KeySendLagP50))
	if p50, ok := estimateOver(in.perRound(contender, workload, readKey("p50_ns"))); ok && metric == "p50" && len(half) > 0 { // older results have no p50 of it
		l = sendLag{"p50", half, lagShare * p50.mid, "10 % of its p50"}
	}
	if asked, ok := in.minLimit(contender, workload, metric); ok {
		l.limit, l.limitSource = lagShare*asked, "10 % of what the criterion asks"
	}
	return l
}

// minLimit returns the strictest limit that a criterion sets to a value of contender.
func (in Input) minLimit(contender, workload, metric string) (float64, bool) {
	least := math.Inf(1)
	for _, c := range in.Study.Criteria {
		if c.Metric != metric || c.Contender != "" && c.Contender != contender || c.Workload != "" && c.Workload != workload {
			continue
		}
		if rule, err := c.Rule(); err == nil && rule.Kind == tare.RuleValue && rule.AtMost {
			least = min(least, rule.Limit)
		}
	}
	return least, !math.IsInf(least, 1)
}

// joinNonEmpty joins the parts that are not empty with "; ".
func joinNonEmpty(parts ...string) string {
	var said []string
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	return strings.Join(said, "; ")
}
