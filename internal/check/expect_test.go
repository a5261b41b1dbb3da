package check

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/stats"
)

// trapOutcome returns the outcome of the expectation that the trap in in is void by check.
func trapOutcome(t *testing.T, in Input, check string, notMeasured ...tare.NotWeighed) tare.Expectation {
	t.Helper()
	for i := range in.Contenders {
		in.Contenders[i].Expect = tare.Expect{}
	}
	in.Contenders[4].Expect.Void = []string{check}
	of := Expectations(in, Run(in), notMeasured)
	if len(of) != 1 || of[0].Contender != in.Contenders[4].ID || of[0].Check != check {
		t.Fatalf("expectations = %+v, want one of %s", of, check)
	}
	return of[0]
}

// wantOutcome fails the test unless e has the outcome and the message.
func wantOutcome(t *testing.T, e tare.Expectation, outcome tare.TrapOutcome, message string) {
	t.Helper()
	if e.Outcome != outcome || e.Message != message {
		t.Errorf("%s became %q: %q\nwant %q: %q", e.Check, e.Outcome, e.Message, outcome, message)
	}
}

func TestChecksWithoutChanceDecideAtOnce(t *testing.T) {
	in := soundStudy()
	in.Trials, in.Slices = nil, nil // it was only asked for its answers
	wantOutcome(t, trapOutcome(t, in, "wrong-answer"), tare.Missed, "the contender was measured, and the check found nothing")
	if missed := MissedTraps([]tare.Expectation{trapOutcome(t, in, "identity"), {Outcome: tare.Caught}, {Outcome: tare.NotEnoughEvidence}}); len(missed) != 1 ||
		missed[0] != "contender trap was expected to be void by identity, and was not: the contender was measured, and the check found nothing" {
		t.Errorf("missed = %q", missed)
	}
	in.Conformance[4].Wrong = 64
	wantOutcome(t, trapOutcome(t, in, "wrong-answer"), tare.Caught, "64 of 64 answers are wrong")

	in = soundStudy()
	in.Slices[9].Contender, in.Slices[9].Errors = "trap", 3 // one round of twelve is left out
	in.Plan.RoundsPlanned = 12
	in.Trials = Mark(in.Trials, in.Slices, base, 12)
	if e := trapOutcome(t, in, "error-in-loop"); e.Outcome != tare.NotEnoughEvidence || !strings.HasPrefix(e.Message, "it only warned: 1 of 12 rounds is void") {
		t.Errorf("a warning became %+v", e)
	}
}

// The one workload that a trap can do is left out after its pilot: its process
// goes on and does nothing.
func TestATrapThatWasAskedNothingIsNotMissed(t *testing.T) {
	in := soundStudy()
	byTrap := func(contender string) bool { return contender == "trap" }
	in.Conformance = slices.DeleteFunc(in.Conformance, func(c tare.Conformance) bool { return byTrap(c.Contender) })
	in.Slices = slices.DeleteFunc(in.Slices, func(s tare.Slice) bool { return byTrap(s.Contender) })
	for i := range in.Trials {
		if byTrap(in.Trials[i].Contender) {
			in.Trials[i].Samples = nil
		}
	}
	wantOutcome(t, trapOutcome(t, in, "wrong-answer", tare.NotWeighed{What: "workload other"}), tare.NotEnoughEvidence, "it can do none of the workloads that were measured")
}

// A trap may be right on the workloads that a budget left, and wrong on another.
// What a study leaves out of every quick run is no excuse.
func TestATrapWhoseWorkloadTheBudgetLeftOutIsNotMissed(t *testing.T) {
	in := soundStudy()
	wantOutcome(t, trapOutcome(t, in, "wrong-answer", tare.NotWeighed{What: "workload param"}), tare.Missed, "the contender was measured, and the check found nothing")
	in.Plan.LeftOut = []tare.NotWeighed{{What: "contender fat"}}
	wantOutcome(t, trapOutcome(t, in, "wrong-answer"), tare.Missed, "the contender was measured, and the check found nothing")
	in.Plan.LeftOut = append(in.Plan.LeftOut, tare.NotWeighed{What: "workload param"})
	wantOutcome(t, trapOutcome(t, in, "wrong-answer"), tare.NotEnoughEvidence, "nothing was found on what was measured, and workload param was not")
	in.Conformance[4].Wrong = 64
	wantOutcome(t, trapOutcome(t, in, "wrong-answer"), tare.Caught, "64 of 64 answers are wrong")
}

