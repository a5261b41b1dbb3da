package lab_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/lab"
)

func TestAPartOfAStudy(t *testing.T) {
	st := study()
	st.Workloads = append(st.Workloads, tare.Workload{ID: "devices-50/marshal", Fixture: "x", Op: "marshal"}, tare.Workload{ID: "devices-50/stream", Fixture: "x", Op: "stream"})
	st.Claims = []tare.Claim{{ID: "F", Kind: tare.ClaimRatio, Contender: "lean", Workload: "w", Metric: "time", Baseline: 2, Value: 1, Unit: "ns", Statement: "twice"}}
	for _, c := range []struct {
		name                  string
		quick                 bool
		only                  lab.Only
		contenders, workloads []string
	}{
		{"everything", false, lab.Only{}, []string{"base", "lean", "trap"}, []string{"w", "devices-50/marshal", "devices-50/stream"}},
		{"by contender", true, lab.Only{Contenders: []string{"t*"}}, []string{"base", "trap"}, []string{"w", "devices-50/marshal", "devices-50/stream"}},
		{"by workload, over the slash", true, lab.Only{Workloads: []string{"dev*"}}, []string{"base", "lean", "trap"}, []string{"devices-50/marshal", "devices-50/stream"}},
		{"by both", false, lab.Only{Contenders: []string{"lean", "trap"}, Workloads: []string{"*/stream", "w"}}, []string{"base", "lean", "trap"}, []string{"w", "devices-50/stream"}},
	} {
		o := options(t, script())
		o.Quick, o.Only, o.Rounds = c.quick, c.only, 2
		r, err := lab.Run(context.Background(), st, o)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var contenders, workloads []string
		for _, x := range r.Contenders {
			if x.Role != tare.RoleControl && x.Role != tare.RoleNull {
				contenders = append(contenders, x.ID)
			}
		}
		for _, w := range r.Workloads {
			workloads = append(workloads, w.ID)
		}
		if !slices.Equal(contenders, c.contenders) || !slices.Equal(workloads, c.workloads) {
			t.Errorf("%s: %v on %v, want %v on %v", c.name, contenders, workloads, c.contenders, c.workloads)
		}
		if left := len(r.NotWeighed); left != 3+3-len(contenders)-len(workloads) {
			t.Errorf("%s: left out are %+v", c.name, r.NotWeighed)
		}
		if out := r.Claims[0]; !slices.Contains(workloads, "w") && out.Outcome != tare.NotMeasured {
			t.Errorf("%s: the claim about what was left out is %q", c.name, out.Outcome)
		}
	}
}

func TestAPartThatIsNothing(t *testing.T) {
	for _, only := range []lab.Only{{Workloads: []string{"nothing*"}}, {Contenders: []string{"[a"}}, {Workloads: []string{"[a"}}} {
		o := options(t, script())
		o.Only = only
		_, err := lab.Run(context.Background(), study(), o)
		var se *lab.StudyError
		if !errors.As(err, &se) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v, want one line of what is wrong with it", only, err)
		}
	}
}

// All processes of a round are there at once, each with its heap.
func TestAHeapThatDoesNotFit(t *testing.T) {
	st := study()
	st.Workloads[0].Heap = 500e6 // five processes, twice over: 5 GB
	for memory, fits := range map[int64]bool{0: true, 4e9: false, 8e9: true} {
		o := options(t, script())
		o.Machine.Memory, o.Rounds = memory, 2
		_, err := lab.Run(context.Background(), st, o)
		var se *lab.StudyError
		if fits && err != nil || !fits && (!errors.As(err, &se) || !strings.Contains(err.Error(), "need about 5000 MB")) {
			t.Errorf("on a machine with %d bytes: %v", memory, err)
		}
	}
}

// A statement speaks of no workload: beside other claims it brings none in, and
// alone it leaves all of them.
func TestAStatementBringsNoWorkloadIn(t *testing.T) {
	st := study()
	st.Criteria = nil
	st.Workloads = append(st.Workloads, tare.Workload{ID: "v", Fixture: "x", Op: "marshal"})
	st.Claims = []tare.Claim{{ID: "S", Kind: tare.ClaimStatement, Contender: "lean", Check: "semantic-diff", Statement: "the same"}}
	for want, claims := range map[int][]tare.Claim{
		2: st.Claims,
		1: append(st.Claims, tare.Claim{ID: "F", Kind: tare.ClaimRatio, Contender: "lean", Workload: "w", Metric: "time", Baseline: 2, Value: 1, Unit: "ns", Statement: "twice"}),
	} {
		st.Claims = claims
		part, _, err := lab.Part(st, true, lab.Only{})
		if err != nil || len(part.Workloads) != want {
			t.Errorf("with %d claims %d workloads are measured, want %d (%v)", len(claims), len(part.Workloads), want, err)
		}
	}
}

