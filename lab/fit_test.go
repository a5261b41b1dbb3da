package lab_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/plan"
	"github.com/tarebench/tare/lab"
)

// wide is a study of many workloads and contenders; a claim is about lean on w3.
func wide() tare.Study {
	s := study()
	s.Criteria = nil
	s.Workloads = nil
	for i := range 6 {
		s.Workloads = append(s.Workloads, tare.Workload{ID: fmt.Sprintf("w%d", i), Fixture: "x", Op: "marshal"})
	}
	for i := range 5 {
		s.Contenders = append(s.Contenders, tare.Entry{ID: fmt.Sprintf("more%d", i), Use: "lean"})
	}
	s.Claims = []tare.Claim{{ID: "F", Source: "s", Kind: tare.ClaimRatio, Contender: "lean", Workload: "w3", Metric: "time", Baseline: 2, Value: 1, Statement: "twice"}}
	s.Budget.Full = time.Second // so that no budget here is a short one
	return s
}

// Any budget from the least on gives verdicts: what it has no time for is left
// out and named with the budget that would do, what a claim is about last.
func TestAnyBudgetWorks(t *testing.T) {
	before := -1
	for _, budget := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, time.Minute, 10 * time.Minute} {
		o := options(t, script())
		o.Quick, o.User, o.Budget = false, true, budget
		r, err := lab.Run(context.Background(), wide(), o)
		if err != nil {
			t.Fatalf("%v: %v", budget, err)
		}
		if r.RoundsDone < plan.LeastRounds(len(r.Workloads), 1) {
			t.Errorf("%v: %d rounds", budget, r.RoundsDone)
		}
		if r.Seconds > 1.3*budget.Seconds() {
			t.Errorf("%v: measured for %.1f s", budget, r.Seconds)
		}
		answered := false
		for _, c := range r.Comparisons {
			answered = answered || c.Contender == "lean" && c.Workload == "w3" && c.Low > 0
		}
		if !answered {
			t.Errorf("%v: the comparison that a claim is about has no interval", budget)
		}
		for _, l := range r.NotWeighed {
			if !strings.Contains(l.Why, "--budget ") {
				t.Errorf("%v: %s is %s: that names no budget", budget, l.What, l.Why)
			}
		}
		if n := len(r.NotWeighed); before >= 0 && n > before {
			t.Errorf("%v leaves out %d parts, a shorter budget %d", budget, n, before)
		} else {
			before = n
		}
		t.Logf("%v: %d rounds in %.1f s, %d parts left out", budget, r.RoundsDone, r.Seconds, len(r.NotWeighed))
	}
	if before != 0 {
		t.Errorf("ten minutes leave out %d parts", before)
	}
}

// The one contender that the shortest budget leaves can be compared: it is no
// trap, though a trap is listed first and a claim is about it.
func TestTheLastContenderLeftIsCompared(t *testing.T) {
	s := wide()
	s.Contenders[1], s.Contenders[2] = s.Contenders[2], s.Contenders[1]
	of := s.Claims[0]
	of.ID, of.Contender = "T", "trap"
	s.Claims = append(s.Claims, of)
	o := options(t, script())
	o.Quick, o.User, o.Budget = false, true, 5*time.Second
	r, err := lab.Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	if c := compared(t, r, "lean", "time"); !(c.Low > 0) {
		t.Errorf("lean has no interval: %+v; left out: %+v", c, r.NotWeighed)
	}
}

// A run that is resumed leaves out what its plan left out.
func TestAResumedRunKeepsItsPart(t *testing.T) {
	o := options(t, script())
	o.Quick, o.User, o.Budget = false, true, 10*time.Second
	stop := make(chan struct{})
	o.Stop = stop
	o.Progress = func(e lab.Event) {
		if e.Phase == "round" && e.Round == 5 {
			close(stop)
		}
	}
	first, err := lab.Run(context.Background(), wide(), o)
	if err != nil || first.Stopped != lab.Interrupted {
		t.Fatalf("stopped %v, %v", first, err)
	}
	o.Stop, o.Progress, o.Resume = nil, nil, true
	second, err := lab.Run(context.Background(), wide(), o)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := len(first.Workloads), len(second.Workloads); a != b || len(first.NotWeighed) != len(second.NotWeighed) || second.Plan.Revised != 4 {
		t.Errorf("%d workloads before and %d after, revised after %d rounds", a, b, second.Plan.Revised)
	}
}
