package gate

import (
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/project"
)

// Bytes that begin at zero have no ratio, and are compared as counts, with any rule for
// allocations; so are allocations that are held to the margin.
func TestCountsWithoutRatio(t *testing.T) {
	for name, c := range map[string]struct {
		allocs     project.Allocs
		metric     string
		base, head []float64
		want       Outcome
		exact      bool
	}{
		"first bytes":        {project.AllocsExact, "bytes", same(0), same(16), Worse, true},
		"no bytes":           {project.AllocsExact, "bytes", same(0), same(0), NoWorse, true},
		"no bytes any more":  {project.AllocsIgnore, "bytes", same(16), same(0), Better, true},
		"bytes that vary":    {project.AllocsIgnore, "bytes", same(0), varying(16), Worse, false},
		"some of it is zero": {project.AllocsIgnore, "bytes", varying(0), varying(0), Open, false},
		"first allocation":   {project.AllocsMargin, "allocs", same(0), same(1), Worse, true},
		"no allocation":      {project.AllocsMargin, "allocs", same(0), same(0), NoWorse, true},
	} {
		res := result(bench{id: encode, effects: steady(1), base: c.base, head: c.head})
		for _, s := range res.Trials {
			s.Samples[encode]["bytes_per_op"] = s.Samples[encode]["allocs_per_op"]
		}
		p := project.Default(".")
		p.Gate.Allocs, p.Gate.Metrics = c.allocs, []string{"time", "bytes"}
		rep := Judge(p, Measured{Results: []*tare.Result{res}}, nil, at("2026-06-01"), "")
		if r := row(t, rep, encode, c.metric); r.Outcome != c.want || r.Exact != c.exact {
			t.Errorf("%s: %s, exact %v: %s; want %s", name, r.Outcome, r.Exact, r.Sentence, c.want)
		}
	}
}
