package lab_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/lab"
)

// examining is a kind with three exams: lean answers case 1 of the first
// differently, dies of its case 2, and cannot take the others.
type examining struct{ lab.Kind }

func (examining) Exams(string) ([]wire.Workload, error) {
	return []wire.Workload{
		{ID: "exam/odd", Op: "marshal", Bodies: 4},
		{ID: "exam/broken", Op: "unmarshal", Bodies: 2},
		{ID: "exam/broken again", Op: "marshal", Bodies: 1},
	}, nil
}

func (examining) Reference() string { return "the book" }

func (examining) Differ(exam wire.Workload, a wire.Answer) (tare.Difference, bool) {
	d := tare.Difference{Op: exam.Op, Case: exam.ID, Class: tare.DiffersInValue, Got: string(a.Output), Says: "writes " + string(a.Output), BearsOn: []string{"marshal"}}
	if a.Error != "" {
		d.Class, d.Got, d.Says = tare.DiffersInAcceptance, a.Error, "fails"
		return d, true
	}
	return d, string(a.Output) == "odd"
}

func (k examining) Open(ctx context.Context, p build.Program, spec trial.Spec) (trial.Conn, error) {
	c, err := k.Kind.Open(ctx, p, spec)
	return &examinee{Conn: c, lean: p.Contender.Name == "lean"}, err
}

// examinee plays the answers to exams; everything else is scripted.
type examinee struct {
	trial.Conn
	lean, dead bool
}

func (c *examinee) Do(ctx context.Context, q wire.Request) (wire.Reply, error) {
	on := q.On
	if q.Workload != nil {
		on = q.Workload.ID
	}
	switch {
	case !strings.HasPrefix(on, "exam/") && q.Op != wire.OpHello:
		return c.Conn.Do(ctx, q)
	case q.Op == wire.OpHello:
		a, err := c.Conn.Do(ctx, q)
		a.PID = os.Getpid()
		return a, err
	case q.Op == wire.OpPrepare:
		return wire.Reply{Prepared: wire.Prepared{Unsupported: c.lean && strings.HasPrefix(on, "exam/broken")}}, nil
	case c.dead || c.lean && q.Cases[0] == 2:
		c.dead = true
		return wire.Reply{}, &tare.TrialError{Class: tare.ErrExit, Message: "stack overflow"}
	case c.lean && q.Cases[0] == 1:
		return wire.Reply{Answers: []wire.Answer{{Case: 1, Output: []byte("odd")}}}, nil
	}
	return wire.Reply{Answers: []wire.Answer{{Case: q.Cases[0], Output: []byte("right")}}}, nil
}

func TestExams(t *testing.T) {
	o := options(t, script())
	o.Kinds["codec"] = examining{o.Kinds["codec"]}
	r, err := lab.Run(context.Background(), study(), o)
	if err != nil {
		t.Fatal(err)
	}
	var who []string
	for _, s := range r.Semantics {
		who = append(who, s.Contender)
		if s.Reference != "the book" {
			t.Errorf("%s is compared with %q", s.Contender, s.Reference)
		}
		if s.Contender != "lean" && (len(s.Differences) != 0 || s.Cases != 7 || len(s.Unsupported) != 0) {
			t.Errorf("%s, which does nothing odd: %+v", s.Contender, s)
		}
		if s.Contender != "lean" {
			continue
		}
		if s.Cases != 4 || len(s.Differences) != 2 || !slices.Equal(s.Unsupported, []string{"unmarshal"}) {
			t.Fatalf("lean: %+v, want 4 cases, 2 differences, no unmarshal", s)
		}
		if s.Differences[0].Got != "odd" || !strings.Contains(s.Differences[1].Got, "the process ended") || !strings.Contains(s.Differences[1].Got, "stack overflow") {
			t.Errorf("lean: %+v", s.Differences)
		}
	}
	if !slices.Equal(who, []string{"base", "lean", "trap"}) {
		t.Errorf("examined were %v, want every contender but control and null", who)
	}
	if f := found(r, "semantic-diff", "lean"); f == nil || f.Severity != tare.Warn {
		t.Errorf("semantic-diff found %+v", f)
	}
	priced := slices.ContainsFunc(r.Verdicts, func(v tare.Verdict) bool {
		return strings.HasSuffix(v.Sentence, "and writes odd (one of 2 differences in meaning).")
	})
	if !priced {
		t.Errorf("no verdict names the price: %+v", r.Verdicts)
	}
	c, _ := r.Contender("lean")
	if c.Adoption.IdleRSSBytes <= 0 {
		t.Errorf("lean's memory before its first request was not seen: %+v", c.Adoption)
	}
	if len(r.Cost) != 1 || r.Cost[0].OnePercent <= 0 {
		t.Errorf("cost is %+v", r.Cost)
	}
}

// untimed is a kind whose exams are the study's workloads, as the documents of tare json are.
type untimed struct{ lab.Kind }

func (untimed) Exams(string) (exams []wire.Workload, err error) {
	for _, w := range wide().Workloads {
		exams = append(exams, wire.Workload{ID: w.ID, Op: w.Op, Bodies: 1})
	}
	return exams, nil
}

func (untimed) Reference() string { return "the book" }

func (untimed) Differ(exam wire.Workload, _ wire.Answer) (tare.Difference, bool) {
	return tare.Difference{Op: exam.Op, Case: exam.ID, Class: tare.DiffersInValue, Says: "writes " + exam.ID}, true
}

// TestExamsOfUntimedWorkloads: a workload that the budget leaves out is asked for all the same.
func TestExamsOfUntimedWorkloads(t *testing.T) {
	o := options(t, script())
	o.Quick, o.User, o.Budget = false, true, 5*time.Second
	o.Kinds["codec"] = untimed{o.Kinds["codec"]}
	r, err := lab.Run(context.Background(), wide(), o)
	if err != nil {
		t.Fatal(err)
	}
	if all := len(wide().Workloads); len(r.Workloads) == all {
		t.Fatal("the budget leaves out no workload")
	}
	if len(r.Semantics) == 0 {
		t.Fatal("nobody was asked")
	}
	for _, s := range r.Semantics {
		if all := len(wide().Workloads); s.Cases != all || len(s.Differences) != all {
			t.Errorf("%s was asked for %d cases and differs in %d, want %d", s.Contender, s.Cases, len(s.Differences), all)
		}
	}
}