func TestWhatWasNotMeasuredIsNotMissed(t *testing.T) {
	in := soundStudy()
	in.Contenders[4].Error = "main.go:3:1: made up"
	wantOutcome(t, trapOutcome(t, in, "wrong-answer"), tare.NotEnoughEvidence, "it could not be built: main.go:3:1: made up")
	wantOutcome(t, trapOutcome(t, in, "build"), tare.Caught, "could not be built: main.go:3:1: made up")
	in.Contenders[4].Error = tare.NotInstalled([]string{"nginx"})
	wantOutcome(t, trapOutcome(t, in, "wrong-answer"), tare.NotEnoughEvidence, "not installed: nginx")

	in = soundStudy()
	in.Plan.RoundsPlanned = 12
	for i, trial := range in.Trials {
		if trial.Contender == "trap" && trial.Round > 10 {
			in.Trials[i].Error = &tare.TrialError{Class: tare.ErrExit, Message: "exit status 3"}
		}
	}
	wantOutcome(t, trapOutcome(t, in, "wrong-answer"), tare.NotEnoughEvidence, "two rounds in a row failed: exit status 3")
	if e := trapOutcome(t, in, "trial"); e.Outcome != tare.Caught {
		t.Errorf("a trap that died became %+v", e)
	}

	in = soundStudy()
	in.Trials = slices.DeleteFunc(in.Trials, func(t tare.Trial) bool { return t.Contender == "trap" })
	in.Conformance = in.Conformance[:4]
	wantOutcome(t, trapOutcome(t, in, "wrong-answer"), tare.NotEnoughEvidence, "it was not measured")
	wantOutcome(t, trapOutcome(t, in, "wrong-answer", tare.NotWeighed{What: "contender trap", Why: "no time"}), tare.NotEnoughEvidence, "no time")
}

// A name that no check has, or a check that never voids a contender, is a mistake
// in the study.
func TestAnExpectationThatCannotComeTrueIsMissed(t *testing.T) {
	for _, id := range []string{"control", "fixture-cardinality", "bimodal", "wrong-anwser"} {
		wantOutcome(t, trapOutcome(t, soundStudy(), id), tare.Missed, "no check of that name voids contenders")
	}
}

// Every check that can void a contender is either without chance, or says what it
// reasons to void.
func TestStatisticalChecksSayWhatTheyNeed(t *testing.T) {
	withoutChance := []string{"build", "trial", "identity", "wrong-answer", "negative-probe", "error-in-loop", "alloc-floor"}
	statistical := []string{
		"delivered", "body-consumed", "does-work", "part-whole", "drift-in-trial", "rate-held", "generator-headroom", "little", "accounting", "timeouts-counted",
	}
	for _, c := range All() {
		of := 0
		if slices.Contains(withoutChance, c.ID) {
			of++
			if c.voidReasons != nil {
				t.Errorf("%s leaves nothing to chance and gives reasons to void", c.ID)
			}
		}
		if slices.Contains(statistical, c.ID) {
			of++
			if c.voidReasons == nil {
				t.Errorf("%s gives no reasons to void", c.ID)
			}
		}
		if c.Expectable() != (of == 1) {
			t.Errorf("%s: can be expected: %v, stands in %d lists", c.ID, c.Expectable(), of)
		}
	}
}

// driftingStudy returns a study with a trap whose operations cost more at the end
// of each trial than at the start: drift is the logarithm of the ratio. Slices
// have noise of standard deviation sd.
func driftingStudy(r *rand.Rand, rounds int, drift, sd float64) Input {
	const inTrial = 10
	in := Input{Evidence: evidence.Evidence{
		Study:      tare.Study{Workloads: []tare.Workload{{ID: load}}},
		Contenders: []tare.Contender{{ID: "trap", Role: tare.RoleTrap, Declared: tare.Declared{Expect: tare.Expect{Void: []string{"drift-in-trial"}}}}},
		Final:      true,
	}}
	for round := 1; round <= rounds; round++ {
		in.Trials = append(in.Trials, tare.Trial{Round: round, Tau: 1, Contender: "trap"})
		for i := range inTrial {
			cost := 6e6 * math.Exp(drift*float64(i)/(inTrial-1)+sd*r.NormFloat64())
			in.Slices = append(in.Slices, tare.Slice{Round: round, Tau: 1, Index: i, Workload: load, Contender: "trap", Ops: 100, WallNS: int64(cost)})
		}
	}
	return in
}

