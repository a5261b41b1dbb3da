package judge

import (
	"math"
	"math/rand/v2"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// fake is a made-up study: every contender's true cost per operation, and the
// noise of rounds and slices.
type fake struct {
	workloads []string
	cost      map[string]float64 // by contender, ns per op; the baseline's is 1000
	rounds    int
	slices    int
	roundSD   float64 // of ln cost, per contender and round
	sliceSD   float64
	looks     []int
	metrics   []string
	criteria  []tare.Criterion
	claims    []tare.Claim
}

const base = "encoding-json"

// data plays the study.
func (f fake) data(r *rand.Rand) evidence.Evidence {
	d := evidence.Evidence{Rounds: f.rounds, Final: true}
	d.Study = tare.Study{ID: "fake", Baseline: base, Metrics: f.metrics, Criteria: f.criteria, Claims: f.claims}
	if d.Study.Metrics == nil {
		d.Study.Metrics = []string{"time"}
	}
	d.Plan.Looks = f.looks
	if f.looks == nil {
		d.Plan.Looks = []int{f.rounds}
	}
	d.Plan.SecondsPerRound = 0.5
	ids := []string{base, tare.ControlID, tare.NullID}
	for _, id := range []string{"lean", "fat", "other"} {
		if _, ok := f.cost[id]; ok {
			ids = append(ids, id)
		}
	}
	for _, id := range ids {
		role := tare.RoleContender
		switch id {
		case base:
			role = tare.RoleBaseline
		case tare.ControlID:
			role = tare.RoleControl
		case tare.NullID:
			role = tare.RoleNull
		}
		d.Contenders = append(d.Contenders, tare.Contender{ID: id, Role: role})
	}
	for _, w := range f.workloads {
		d.Study.Workloads = append(d.Study.Workloads, tare.Workload{ID: w})
		d.Plan.Slices = append(d.Plan.Slices, tare.Slicing{Workload: w, Contenders: ids, Count: f.slices, Block: 2})
	}
	for round := 1; round <= f.rounds; round++ {
		for _, id := range ids {
			d.Trials = append(d.Trials, tare.Trial{Round: round, Tau: 1, Contender: id, Seconds: 0.5})
		}
		for _, w := range f.workloads {
			for _, id := range ids {
				cost := f.cost[id]
				switch {
				case id == tare.NullID:
					cost = 2
				case cost == 0:
					cost = 1000
				}
				shift := f.roundSD * r.NormFloat64()
				for i := range f.slices {
					ns := cost * 1000 * math.Exp(shift+f.sliceSD*r.NormFloat64())
					d.Slices = append(d.Slices, tare.Slice{Round: round, Index: i, Tau: 1, Workload: w, Contender: id, Ops: 1000, WallNS: int64(ns), CPUNS: int64(ns)})
				}
			}
		}
	}
	return d
}

// upTo is what was known after n rounds.
func upTo(d evidence.Evidence, n int) evidence.Evidence {
	out := d
	out.Rounds, out.Final, out.Slices, out.Trials = n, false, nil, nil
	for _, s := range d.Slices {
		if s.Round <= n {
			out.Slices = append(out.Slices, s)
		}
	}
	for _, t := range d.Trials {
		if t.Round <= n {
			out.Trials = append(out.Trials, t)
		}
	}
	return out
}

func seeded(n uint64) *rand.Rand { return rand.New(rand.NewPCG(n, 7)) }

// sampled adds a trial metric: values by contender, the same in every round
// unless by returns otherwise.
func sampled(d *evidence.Evidence, key string, by func(round int, contender string) float64) {
	for i := range d.Trials {
		t := &d.Trials[i]
		if t.Samples == nil {
			t.Samples = map[string]tare.Sample{}
		}
		for _, w := range d.Study.Workloads {
			s := t.Samples[w.ID]
			if s == nil {
				s = tare.Sample{}
			}
			s[key] = by(t.Round, t.Contender)
			t.Samples[w.ID] = s
		}
	}
}

func pick(cs []tare.Comparison, contender, workload, metric string) tare.Comparison {
	for _, c := range cs {
		if c.Contender == contender && c.Workload == workload && c.Metric == metric {
			return c
		}
	}
	return tare.Comparison{}
}
