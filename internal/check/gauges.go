package check

import (
	"fmt"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// measuredContenders lists the contenders with measurements of their own: without the null
// contender and the control, which is the baseline again.
func (in Input) measuredContenders() []tare.Contender {
	var out []tare.Contender
	for _, c := range in.Contenders {
		if c.Role != tare.RoleNull && c.Role != tare.RoleControl {
			out = append(out, c)
		}
	}
	return out
}

// comparableContenders lists the measured contenders that do the same job, without those of role
// apart.
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

// trafficWorkloads lists the workloads whose requests come over connections.
func (in Input) trafficWorkloads() []tare.Workload {
	var out []tare.Workload
	for _, w := range in.Study.Workloads {
		if w.Traffic != nil {
			out = append(out, w)
		}
	}
	return out
}

// trafficOf returns how requests reach a server on workload, or nil if there is no server.
func (in Input) trafficOf(workload string) *tare.Traffic {
	for _, w := range in.Study.Workloads {
		if w.ID == workload {
			return w.Traffic
		}
	}
	return nil
}

// capacityMetrics lists the study's metrics on w that measure the capacity of a server: throughput
// and latencies, but not the cost of a request.
func (in Input) capacityMetrics(w tare.Workload) []string {
	var out []string
	for _, name := range in.Study.Metrics {
		if m, ok := tare.MetricNamed(name); ok && (m.Closed || m.IsLatency()) && w.Measures(m) {
			out = append(out, name)
		}
	}
	return out
}

// findEach returns a finding for each message of say about a contender on one of the workloads. It
// skips empty messages.
func findEach(contenders []tare.Contender, workloads []tare.Workload, say func(c tare.Contender, w tare.Workload) string) []tare.Finding {
	var out []tare.Finding
	for _, w := range workloads {
		for _, c := range contenders {
			if message := say(c, w); message != "" {
				out = append(out, tare.Finding{Contender: c.ID, Workload: w.ID, Message: message})
			}
		}
	}
	return out
}

// findAgainstBaseline calls say with the values of f for a contender and for the baseline, for each
// comparable contender, and returns the findings.
func (in Input) findAgainstBaseline(workloads []tare.Workload, f reading, say func(c tare.Contender, w tare.Workload, e, base extent) string) []tare.Finding {
	return findEach(in.comparableContenders(), workloads, func(c tare.Contender, w tare.Workload) string {
		base, ok := estimateOver(in.perRound(in.Study.Baseline, w.ID, f))
		e, okOwn := estimateOver(in.perRound(c.ID, w.ID, f))
		if !ok || !okOwn || c.ID == in.Study.Baseline {
			return ""
		}
		return say(c, w, e, base)
	})
}

// reading reads one figure of a sample. It returns false if the sample lacks a value.
type reading func(tare.Sample) (float64, bool)

// readKey reads one figure as it is.
func readKey(name string) reading {
	return func(s tare.Sample) (float64, bool) {
		v, ok := s[name]
		return v, ok
	}
}

// multiplyKeys multiplies the figures of keys. It returns false if one is missing.
func multiplyKeys(s tare.Sample, keys ...string) (float64, bool) {
	p := 1.0
	for _, k := range keys {
		v, ok := s[k]
		if !ok {
			return 0, false
		}
		p *= v
	}
	return p, true
}

// readRatio reads one product of figures over another. It returns false if one is missing or the
// divisor is not positive.
func readRatio(over, under []string) reading {
	return func(s tare.Sample) (float64, bool) {
		a, okA := multiplyKeys(s, over...)
		b, okB := multiplyKeys(s, under...)
		if !okA || !okB || !(b > 0) {
			return 0, false
		}
		return a / b, true
	}
}

// readBusyShare reads the share of its cores that one side used: server or load generator.
func readBusyShare(cpu, cores string) reading {
	return readRatio([]string{cpu}, []string{tare.KeyWall, cores})
}

// readOccupied reads the share of its cores that the load generator used or was ready to use, as
// far as the system reports that.
func readOccupied(s tare.Sample) (float64, bool) {
	room, ok := multiplyKeys(s, tare.KeyWall, tare.KeyClientCores)
	cpu, okCPU := s[tare.KeyClientCPU]
	if !ok || !okCPU || !(room > 0) {
		return 0, false
	}
	return (cpu + s[tare.KeyClientWait]) / room, true
}

// isCounted reports whether the trial is complete and at the plan's slice length.
func isCounted(t tare.Trial) bool { return t.Error == nil && t.Tau <= 1 }

// perRound returns what f reads of contender on workload in every trial that
// counts, in the order of rounds.
func (in Input) perRound(contender, workload string, f reading) []float64 {
	var out []float64
	for _, t := range in.Trials {
		if t.Contender != contender || !isCounted(t) {
			continue
		}
		if v, ok := f(t.Samples[workload]); ok && !math.IsNaN(v) && !math.IsInf(v, 0) {
			out = append(out, v)
		}
	}
	return out
}

// pairedRatios returns f of a over f of b for every round that has both.
func (in Input) pairedRatios(a, b, workload string, f reading) []float64 {
	beside := map[int]float64{}
	for _, t := range in.Trials {
		if v, ok := f(t.Samples[workload]); ok && t.Contender == b && isCounted(t) {
			beside[t.Round] = v
		}
	}
	var out []float64
	for _, t := range in.Trials {
		if v, ok := f(t.Samples[workload]); ok && t.Contender == a && isCounted(t) && beside[t.Round] > 0 {
			out = append(out, v/beside[t.Round])
		}
	}
	return out
}

// extent is the interval of the middle of a figure, over rounds.
type extent struct {
	mid, lo, hi float64
	rounds      int
}

// estimateOver returns the Hodges–Lehmann estimate of x with its interval at the strict level. With
// too few rounds for that level the interval is from the least to the greatest value, so that
// statements about it hold for each round. It returns false if x is empty.
func estimateOver(x []float64) (extent, bool) {
	if len(x) == 0 {
		return extent{}, false
	}
	e := extent{mid: stats.HodgesLehmann(x), rounds: len(x)}
	var ok bool
	if e.lo, e.hi, ok = stats.Interval(x, strict); !ok {
		e.lo, e.hi = slices.Min(x), slices.Max(x)
	}
	return e, true
}

// isAbove reports whether the entire interval is above limit.
func (e extent) isAbove(limit float64) bool { return e.lo > limit }

// isBelow reports whether the entire interval is below limit.
func (e extent) isBelow(limit float64) bool { return e.hi < limit }

// isOff reports whether a ratio that should be 1 is off by more than the margin with its entire
// interval, on either side.
func (e extent) isOff(margin float64) bool { return e.isAbove(1+margin) || e.isBelow(1/(1+margin)) }

// exceptApart names the contenders that a check skips, for summaries.
const exceptApart = "Contenders that stand apart do another job, and are passed over."

// byRounds states how intervals over rounds are computed, for summaries.
const byRounds = "with its whole 99.9 % interval over rounds (with fewer than 11 rounds: in every one)"

// describeLoad returns how busy both sides were, as far as that is known.
func (in Input) describeLoad(contender, workload string) string {
	var out string
	for _, side := range []struct{ who, cpu, cores string }{
		{"the server", tare.KeyServerCPU, tare.KeyServerCores}, {"the load generator", tare.KeyClientCPU, tare.KeyClientCores},
	} {
		share, ok := estimateOver(in.perRound(contender, workload, readBusyShare(side.cpu, side.cores)))
		cores := in.perRound(contender, workload, readKey(side.cores))
		if !ok {
			continue
		}
		out += fmt.Sprintf("; %s was busy %s of its %s", side.who, format.Percent(share.mid), format.Count(int(math.Round(cores[0])), "core"))
	}
	return out
}
