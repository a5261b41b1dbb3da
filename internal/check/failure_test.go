package check

import (
	"slices"
	"testing"

	"github.com/tarebench/tare"
)

// studyWithFailures returns the sound study with failed trials of contender in
// those rounds. Twelve rounds are planned.
func studyWithFailures(contender string, rounds ...int) Input {
	in := soundStudy()
	in.Plan.RoundsPlanned = 12
	for i := range in.Trials {
		if t := &in.Trials[i]; t.Contender == contender && slices.Contains(rounds, t.Round) {
			t.Error = &tare.TrialError{Class: tare.ErrExit, Message: "m"}
		}
	}
	return in
}

// studyWithErrors returns the sound study with an operation of lean that returned
// an error in each of those rounds.
func studyWithErrors(rounds ...int) Input {
	in := soundStudy()
	in.Plan.RoundsPlanned = 12
	for i := range in.Slices {
		if s := &in.Slices[i]; s.Contender == "lean" && s.Index == 4 && slices.Contains(rounds, s.Round) {
			s.Errors = 2
		}
	}
	return markStudy(in)
}

func markStudy(in Input) Input {
	in.Trials = Mark(in.Trials, in.Slices, base, in.Plan.RoundsPlanned)
	return in
}

func TestFailureRule(t *testing.T) {
	for _, c := range []struct {
		failed  string // a round each, x: it failed
		planned int
		want    string
	}{
		{"", 12, ""},
		{"............", 12, ""},
		{"x...........", 12, ""},
		{"x.x.x.......", 12, ""},
		{"x.x.x.x.....", 12, "more than a quarter of 12 rounds planned failed"},
		{"x.x.x.x.....", 16, ""},
		{"..........xx", 60, "two rounds in a row failed"},
		{"x", 4, ""},
		{"x", 3, "more than a quarter of 3 rounds planned failed"},
		{"x", 1, "more than a quarter of 1 round planned failed"},
	} {
		var failed []bool
		for _, f := range c.failed {
			failed = append(failed, f == 'x')
		}
		if got := whyTooMany(failed, c.planned); got != c.want {
			t.Errorf("%q of %d: %q, want %q", c.failed, c.planned, got, c.want)
		}
	}
}

func TestTrialVoidsItsRound(t *testing.T) {
	wantFinding(t, "trial", studyWithFailures("lean", 3), tare.Warn, "lean", "", "1 of 12 rounds is void: died in round 3: m")
	wantFinding(t, "trial", studyWithFailures("lean", 3, 5, 8), tare.Warn, "lean", "", "3 of 12 rounds are void: died in round 3: m (and in 2 trials more)")
	wantFinding(t, "trial", studyWithFailures("lean", 3, 5, 8, 11), tare.Void, "lean", "", "died in round 3: m (and in 3 trials more); more than a quarter of 12 rounds planned failed")
	wantFinding(t, "trial", studyWithFailures("lean", 3, 4), tare.Void, "lean", "", "died in round 3: m (and in 1 trial more); two rounds in a row failed")

	in := studyWithFailures("lean")
	in.Trials = append(in.Trials, tare.Trial{Round: 12, Tau: 8, Contender: "lean", Error: &tare.TrialError{Class: tare.ErrDeadline, Message: "m"}})
	wantFinding(t, "trial", in, tare.Warn, "lean", "", "1 long round is void: hung in the long round after round 12: m")
	in.Trials[3].Error = &tare.TrialError{Class: tare.ErrExit, Message: "m"}
	wantFinding(t, "trial", in, tare.Warn, "lean", "", "1 of 12 rounds and 1 long round are void: died in round 1: m (and in 1 trial more)")
}

