package lab_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/lab"
)

// describing is a kind that knows its inputs: 100 bytes an item, and as many
// different keys as items, at most distinct.
type describing struct {
	lab.Kind
	distinct int
	err      error
}

func (d describing) Describe(w tare.Workload, in wire.Workload) (tare.Workload, error) {
	w.Bytes, w.Keys, w.DistinctKeys = int64(in.Bodies*w.N*100), w.N, min(w.N, d.distinct)
	return w, d.err
}

// sizes is a study of three sizes on which base's time grows with the size and
// lean's does not.
func sizes(t *testing.T, d describing) (tare.Study, lab.Options) {
	s := script()
	for _, id := range []string{"base", "lean"} {
		act := s.Contenders[id]
		act.Ratio = map[string]float64{"small": 0.1, "middle": 1, "large": 10}
		if id == "lean" {
			act.Ratio = nil
		}
		s.Contenders[id] = act
	}
	st := study()
	st.Criteria = nil
	st.Contenders = st.Contenders[:2]
	st.Workloads = nil
	for id, n := range map[string]int{"small": 10, "middle": 100, "large": 1000} {
		st.Workloads = append(st.Workloads, tare.Workload{ID: id, Fixture: "x", N: n, Op: "marshal"})
	}
	o := options(t, s)
	o.Rounds = 12
	d.Kind = o.Kinds["codec"]
	o.Kinds["codec"] = d
	return st, o
}

func TestAKindThatKnowsItsInputsIsChecked(t *testing.T) {
	st, o := sizes(t, describing{distinct: 1 << 20})
	r, err := lab.Run(context.Background(), st, o)
	if err != nil {
		t.Fatal(err)
	}
	if w := r.Workloads[0]; w.Bytes != int64(4*100*w.N) || w.Keys != w.N || w.DistinctKeys != w.N {
		t.Errorf("workload %+v", w)
	}
	if len(r.Scaling) != 2 || r.Scaling[0].Contender != "base" || r.Scaling[1].Contender != "lean" {
		t.Fatalf("scaling %+v, want base and lean", r.Scaling)
	}
	if a, b := r.Scaling[0], r.Scaling[1]; math.Abs(a.Exponent-1) > 0.05 || math.Abs(b.Exponent) > 0.05 || a.Low >= a.High || a.Rounds != 12 {
		t.Errorf("scaling %+v, scripted 1 and 0", r.Scaling)
	}
	if f := found(r, "size-scaling", "lean"); f == nil || f.Severity != tare.Warn || f.Workload != "large" {
		t.Errorf("finding %+v, want a warning", f)
	}
	if f := found(r, "size-scaling", "base"); f != nil {
		t.Errorf("finding %+v about a contender that grows", f)
	}
	if f := found(r, "fixture-cardinality", ""); f != nil {
		t.Errorf("finding %+v in a sound pool", f)
	}
}

func TestAPoolOfFewKeysIsVoid(t *testing.T) {
	st, o := sizes(t, describing{distinct: 52})
	r, err := lab.Run(context.Background(), st, o)
	if err != nil {
		t.Fatal(err)
	}
	void := map[string]bool{}
	for _, f := range r.Findings {
		if f.Check == "fixture-cardinality" && f.Severity == tare.Void {
			void[f.Workload] = true
		}
	}
	if len(void) != 2 || void["small"] {
		t.Errorf("void: %v, want the two larger workloads", void)
	}
	_, o = sizes(t, describing{err: errors.New("made up")})
	var se *lab.StudyError
	if _, err := lab.Run(context.Background(), st, o); !errors.As(err, &se) {
		t.Errorf("a pool that cannot be described: %v, want a StudyError", err)
	}
}

// What a kind cannot tell is not judged.
func TestAKindThatKnowsNothing(t *testing.T) {
	st, o := sizes(t, describing{})
	o.Kinds["codec"] = o.Kinds["codec"].(describing).Kind
	r, err := lab.Run(context.Background(), st, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Scaling) > 0 || found(r, "fixture-cardinality", "") != nil || r.Workloads[0].Keys != 0 {
		t.Errorf("scaling %+v, workload %+v", r.Scaling, r.Workloads[0])
	}
}