// driftOutcome returns the outcome of the expectation in a driftingStudy.
func driftOutcome(in Input) tare.Expectation {
	return Expectations(in, driftInTrial().runAndComplete(in), nil)[0]
}

// countOutcomes counts the outcomes of n drifting studies of 11 to 18 rounds.
func countOutcomes(r *rand.Rand, n int, drift, sd float64) map[tare.TrapOutcome]int {
	out := map[tare.TrapOutcome]int{}
	for i := range n {
		out[driftOutcome(driftingStudy(r, 11+i%8, drift, sd)).Outcome]++
	}
	return out
}

// The rule promises that chance lets a trap with a drift of 10 % or more be missed
// with half of the check's error level at most, 0.05 %, whatever the noise.
func TestADriftIsNotMissedByChance(t *testing.T) {
	n := countStudies(20_000)
	limit := math.Log1p(maxDrift)
	for _, c := range []struct {
		what      string
		drift, sd float64
	}{
		{"at the limit, little noise", limit, 0.01}, {"at the limit, much noise", limit, 0.1},
		{"three times the limit, much noise", 3 * limit, 0.3}, {"three times the limit, very much noise", 3 * limit, 1},
		{"three times the limit, downwards", -3 * limit, 0.3},
	} {
		got := countOutcomes(newRandom(18), n, c.drift, c.sd)
		t.Logf("%s: %v", c.what, got)
		if lo, _ := stats.ClopperPearson(got[tare.Missed], n, 0.002); lo > strictLevel/2 {
			t.Errorf("%s: %d of %d missed", c.what, got[tare.Missed], n)
		}
	}
	if got := countOutcomes(newRandom(19), n, 3*limit, 0.03); got[tare.Caught] != n {
		t.Errorf("three times the limit, little noise: %v, want all caught", got)
	}
	if got := countOutcomes(newRandom(20), n, 0, 0.02); got[tare.Missed] < n*99/100 {
		t.Errorf("no drift, little noise: %v, want nearly all missed", got)
	}
	got := countOutcomes(newRandom(21), n, 0, 0.5)
	t.Logf("no drift, much noise: %v", got)
	if got[tare.NotEnoughEvidence] < n*99/100 {
		t.Errorf("no drift, much noise: %v, want nearly all without enough evidence", got)
	}
}

// Where the evidence is not enough the rounds that would do are forecast, and as
// many do in most cases.
func TestRoundsThatWouldDo(t *testing.T) {
	wantOutcome(t, Expectations(driftingStudy(newRandom(1), 6, 0.5, 0.1), nil, nil)[0], tare.NotEnoughEvidence, "6 rounds, at least 11 are needed")
	wantOutcome(t, Expectations(driftingStudy(newRandom(1), 2, 0.5, 0.1), nil, nil)[0], tare.NotEnoughEvidence, "2 rounds, at least 11 are needed")
	wantOutcome(t, Expectations(driftingStudy(newRandom(1), 11, math.Log1p(maxDrift), 1), nil, nil)[0], tare.NotEnoughEvidence, "11 rounds, more than 180 would be needed")
	r := newRandom(22)
	asked, done := 0, 0
	for range 400 {
		in := driftingStudy(r, 11, 0.4, 0.3)
		e := driftOutcome(in)
		if e.Outcome == tare.Caught {
			continue
		}
		if e.RoundsNeeded != 0 && e.RoundsNeeded <= 11 {
			t.Fatalf("%+v: no more rounds than there were", e)
		}
		asked++
		in = driftingStudy(r, cmp.Or(e.RoundsNeeded, stats.MaxRounds), 0.4, 0.3)
		if driftOutcome(in).Outcome != tare.NotEnoughEvidence {
			done++
		}
	}
	t.Logf("so many rounds did in %d of %d studies", done, asked)
	if asked < 100 || done < asked/2 {
		t.Errorf("the forecast was enough in %d of %d studies", done, asked)
	}
}