// A criterion about everybody does not bring everybody into a quick run where
// others name whom the question is about.
func TestQuickTakesThoseThatAreNamed(t *testing.T) {
	s := study()
	s.Contenders = append(s.Contenders, tare.Entry{ID: "other"})
	s.Criteria = []tare.Criterion{{Metric: "time", Ratio: "<= 0.6"}}
	ids := func() (ids []string) {
		part, _, err := lab.Part(s, true, lab.Only{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range part.Contenders {
			ids = append(ids, e.ID)
		}
		return ids
	}
	if got := strings.Join(ids(), " "); got != "base lean trap other" {
		t.Errorf("nobody is named, quick measures %s", got)
	}
	s.Criteria = append(s.Criteria, tare.Criterion{Contender: "lean", Metric: "time", Ratio: "<= 1"})
	if got := strings.Join(ids(), " "); got != "base lean trap" {
		t.Errorf("lean is named, quick measures %s", got)
	}
}

func TestQuickTakesTheWorkloadsItHasTimeFor(t *testing.T) {
	s := study()
	other := s.Workloads[0]
	other.ID = "other"
	s.Workloads = append(s.Workloads, other)
	s.Budget.QuickWorkloads = []string{"other"}
	part, left, err := lab.Part(s, true, lab.Only{})
	if err != nil || len(part.Workloads) != 1 || part.Workloads[0].ID != "other" || len(left) != 1 || !strings.Contains(left[0].Why, "full") {
		t.Errorf("quick measures %v, leaves out %v, %v", part.Workloads, left, err)
	}
	if part, _, _ := lab.Part(s, false, lab.Only{}); len(part.Workloads) != 2 {
		t.Errorf("full measures %v", part.Workloads)
	}
	// A continuous segment that is named is measured, and else it is not.
	for i := range s.Workloads {
		s.Workloads[i].Traffic = &tare.Traffic{Connections: 1, Segment: 4 * time.Second}
	}
	part, left, err = lab.Part(s, true, lab.Only{})
	if err != nil || len(part.Workloads) != 1 || part.Workloads[0].ID != "other" || len(left) != 1 {
		t.Errorf("quick measures %v, leaves out %v, %v", part.Workloads, left, err)
	}
	s.Budget.QuickWorkloads = nil
	if _, _, err := lab.Part(s, true, lab.Only{}); err == nil || !strings.Contains(err.Error(), "--budget full") {
		t.Errorf("of segments alone: %v", err)
	}
}

// Who asks for a workload by name asks for the contenders it lists, at any budget.
func TestAWorkloadBringsThoseItListsIn(t *testing.T) {
	s := tare.Study{
		ID: "s", Kind: "k", Baseline: "base", Metrics: []string{"time"},
		Contenders: []tare.Entry{{ID: "base"}, {ID: "lean"}, {ID: "fat"}, {ID: "other"}},
		Workloads:  []tare.Workload{{ID: "w", Op: "o"}, {ID: "causes", Op: "o", Contenders: []string{"fat"}}},
		Criteria:   []tare.Criterion{{Contender: "lean", Workload: "w", Metric: "time", Ratio: "<= 1"}},
	}
	for _, c := range []struct {
		only lab.Only
		want []string
	}{
		{lab.Only{}, []string{"base", "lean"}},
		{lab.Only{Workloads: []string{"causes"}}, []string{"base", "fat"}},
		{lab.Only{Workloads: []string{"causes"}, Contenders: []string{"lean"}}, []string{"base"}},
		{lab.Only{Workloads: []string{"*"}}, []string{"base", "lean", "fat"}},
	} {
		part, _, err := lab.Part(s, true, c.only)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range part.Contenders {
			got = append(got, e.ID)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.only, got, c.want)
		}
	}
}
