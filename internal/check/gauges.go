package check

import (
	"fmt"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// measured lists the contenders whose figures count for something: not the null
// contender, and not the control, which is the baseline again.
func (in Input) measured() []tare.Contender {
	var out []tare.Contender
	for _, c := range in.Contenders {
		if c.Role != tare.RoleNull && c.Role != tare.RoleControl {
			out = append(out, c)
		}
	}
	return out
}

// alike lists those of them that do the same job: what one that stands apart
// answers, or runs around its work, is its own.
func (in Input) alike() []tare.Contender {
	return slices.DeleteFunc(in.measured(), func(c tare.Contender) bool { return c.Role == tare.RoleApart })
}

// withRole is the id of the first contender with that role; empty: none.
func (in Input) withRole(role tare.Role) string {
	for _, c := range in.Contenders {
		if c.Role == role {
			return c.ID
		}
	}
	return ""
}

// trafficked lists the workloads whose requests come over connections.
func (in Input) trafficked() []tare.Workload {
	var out []tare.Workload
	for _, w := range in.Study.Workloads {
		if w.Traffic != nil {
			out = append(out, w)
		}
	}
	return out
}

// trafficOf is how requests reach a server on workload; nil: there is none.
func (in Input) trafficOf(workload string) *tare.Traffic {
	for _, w := range in.Study.Workloads {
		if w.ID == workload {
			return w.Traffic
		}
	}
	return nil
}

// capacity lists the study's metrics on w that say how much a server can do:
// its throughput and its latencies. What a request costs it is not among them.
func (in Input) capacity(w tare.Workload) []string {
	var out []string
	for _, name := range in.Study.Metrics {
		if m, ok := tare.MetricNamed(name); ok && (m.Closed || m.IsLatency()) && w.Measures(m) {
			out = append(out, name)
		}
	}
	return out
}

// findEach returns a finding for each message of say about a contender on one of the
// workloads. An empty message is none.
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

// besideBaseline calls say with what f reads of a contender and of the baseline, for each
// of the others that do the same job, and returns the findings.
func (in Input) besideBaseline(workloads []tare.Workload, f reading, say func(c tare.Contender, w tare.Workload, e, base extent) string) []tare.Finding {
	return findEach(in.alike(), workloads, func(c tare.Contender, w tare.Workload) string {
		base, ok := over(in.perRound(in.Study.Baseline, w.ID, f))
		e, okOwn := over(in.perRound(c.ID, w.ID, f))
		if !ok || !okOwn || c.ID == in.Study.Baseline {
			return ""
		}
		return say(c, w, e, base)
	})
}

// reading takes one figure from a sample; false where that lacks what it takes.
type reading func(tare.Sample) (float64, bool)

// key reads one figure as it is.
func key(name string) reading {
	return func(s tare.Sample) (float64, bool) {
		v, ok := s[name]
		return v, ok
	}
}

// product multiplies the figures of keys; false where one is missing.
func product(s tare.Sample, keys ...string) (float64, bool) {
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

// ratio reads one product of figures over another; false where one is missing
// or the divisor is not above zero.
func ratio(over, under []string) reading {
	return func(s tare.Sample) (float64, bool) {
		a, okA := product(s, over...)
		b, okB := product(s, under...)
		if !okA || !okB || !(b > 0) {
			return 0, false
		}
		return a / b, true
	}
}

// busy reads how much of its cores one side used: server or load generator.
func busy(cpu, cores string) reading {
	return ratio([]string{cpu}, []string{tare.KeyWall, cores})
}

// occupied reads how much of its cores the load generator used or, as far as
// the system tells, was ready to use and did not get.
func occupied(s tare.Sample) (float64, bool) {
	room, ok := product(s, tare.KeyWall, tare.KeyClientCores)
	cpu, okCPU := s[tare.KeyClientCPU]
	if !ok || !okCPU || !(room > 0) {
		return 0, false
	}
	return (cpu + s[tare.KeyClientWait]) / room, true
}

// counts reports whether the trial is whole and at the plan's slice length.
func counts(t tare.Trial) bool { return t.Error == nil && t.Tau <= 1 }

// perRound returns what f reads of contender on workload in every trial that
// counts, in the order of rounds.
func (in Input) perRound(contender, workload string, f reading) []float64 {
	var out []float64
	for _, t := range in.Trials {
		if t.Contender != contender || !counts(t) {
			continue
		}
		if v, ok := f(t.Samples[workload]); ok && !math.IsNaN(v) && !math.IsInf(v, 0) {
			out = append(out, v)
		}
	}
	return out
}

// paired returns f of a over f of b, of every round that has both.
func (in Input) paired(a, b, workload string, f reading) []float64 {
	beside := map[int]float64{}
	for _, t := range in.Trials {
		if v, ok := f(t.Samples[workload]); ok && t.Contender == b && counts(t) {
			beside[t.Round] = v
		}
	}
	var out []float64
	for _, t := range in.Trials {
		if v, ok := f(t.Samples[workload]); ok && t.Contender == a && counts(t) && beside[t.Round] > 0 {
			out = append(out, v/beside[t.Round])
		}
	}
	return out
}

// extent is where the middle of a figure lies, over rounds.
type extent struct {
	mid, lo, hi float64
	rounds      int
}

// over is the Hodges–Lehmann estimate of x with its interval at the strict
// level. Fewer rounds than that takes are bounded by the least and the greatest
// of them, so that what is said of the interval is true of each.
func over(x []float64) (extent, bool) {
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

// above reports whether the whole interval lies above limit.
func (e extent) above(limit float64) bool { return e.lo > limit }

// below reports whether the whole interval lies below limit.
func (e extent) below(limit float64) bool { return e.hi < limit }

// off reports whether a ratio that should be 1 lies wholly beyond it by more
// than the margin, on either side.
func (e extent) off(margin float64) bool { return e.above(1+margin) || e.below(1/(1+margin)) }

// exceptApart says of whom a check says nothing, for summaries.
const exceptApart = "Contenders that stand apart do another job, and are passed over."

// byRounds says how intervals over rounds come about, for summaries.
const byRounds = "with its whole 99.9 % interval over rounds (with fewer than 11 rounds: in every one)"

// limits says how busy both sides were, as far as that is known.
func (in Input) limits(contender, workload string) string {
	var out string
	for _, side := range []struct{ who, cpu, cores string }{
		{"the server", tare.KeyServerCPU, tare.KeyServerCores}, {"the load generator", tare.KeyClientCPU, tare.KeyClientCores},
	} {
		share, ok := over(in.perRound(contender, workload, busy(side.cpu, side.cores)))
		cores := in.perRound(contender, workload, key(side.cores))
		if !ok {
			continue
		}
		out += fmt.Sprintf("; %s was busy %s of its %s", side.who, format.Percent(share.mid), format.Count(int(math.Round(cores[0])), "core"))
	}
	return out
}
