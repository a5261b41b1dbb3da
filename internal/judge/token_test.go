package judge

import (
	"math"
	"slices"
	"testing"

	"github.com/tarebench/tare"
)

// Getting its turn costs every process 0.4 ms of CPU time. Slices of lean are a quarter as
// long as the baseline's, so that it has four times as much of that in an
// operation. Rounds with slices eight times as long say so.
func TestWakeCost(t *testing.T) {
	const wake = 400_000
	f := fake{workloads: []string{"w"}, cost: map[string]float64{"lean": 250}, rounds: 24, slices: 16, metrics: []string{"time", "cpu"}, sliceSD: 0.02, roundSD: 0.01}
	d := f.data(seeded(31))
	f.rounds = 3
	long := f.data(seeded(32)).Slices
	for i := range d.Slices {
		d.Slices[i].CPUNS = 4*d.Slices[i].CPUNS + wake
		d.Slices[i].WallNS, d.Slices[i].Ops = 4*d.Slices[i].WallNS, 4*d.Slices[i].Ops
	}
	for i := range long {
		s := &long[i]
		s.Round, s.Tau = 8*s.Round, 8
		s.CPUNS, s.WallNS, s.Ops = 32*s.CPUNS+wake, 32*s.WallNS, 32*s.Ops
	}
	ratio := func() float64 { return pick(Compare(d, Effects(d)), "lean", "w", "cpu").Ratio }
	if r := ratio(); r < 0.28 {
		t.Errorf("without long rounds the ratio of CPU time is %.3f: nothing to correct", r)
	}
	short := d.Slices
	d.Slices = slices.Concat(short, long)
	if r := ratio(); math.Abs(math.Log(r/0.25)) > 0.03 {
		t.Errorf("the ratio of CPU time is %.3f, in truth 0.250", r)
	}
	if r := pick(Compare(d, Effects(d)), "lean", "w", "time").Ratio; math.Abs(math.Log(r/0.25)) > 0.02 {
		t.Errorf("the ratio of time is %.3f, in truth 0.250", r)
	}
	d.Slices = slices.Concat(short, long[:len(long)/3])
	if r := ratio(); r < 0.28 {
		t.Errorf("one long round corrects the ratio to %.3f", r)
	}
	d.Slices = slices.Concat(short, long)
	d.Study.Workloads[0].Traffic = &tare.Traffic{}
	if x := d.Index(); x.WakeCost() != 0 {
		t.Errorf("waking a server costs %v ns", x.WakeCost())
	}
}
