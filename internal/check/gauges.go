package check

import (
	"fmt"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// This file reads the samples of a study and estimates values over all rounds. A sample has the
// measurements of one workload in one trial, the process of a contender in one round. For example,
// readServerBusy reads how busy a server was, and estimateValue returns "60 % (58 % to 63 %)".

// measuredContenders omits the null contender, which does nothing, and the control, a second copy
// of the baseline.
func (in Input) measuredContenders() []tare.Contender {
	return slices.DeleteFunc(slices.Clone(in.Contenders), func(c tare.Contender) bool {
		return c.Role == tare.RoleNull || c.Role == tare.RoleControl
	})
}

// comparableContenders also omits contenders that do another job, or a part of it.
func (in Input) comparableContenders() []tare.Contender {
	return slices.DeleteFunc(in.measuredContenders(), func(c tare.Contender) bool { return c.Role == tare.RoleApart })
}

// withRole returns the id of the first contender with that role, or "".
func (in Input) withRole(role tare.Role) string {
	for _, c := range in.Contenders {
		if c.Role == role {
			return c.ID
		}
	}
	return ""
}

// trafficWorkloads lists the workloads whose requests come over connections to a server.
func (in Input) trafficWorkloads() []tare.Workload {
	return slices.DeleteFunc(slices.Clone(in.Study.Workloads), func(w tare.Workload) bool { return w.Traffic == nil })
}

func (in Input) trafficOf(workload string) *tare.Traffic {
	w, _ := in.Workload(workload)
	return w.Traffic
}

// capacityMetrics lists the study's metrics on w that depend on the capacity of a server: throughput
// and latencies, but not the cost of a request.
func (in Input) capacityMetrics(w tare.Workload) []string {
	return slices.DeleteFunc(slices.Clone(in.Study.Metrics), func(name string) bool {
		m, ok := tare.MetricNamed(name)
		isCapacity := ok && (m.Closed || m.IsLatency())
		return !isCapacity || !w.Measures(m)
	})
}

// findEach returns a finding for each contender and workload for which describe returns a message.
func findEach(contenders []tare.Contender, workloads []tare.Workload, describe func(c tare.Contender, w tare.Workload) string) []tare.Finding {
	var out []tare.Finding
	for _, w := range workloads {
		for _, c := range contenders {
			if message := describe(c, w); message != "" {
				out = append(out, tare.Finding{Contender: c.ID, Workload: w.ID, Message: message})
			}
		}
	}
	return out
}

// findAgainstBaseline is findEach for comparable contenders. describe gets the estimates e of the
// contender and base of the baseline. It is not called if one of them is unknown.
func (in Input) findAgainstBaseline(workloads []tare.Workload, read reading, describe func(c tare.Contender, w tare.Workload, e, base extent) string) []tare.Finding {
	return findEach(in.comparableContenders(), workloads, func(c tare.Contender, w tare.Workload) string {
		base, okBase := in.estimateValue(in.Study.Baseline, w.ID, read)
		e, ok := in.estimateValue(c.ID, w.ID, read)
		areKnown := ok && okBase
		if !areKnown || c.ID == in.Study.Baseline {
			return ""
		}
		return describe(c, w, e, base)
	})
}

// reading reads or computes one value of a sample. It returns false if a key is missing.
type reading func(tare.Sample) (value float64, ok bool)

func readKey(name string) reading {
	return func(s tare.Sample) (float64, bool) {
		v, ok := s[name]
		return v, ok
	}
}

func multiplyKeys(s tare.Sample, keys ...string) (product float64, ok bool) {
	product = 1
	for _, k := range keys {
		v, ok := s[k]
		if !ok {
			return 0, false
		}
		product *= v
	}
	return product, true
}

// readRatio reads the product of dividends over the product of divisors, which must be positive.
func readRatio(dividends, divisors []string) reading {
	return func(s tare.Sample) (float64, bool) {
		dividend, okDividend := multiplyKeys(s, dividends...)
		divisor, okDivisor := multiplyKeys(s, divisors...)
		if !okDividend || !okDivisor || !(divisor > 0) { // also for NaN
			return 0, false
		}
		return dividend / divisor, true
	}
}

func readServerBusy(s tare.Sample) (share float64, ok bool) {
	return readRatio([]string{tare.KeyServerCPU}, []string{tare.KeyWall, tare.KeyServerCores})(s)
}

func readClientBusy(s tare.Sample) (share float64, ok bool) {
	return readRatio([]string{tare.KeyClientCPU}, []string{tare.KeyWall, tare.KeyClientCores})(s)
}

// readOccupied reads the share of its cores' time that the load generator used or waited for.
// Unknown waiting time is 0.
func readOccupied(s tare.Sample) (value float64, ok bool) {
	available, ok := multiplyKeys(s, tare.KeyWall, tare.KeyClientCores) // core-ns
	cpu, okCPU := s[tare.KeyClientCPU]
	if !ok || !okCPU || !(available > 0) {
		return 0, false
	}
	return (cpu + s[tare.KeyClientWait]) / available, true
}

// isCounted reports whether t is complete and not part of a long round, which has longer slices. Tau
// is the factor of their length.
func isCounted(t tare.Trial) bool { return t.Error == nil && t.Tau <= 1 }

func isTimed(s tare.Slice) bool { return s.Tau <= 1 && s.Ops > 0 && s.WallNS > 0 }

// perRound returns the values of contender's counted trials, in the order of rounds. It skips values
// that are missing or not finite.
func (in Input) perRound(contender, workload string, read reading) []float64 {
	var out []float64
	for _, t := range in.Trials {
		if t.Contender != contender || !isCounted(t) {
			continue
		}
		if v, ok := read(t.Samples[workload]); ok && !math.IsNaN(v) && !math.IsInf(v, 0) {
			out = append(out, v)
		}
	}
	return out
}

// pairedRatios returns the value of contender a over that of b, for every round that has both. It
// returns nothing if a or b is "".
func (in Input) pairedRatios(a, b, workload string, read reading) []float64 {
	divisors := map[int]float64{} // by round
	for _, t := range in.Trials {
		if v, ok := read(t.Samples[workload]); ok && t.Contender == b && isCounted(t) {
			divisors[t.Round] = v
		}
	}
	var out []float64
	for _, t := range in.Trials {
		isOfA := t.Contender == a && isCounted(t)
		if v, ok := read(t.Samples[workload]); ok && isOfA && divisors[t.Round] > 0 {
			out = append(out, v/divisors[t.Round])
		}
	}
	return out
}

// extent is an estimate over rounds with its interval from lo to hi.
type extent struct {
	mid, lo, hi float64
	rounds      int
}

// estimateOver returns the Hodges–Lehmann estimate of x with its 99.9 % interval. With too few
// rounds the interval covers all values. A limit must then be exceeded in every round. It returns
// false if x is empty.
func estimateOver(x []float64) (e extent, ok bool) {
	if len(x) == 0 {
		return extent{}, false
	}
	e = extent{mid: stats.HodgesLehmann(x), rounds: len(x)}
	if e.lo, e.hi, ok = stats.Interval(x, strictLevel); !ok {
		e.lo, e.hi = slices.Min(x), slices.Max(x)
	}
	return e, true
}

func (in Input) estimateValue(contender, workload string, read reading) (e extent, ok bool) {
	return estimateOver(in.perRound(contender, workload, read))
}

// isAbove reports whether the entire interval is above limit.
func (e extent) isAbove(limit float64) bool { return e.lo > limit }

func (e extent) isBelow(limit float64) bool { return e.hi < limit }

// isOutside reports whether the entire interval is more than margin outside that of base.
func (e extent) isOutside(base extent, margin float64) bool {
	return e.isAbove(base.hi+margin) || e.isBelow(base.lo-margin)
}

// isFarFromOne reports whether the entire interval of a ratio is off 1 by a factor of more than 1+margin.
func (e extent) isFarFromOne(margin float64) bool {
	return e.isAbove(1+margin) || e.isBelow(1/(1+margin))
}

const exceptApart = "Contenders that stand apart do another job and are skipped."

// byRounds ends a sentence of a summary about a value beyond a limit.
const byRounds = "with its entire 99.9 % interval over rounds (with fewer than 11 rounds: in every round)"

// describeLoad returns clauses about how busy both sides were. Each begins with "; ".
func (in Input) describeLoad(contender, workload string) string {
	var out string
	for _, side := range []struct {
		name, cores string
		busy        reading
	}{
		{"the server", tare.KeyServerCores, readServerBusy},
		{"the load generator", tare.KeyClientCores, readClientBusy},
	} {
		share, ok := in.estimateValue(contender, workload, side.busy)
		if !ok {
			continue
		}
		cores := in.perRound(contender, workload, readKey(side.cores)) // not empty, because share needs it
		out += fmt.Sprintf("; %s was busy %s of its %s", side.name, format.Percent(share.mid), format.Count(int(math.Round(cores[0])), "core"))
	}
	return out
}