func TestErrorVoidsItsRound(t *testing.T) {
	wantFinding(t, "error-in-loop", studyWithErrors(4), tare.Warn, "lean", load, "1 of 12 rounds is void: in round 4, 2 of 1000 timed operations returned an error")
	wantFinding(t, "error-in-loop", studyWithErrors(4, 9), tare.Warn, "lean", load, "2 of 12 rounds are void: in round 4, round 9, 4 of 2000 timed operations returned an error")
	wantFinding(t, "error-in-loop", studyWithErrors(4, 5), tare.Void, "lean", load, "4 of 12000 timed operations returned an error")

	in := studyWithErrors(4)
	in.Trials = studyWithFailures("lean", 5).Trials // it died in the next one
	wantFinding(t, "error-in-loop", markStudy(in), tare.Void, "lean", load, "2 of 12000 timed operations returned an error")
	in.Trials = studyWithFailures("lean", 4).Trials // it died of it
	wantFinding(t, "error-in-loop", markStudy(in), tare.Warn, "lean", load, "1 of 12 rounds is void: in round 4, 2 of 1000 timed operations returned an error")

	in = studyWithErrors(4)
	for i := range in.Trials {
		if tr := &in.Trials[i]; tr.Contender == "lean" && tr.Round == 4 {
			tr.Samples[load][tare.KeyTimeouts] = 1
		}
	}
	wantFinding(t, "error-in-loop", markStudy(in), tare.Void, "lean", load, "2 of 12000 timed operations returned an error")
}

// What the baseline lost everybody did: a workload of a round, or all of it.
func TestMarksOfTheBaseline(t *testing.T) {
	in := studyWithFailures(base, 6)
	for i := range in.Slices {
		if s := &in.Slices[i]; s.Contender == base && s.Round == 9 && s.Index == 0 {
			s.Errors = 1
		}
	}
	in = markStudy(in)
	for _, tr := range in.Trials {
		whole, rest := tr.Round != 6, tr.Round != 6
		if tr.Round == 9 {
			whole = false
		}
		if tr.Counts(load) != whole || tr.Counts("another") != rest || tr.Counts("") != whole {
			t.Errorf("round %d of %s: %+v, error %v", tr.Round, tr.Contender, tr.Void, tr.Error)
		}
	}
	if again := markStudy(in); !slices.EqualFunc(again.Trials, in.Trials, func(a, b tare.Trial) bool { return slices.Equal(a.Void, b.Void) }) {
		t.Error("marked twice, trials have other marks")
	}
}

// Other checks see nothing of what does not count.
func TestChecksReadWhatCounts(t *testing.T) {
	in := markStudy(studyWithFailures("lean", 3))
	of := in.withoutVoid()
	if len(of.Trials) != len(in.Trials)-1 || len(of.Slices) != len(in.Slices)-10 {
		t.Errorf("without a failed trial %d of %d trials and %d of %d slices are left", len(of.Trials), len(in.Trials), len(of.Slices), len(in.Slices))
	}
	in = studyWithErrors(7)
	of = in.withoutVoid()
	for _, s := range of.Slices {
		if s.Contender == "lean" && s.Round == 7 {
			t.Fatal("a slice of a round with errors is left")
		}
	}
	for i, tr := range of.Trials {
		if _, there := tr.Samples[load]; there != (tr.Contender != "lean" || tr.Round != 7) {
			t.Errorf("round %d of %s has its sample: %v", tr.Round, tr.Contender, there)
		}
		if _, there := in.Trials[i].Samples[load]; !there {
			t.Errorf("round %d of %s lost its sample in the original", tr.Round, tr.Contender)
		}
	}
	// Only the round with errors reaches the floor.
	in = studyWithErrors(7)
	for i := range in.Trials {
		if tr := &in.Trials[i]; tr.Contender == "lean" {
			tr.Samples[load]["bytes_per_op"] = 64
		}
		if tr := &in.Trials[i]; tr.Contender == "lean" && tr.Round == 7 {
			tr.Samples[load]["bytes_per_op"] = 16384
		}
	}
	if fs := Run(in); !slices.ContainsFunc(fs, func(f tare.Finding) bool { return f.Check == "alloc-floor" && f.Contender == "lean" }) {
		t.Errorf("a round that does not count was read: %+v", fs)
	}
}
