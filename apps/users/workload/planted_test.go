package workload

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/check"
)

// What an operation costs by the books of planted, in microseconds. Mixes lie
// between their parts, and a pair costs what both of it do.
func costs() map[string]float64 {
	return map[string]float64{
		opCreate: 60, opGet: 30, opUpdate: 70, opDelete: 40, opList: 90,
		opPair: 100, opSeedMix: 62, opSteady: 46, opRead95: 32,
	}
}

// planted is a study of all operations, as the kind describes them, in which each
// took cost in every one of enough rounds.
func planted(t *testing.T, cost map[string]float64) check.Input {
	t.Helper()
	const rounds, visit = 16, 1000 // more than all bounds together take
	var in check.Input
	in.Final, in.Contenders = true, []tare.Contender{{ID: "good", Role: tare.RoleBaseline}, {ID: "face", Role: tare.RoleContender}}
	k, dir := kind(), t.TempDir()
	for _, op := range allOps() {
		w := workload(op, 1000, 10)
		made, err := k.Input(w, "", dir)
		if err != nil {
			t.Fatal(err)
		}
		w.SHA256, w.Pool = made.SHA256, made.Bodies
		if w, err = k.Describe(w, made); err != nil {
			t.Fatal(err)
		}
		in.Study.Workloads = append(in.Study.Workloads, w)
		for r := range rounds {
			for _, c := range in.Contenders {
				us := costs()[op]
				if c.ID == "face" {
					us = cost[op]
				}
				wobble := 1 + 0.01*float64(r%3)
				in.Slices = append(in.Slices, tare.Slice{
					Round: r + 1, Tau: 1, Workload: w.ID, Contender: c.ID,
					Ops: visit, WallNS: int64(us * wobble * visit * float64(time.Microsecond)),
				})
			}
		}
	}
	return in
}

// A pair that costs less than its create, and a mix outside its parts on either
// side, void the workload they are found on, and no other.
func TestPartsThatDoNotAddUp(t *testing.T) {
	c, _ := check.Named("part-whole")
	if found := c.Run(planted(t, costs())); len(found) > 0 {
		t.Fatalf("all is as it should be, and it found %+v", found)
	}
	for name, v := range map[string]struct {
		op   string
		us   float64
		want string
	}{
		"a pair below its create":  {opPair, 50, "one on create, which is a part of it"},
		"a mix below its cheapest": {opSteady, 25, "the cheapest of the operations that it is a mix of"},
		"a mix above its dearest":  {opSeedMix, 120, "the dearest of the operations that it is a mix of"},
		"gets as dear as updates":  {opRead95, 80, "the dearest of the operations that it is a mix of"},
		"gets that cost nothing":   {opRead95, 20, "the cheapest of the operations that it is a mix of"},
	} {
		t.Run(name, func(t *testing.T) {
			cost := costs()
			cost[v.op] = v.us
			found := c.Run(planted(t, cost))
			if c.Severity != tare.Void || len(found) != 1 || found[0].Contender != "face" || found[0].Workload != v.op || !strings.Contains(found[0].Message, v.want) {
				t.Errorf("found %+v, want one on %s: %s", found, v.op, v.want)
			}
		})
	}
}

// monotone holds that the latencies which the kind reports of the segments of
// workload id do not fall from one percentile to the next, whoever asked; and that
// the workload is void where a trial of contender who says that they do.
func monotone(t *testing.T, r *tare.Result, id, who string) {
	t.Helper()
	c, _ := check.Named("part-whole")
	var in check.Input
	in.Final, in.Contenders, in.Trials = true, r.Contenders, slices.Clone(r.Trials)
	if found := c.Run(in); len(found) > 0 {
		t.Errorf("found %+v", found)
	}
	for i, tr := range in.Trials {
		s := tr.Samples[id]
		if s == nil {
			continue
		}
		if s["p50_ns"] <= 0 || s["p50_ns"] > s["p90_ns"] || s["p90_ns"] > s["p99_ns"] || s["p99_ns"] > s["p99_9_ns"] || s["p99_9_ns"] > s["max_ns"] {
			t.Errorf("%s: %v", tr.Contender, s)
		}
		if tr.Contender == who {
			lie := maps.Clone(s)
			lie["p99_ns"] = s["p90_ns"] / 2
			in.Trials[i].Samples = map[string]tare.Sample{id: lie}
		}
	}
	found := c.Run(in)
	if len(found) != 1 || found[0].Contender != who || found[0].Workload != id || !strings.Contains(found[0].Message, "p99_ns is ") {
		t.Errorf("planted, and found %+v", found)
	}
}
