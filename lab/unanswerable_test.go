package lab_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/lab/labtest"
)

// A study stops before its first round if no contender that it asks about takes part
// any more, at any budget, and goes on if one of them does.
func TestStopsIfUnanswerable(t *testing.T) {
	act := labtest.Act{NSPerOp: 40e3, Spread: 0.05, Drift: 0.02, BytesPerOp: 20000, AllocsPerOp: 200, CycleNS: 4e6, OutputBytes: 11000}
	failing := act
	failing.FailPilot = true
	unbuilt := act
	unbuilt.BuildError = "main.go:6: undefined"
	wrong := act
	wrong.Wrong = "nothing"
	about := func(id string) []tare.Criterion {
		return []tare.Criterion{{Contender: id, Metric: "time", Ratio: "<= 0.6"}}
	}
	for name, c := range map[string]struct {
		lean     labtest.Act
		others   []tare.Entry
		criteria []tare.Criterion
		answer   []tare.Answer
		change   func(*lab.Options)
		goesOn   bool
		atFull   bool // it goes on at the full budget only: at quick the other is not measured
	}{
		"fails in the pilot":            {lean: failing, criteria: about("lean")},
		"is not built":                  {lean: unbuilt, criteria: about("lean")},
		"answers wrong":                 {lean: wrong, criteria: about("lean")},
		"nothing is asked, all lost":    {lean: failing},
		"asked of all, all lost":        {lean: failing, criteria: about("")},
		"another is not asked about":    {lean: failing, others: []tare.Entry{{ID: "other"}}, criteria: about("lean")},
		"another is asked about":        {lean: failing, others: []tare.Entry{{ID: "other"}}, criteria: about(""), goesOn: true},
		"another is in an answer":       {lean: failing, others: []tare.Entry{{ID: "other"}}, criteria: about("lean"), answer: []tare.Answer{{Text: "{w time least}"}}, atFull: true},
		"another was chosen by name":    {lean: failing, others: []tare.Entry{{ID: "other"}}, criteria: about("lean"), change: func(o *lab.Options) { o.Only.Contenders = []string{"other"} }, goesOn: true},
		"only the baseline was chosen":  {lean: act, criteria: about("lean"), change: func(o *lab.Options) { o.Only.Contenders = []string{"base"} }, goesOn: true},
		"a value of the baseline":       {lean: failing, criteria: []tare.Criterion{{Contender: "base", Metric: "time", Value: "<= 1s"}}, goesOn: true},
		"a trap must be caught":         {lean: failing, others: []tare.Entry{{ID: "trap", Expect: tare.Expect{Void: []string{"wrong-answer"}}}}, criteria: about("lean"), goesOn: true},
		"the number of rounds is fixed": {lean: failing, criteria: about("lean"), change: func(o *lab.Options) { o.Rounds = 3 }, goesOn: true},
		"it takes part":                 {lean: act, criteria: about("lean"), goesOn: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := script()
			s.Contenders["lean"], s.Contenders["other"] = c.lean, act
			asks := study()
			asks.Contenders = append([]tare.Entry{{ID: "base"}, {ID: "lean"}}, c.others...)
			asks.Criteria, asks.Answer = c.criteria, c.answer
			for _, quick := range []bool{true, false} {
				o := options(t, s)
				o.Quick, o.User, o.Budget = quick, !quick, 10*time.Minute
				if c.change != nil {
					c.change(&o)
				}
				last, stop := lab.Event{}, make(chan struct{})
				o.Stop = stop
				o.Progress = func(e lab.Event) {
					if last = e; e.Phase == "round" && e.Round == 1 {
						close(stop) // it goes on, which is all that is asked
					}
				}
				goesOn := c.goesOn || c.atFull && !quick
				r, err := lab.Run(context.Background(), asks, o)
				if err != nil {
					t.Fatal(err)
				}
				switch {
				case goesOn && (r.Stopped == lab.Unanswerable || r.RoundsDone == 0):
					t.Errorf("quick %v: stopped %q after %d rounds", quick, r.Stopped, r.RoundsDone)
				case !goesOn && (r.Stopped != lab.Unanswerable || r.RoundsDone != 0):
					t.Errorf("quick %v: stopped %q after %d rounds, want none", quick, r.Stopped, r.RoundsDone)
				}
				if last.Phase != "done" || last.Message != r.Stopped {
					t.Errorf("quick %v: the last event is %+v", quick, last)
				}
			}
		})
	}
}

// A study stops at the first look if what it asks about is void in every round, and
// not before.
func TestStopsAtALookThatFindsAllVoid(t *testing.T) {
	s := script()
	act := s.Contenders["lean"]
	act.Errors = 3
	s.Contenders["lean"] = act
	asks := study()
	asks.Contenders = asks.Contenders[:2]
	o := options(t, s)
	o.Quick, o.User, o.Budget = false, true, 10*time.Minute
	r, err := lab.Run(context.Background(), asks, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Stopped != lab.Unanswerable || r.RoundsDone != r.Plan.Looks[0] || r.RoundsDone >= r.Plan.RoundsPlanned {
		t.Errorf("stopped %q after %d of %d rounds; looks %v", r.Stopped, r.RoundsDone, r.Plan.RoundsPlanned, r.Plan.Looks)
	}
	if v := verdict(r, "lean"); v.Verdict != tare.VoidRuling {
		t.Errorf("verdict %+v", v)
	}
}

var errMadeUp = errors.New("made up")

// The programs of commands are built before the first pilot: what cannot be built is
// out, and what PATH has is given as the study names it.
func TestBuildsForCommands(t *testing.T) {
	s, o, k := peers(t, "ruby", "peerd")
	k.lax = "command"
	var built [][]string
	piloted := false
	o.Rounds = 1
	o.Progress = func(e lab.Event) { piloted = piloted || e.Phase == "pilot" }
	o.BuildFor = func(_ context.Context, command []string) ([]string, error) {
		if piloted {
			t.Errorf("%q is built after a pilot", command)
		}
		built = append(built, command)
		return []string{"A=b"}, nil
	}
	if _, err := lab.Run(context.Background(), s, o); err != nil {
		t.Fatal(err)
	}
	if len(built) != 1 || built[0][0] != "/bin/peerd" || built[0][1] != "$DIR/peer.conf" {
		t.Errorf("built for %q", built)
	}
	if !slices.Contains(k.env, "A=b") {
		t.Errorf("the command is started with %q, without what it needs to find what was built", k.env)
	}
	o = freshDir(t, o)
	o.BuildFor = func(context.Context, []string) ([]string, error) { return nil, errMadeUp }
	r, err := lab.Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	if c, _ := r.Contender("command"); c.Error != errMadeUp.Error() {
		t.Errorf("the command became %+v", c)
	}
}