// A workload that was left out may be the one with the effect.
func TestAWorkloadThatWasLeftOut(t *testing.T) {
	in := driftingStudy(newRandom(2), 18, 0, 0.01)
	if e := Expectations(in, nil, []tare.NotWeighed{{What: "contender other"}})[0]; e.Outcome != tare.Missed || e.Message != "18 rounds were enough, and the check found nothing" || e.Rounds != 18 {
		t.Errorf("became %+v", e)
	}
	wantOutcome(t, Expectations(in, nil, []tare.NotWeighed{{What: "workload create"}})[0], tare.NotEnoughEvidence,
		"nothing was found on what was measured, and workload create was not")
	in.Slices = nil
	wantOutcome(t, Expectations(in, nil, nil)[0], tare.NotEnoughEvidence, "nothing that this check reads was recorded")
}

// statisticalTraffic are the statistical checks of loads.
var statisticalTraffic = []string{"delivered", "rate-held", "generator-headroom", "little", "accounting", "does-work"}

func TestLoadsWithoutFaultAreMissed(t *testing.T) {
	for _, id := range statisticalTraffic {
		if e := trapOutcome(t, flow{rounds: 20, sd: 0.01}.input(1), id); e.Outcome != tare.Missed {
			t.Errorf("20 sound rounds: %+v, want missed", e)
		}
		if e := trapOutcome(t, flow{rounds: 8, sd: 0.01}.input(1), id); e.Outcome != tare.NotEnoughEvidence || e.RoundsNeeded < 11 {
			t.Errorf("8 sound rounds: %+v, want not enough evidence", e)
		}
	}
	wantOutcome(t, trapOutcome(t, flow{rounds: 20}.input(1), "body-consumed"), tare.NotEnoughEvidence, "nothing that this check reads was recorded")
	wantOutcome(t, trapOutcome(t, flow{rounds: 20}.input(1), "timeouts-counted"), tare.NotEnoughEvidence, "nothing that this check reads was recorded")
}

// What a check finds and what it rules out never contradict each other.
func TestWhatIsFoundIsNotRuledOut(t *testing.T) {
	r := newRandom(23)
	fired := map[string]int{}
	for range 300 {
		rounds, factor := 1+r.IntN(20), math.Exp(2*r.NormFloat64())
		key := slices.Sorted(maps.Keys(flow{rounds: 1}.input(1).Trials[4].Samples[open]))
		edited := key[r.IntN(len(key))]
		in := flow{rounds: rounds, sd: 0.02, edit: func(trial *tare.Trial, w string, s tare.Sample) {
			if v, ok := s[edited]; ok && trial.Contender == "echo" {
				s[edited] = v * factor * (1 + 0.05*r.NormFloat64())
			}
		}}.input(r.Uint64())
		for _, id := range statisticalTraffic {
			c, _ := Named(id)
			found := slices.ContainsFunc(c.runAndComplete(in), func(f tare.Finding) bool { return f.Contender == "echo" && f.Severity == tare.Void })
			open := slices.ContainsFunc(c.voidReasons(in, "echo"), func(r voidReason) bool { return r.prove() != unrecorded && r.prove() != disproved })
			if found {
				fired[c.ID]++
				if !open {
					t.Fatalf("%s found something after %s times %.3g in %d rounds, and rules everything out", c.ID, edited, factor, rounds)
				}
			}
		}
	}
	t.Log(fired)
	for _, id := range statisticalTraffic {
		if fired[id] == 0 {
			t.Errorf("%s never found anything", id)
		}
	}
}

func TestPartWholeRulesOut(t *testing.T) {
	wantOutcome(t, partWholeOutcome(quietSizes().input(newRandom(1)), "lean"), tare.Missed, "18 rounds were enough, and the check found nothing")
	few := quietSizes()
	few.rounds = 12 // three pairs at 0.1 % take 13
	wantOutcome(t, partWholeOutcome(few.input(newRandom(1)), "lean"), tare.NotEnoughEvidence, "12 rounds, about 13 would do")
}

// partWholeOutcome returns the outcome of the expectation that contender is void by
// part-whole, with one trial per round.
func partWholeOutcome(in Input, contender string) tare.Expectation {
	rounds := 0
	for _, s := range in.Slices {
		rounds = max(rounds, s.Round)
	}
	for round := 1; round <= rounds; round++ {
		in.Trials = append(in.Trials, tare.Trial{Round: round, Tau: 1, Contender: contender})
	}
	for i, c := range in.Contenders {
		if c.ID == contender {
			in.Contenders[i].Expect.Void = []string{"part-whole"}
		}
	}
	return Expectations(in, Run(in), nil)[0]
}
