package check

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

const (
	maxLittleOff = 0.10 // tolerated relative difference of rate × latency and the concurrency
	maxOnLink    = 0.5  // if a larger share of the requests is on the link, the link is the limit
	maxLinkUse   = 0.9  // if a larger share of the bandwidth is used, the link is the limit
	saturated    = 0.85 // a server or load generator this busy on its cores is the limit
)

// little applies Little's law to load tests: requests in flight = rate × latency. The link is the
// network that a workload emulates with a delay or a bandwidth.
func little() Check {
	return Check{
		ID:       "little",
		Severity: tare.Void,
		Summary: "Little's law: as many requests are in flight as arrive per second times the seconds each takes. Rate, latency and concurrency are counted separately; throughput and latencies of a contender are void " +
			"if rate × latency is more than 10 % off the concurrency " + byRounds + ". In a closed loop the check also looks for what limits the throughput, which is void if a delay or a bandwidth was set and more than half of the requests in flight " +
			"were on the link, or the link was 90 % full, while neither the server nor the load generator was busy on 85 % of its cores. CPU per request remains valid.",
		Why: "Seven services were published with requests per second from 407 to 907. In ten of 14 rows rate times latency is 48 to 49, the connections the tool really had: " +
			"the rate follows from the time of a round trip to the data centre. For the service with the best latency the product is 17 to 19, because its latencies do not contain its 390 timeouts.",
		Advice: "read CPU per request; to measure throughput, use more connections, or omit delay and bandwidth",
		voidReasons: func(in Input, contender string) (out []voidReason) {
			for _, w := range in.trafficWorkloads() {
				out = append(out, voidReason{notNearOne(in.perRound(contender, w.ID, readInFlight), maxLittleOff)})
				if w.Traffic.Rate == 0 { // closed loop
					out = append(out, in.linkReasons(contender, w)...)
				}
			}
			return out
		},
		onlyAtEnd: true,
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			for _, w := range in.trafficWorkloads() {
				for _, c := range in.measuredContenders() {
					why := whyLittleFails(in, c.ID, w.ID)
					metrics := in.capacityMetrics(w)
					if why == "" && w.Traffic.Rate == 0 {
						why, metrics = whyLinkLimits(in, c.ID, w), closedMetric(metrics)
					}
					if why == "" {
						continue
					}
					for _, m := range metrics {
						out = append(out, tare.Finding{Contender: c.ID, Workload: w.ID, Metric: m, Message: why + in.describeLoad(c.ID, w.ID)})
					}
				}
			}
			return out
		},
	}
}

// readInFlight reads rate × latency divided by the concurrency. By Little's law it is 1.
func readInFlight(s tare.Sample) (value float64, ok bool) {
	v, ok := readRatio([]string{tare.KeyRate, tare.KeyMeanLatency}, []string{tare.KeyConcurrency})(s)
	return v / nsPerSecond, ok // rate per second, latency in ns
}

func whyLittleFails(in Input, contender, workload string) string {
	e, ok := in.estimateValue(contender, workload, readInFlight)
	if !ok || !e.isFarFromOne(maxLittleOff) {
		return ""
	}
	concurrency, _ := in.estimateValue(contender, workload, readKey(tare.KeyConcurrency))
	return fmt.Sprintf("rate × latency comes to %s requests under way, but there were %s (%.3g×, %.3g to %.3g, %s)",
		formatNumber(e.mid*concurrency.mid), formatNumber(concurrency.mid), e.mid, e.lo, e.hi, format.Count(e.rounds, "round"))
}

func whyLinkLimits(in Input, contender string, w tare.Workload) string {
	for _, side := range []reading{readServerBusy, readOccupied} { // server, load generator
		if e, ok := in.estimateValue(contender, w.ID, side); ok && e.mid >= saturated {
			return ""
		}
	}
	if e, ok := in.estimateValue(contender, w.ID, readOnLink(w)); ok && e.isAbove(maxOnLink) {
		return fmt.Sprintf("%s of the requests in flight were on the link, which delays each by %v: throughput is connections over round trip",
			format.Percent(min(1, e.mid)), w.Traffic.Delay)
	}
	for _, direction := range []string{tare.KeyBytesSent, tare.KeyBytesReceived} {
		if e, ok := in.estimateValue(contender, w.ID, readLinkUse(w, direction)); ok && e.isAbove(maxLinkUse) {
			return fmt.Sprintf("the link of %s bit/s was %s full: throughput is the link's", formatNumber(float64(w.Traffic.Bandwidth)), format.Percent(min(1, e.mid)))
		}
	}
	return ""
}

// readOnLink reads the share of the requests in flight that were on the link.
func readOnLink(w tare.Workload) reading {
	return func(s tare.Sample) (float64, bool) {
		v, ok := readRatio([]string{tare.KeyRate}, []string{tare.KeyConcurrency})(s)
		return v * w.Traffic.Delay.Seconds(), ok && w.Traffic.Delay > 0
	}
}

// readLinkUse reads the used share of the link's bandwidth. key is KeyBytesSent or
// KeyBytesReceived, in bytes per request.
func readLinkUse(w tare.Workload, key string) reading {
	return func(s tare.Sample) (float64, bool) {
		v, ok := multiplyKeys(s, tare.KeyRate, key)
		return 8 * v / float64(w.Traffic.Bandwidth), ok && w.Traffic.Bandwidth > 0
	}
}

func (in Input) linkReasons(contender string, w tare.Workload) (out []voidReason) {
	for _, link := range []struct {
		read  reading
		limit float64
	}{
		{readOnLink(w), maxOnLink},
		{readLinkUse(w, tare.KeyBytesSent), maxLinkUse},
		{readLinkUse(w, tare.KeyBytesReceived), maxLinkUse},
	} {
		s := voidReason{aboveLimit(in.perRound(contender, w.ID, link.read), link.limit)}
		for _, side := range []reading{readServerBusy, readOccupied} {
			if x := in.perRound(contender, w.ID, side); len(x) > 0 {
				s = append(s, belowLimit(x, saturated))
			}
		}
		out = append(out, s)
	}
	return out
}

// closedMetric returns the metric that is the inverse of a closed loop's throughput. The result has
// one element, or none if metrics does not contain it.
func closedMetric(metrics []string) []string {
	for i, m := range metrics {
		if tare.MetricFor(m).Closed {
			return metrics[i : i+1]
		}
	}
	return nil
}
