package check

import (
	"testing"

	"github.com/tarebench/tare"
)

// batchStudy returns a study in which chi's requests contain ten events each. off
// returns the number of delivered events minus the number of acknowledged ones.
func batchStudy(rounds int, off func(round int, acknowledged float64) float64) Input {
	return flow{rounds: rounds, sd: 0.01, edit: func(t *tare.Trial, w string, s tare.Sample) {
		if w != closed {
			return
		}
		s[tare.KeyDeliveredAsked] = float64(int(10 * s[tare.KeyReceivedSent]))
		s[tare.KeyDelivered] = s[tare.KeyDeliveredAsked]
		if t.Contender == "chi" {
			s[tare.KeyDelivered] += off(t.Round, s[tare.KeyDeliveredAsked])
		}
	}}.input(1)
}

func TestEventsThatDoNotArrive(t *testing.T) {
	const rounds = 12
	wantNone(t, "delivered", batchStudy(rounds, func(int, float64) float64 { return 0 }))
	wantNone(t, "delivered", batchStudy(rounds, func(int, float64) float64 { return 0.3 })) // counts, read through a float
	wantNone(t, "delivered", batchStudy(rounds, func(int, float64) float64 { return 7 }))   // taken, and the answer was lost

	once := func(round int, _ float64) float64 {
		if round == 5 {
			return -1
		}
		return 0
	}
	lost := batchStudy(rounds, once)
	wantFinding(t, "delivered", lost, tare.Void, "chi", closed, "1 of 237564 events that were acknowledged did not arrive, in 1 trial")
	lost.Final = false // one that is lost comes back in no later round
	wantFinding(t, "delivered", lost, tare.Void, "chi", closed, "1 of 237564 events that were acknowledged did not arrive, in 1 trial")

	half := batchStudy(rounds, func(_ int, n float64) float64 { return -n / 2 })
	fs := runCheck(t, "delivered", half)
	if len(fs) != 1 {
		t.Fatalf("a loss is told %d times: %+v", len(fs), fs)
	}
	wantWords(t, fs[0].Message, " events that were acknowledged did not arrive, in 12 trials")

	fs = runCheck(t, "delivered", batchStudy(rounds, func(_ int, n float64) float64 { return n }))
	if len(fs) != 1 || fs[0].Severity != tare.Void || fs[0].Contender != "chi" {
		t.Fatalf("events that arrive twice: %+v", fs)
	}
	wantWords(t, fs[0].Message, " events arrived where ", " were acknowledged (2×")

	// A trial that could not be carried through was cut off anywhere.
	cut := batchStudy(rounds, once)
	for i := range cut.Trials {
		if cut.Trials[i].Round == 5 {
			cut.Trials[i].Error = &tare.TrialError{Class: tare.ErrExit}
		}
	}
	wantNone(t, "delivered", cut)
	// Who cannot tell is not judged, and the null contender has no sink.
	for _, key := range []string{tare.KeyDelivered, tare.KeyDeliveredAsked} {
		dumb := batchStudy(rounds, once)
		for _, tr := range dumb.Trials {
			delete(tr.Samples[closed], key)
		}
		wantNone(t, "delivered", dumb)
	}
	null := batchStudy(rounds, func(int, float64) float64 { return 0 })
	for _, tr := range null.Trials {
		if tr.Contender == tare.NullID {
			tr.Samples[closed][tare.KeyDelivered] = 0
		}
	}
	wantNone(t, "delivered", null)
}

func moveApart(in Input) Input {
	for i := range in.Contenders {
		if in.Contenders[i].ID == "chi" {
			in.Contenders[i].Role = tare.RoleApart
		}
	}
	return in
}

// What a contender that stands apart answers, prints and runs around its work
// is its own; what it takes and whether events arrive is judged as anybody's.
func TestWhoStandsApart(t *testing.T) {
	own := func(s tare.Sample) {
		s[tare.KeyOutput], s[tare.KeyLayers], s[tare.KeyBodyReceived] = 900, 9, 99
	}
	for _, id := range []string{"output-parity", "layer-parity", "body-parity"} {
		if len(runCheck(t, id, faultyFlow(closed, own))) == 0 {
			t.Errorf("%s finds nothing where there is something", id)
		}
		wantNone(t, id, moveApart(faultyFlow(closed, own)))
	}
	if fs := Run(moveApart(flow{rounds: 12, sd: 0.01}.input(1))); len(fs) > 0 {
		t.Errorf("of a sound one: %+v", fs)
	}
	lost := moveApart(batchStudy(12, func(int, float64) float64 { return -5 }))
	if fs := runCheck(t, "delivered", lost); len(fs) != 1 || fs[0].Severity != tare.Void {
		t.Errorf("events that it lost: %+v", fs)
	}
	for id, edit := range map[string]func(s tare.Sample){
		"accounting":         func(s tare.Sample) { s[tare.KeyServerCPU] /= 3 },
		"does-work":          func(s tare.Sample) { s[tare.KeyServerCPU] = 0 },
		"generator-headroom": func(s tare.Sample) { s[tare.KeyClientCPU] = s[tare.KeyWall] },
	} {
		if fs := runCheck(t, id, moveApart(faultyFlow(closed, edit))); len(fs) == 0 || fs[0].Severity != tare.Void || fs[0].Contender != "chi" {
			t.Errorf("%s: %+v", id, fs)
		}
	}
	wrong := moveApart(flow{rounds: 1}.input(1))
	wrong.Conformance = append(wrong.Conformance, tare.Conformance{Contender: "chi", Workload: closed, Cases: 64, Wrong: 1, First: "case 3, POST /: want status 200, got 500"})
	wantFinding(t, "wrong-answer", wrong, tare.Void, "chi", closed, "1 of 192 answers are wrong; the first: case 3, POST /: want status 200, got 500")
}

func TestWhatSomeoneApartDoesNotRefuse(t *testing.T) {
	lax := func(role tare.Role, lines ...string) Input {
		in := flow{rounds: 1}.input(1)
		for i := range in.Contenders {
			if in.Contenders[i].ID == "chi" {
				in.Contenders[i].Role = role
			}
		}
		in.Conformance = append(in.Conformance, tare.Conformance{Contender: "chi", Workload: "more", Cases: 4, Wrong: 3, First: "case 0", Probe: true, Unrefused: lines})
		return in
	}
	wantFinding(t, "negative-probe", lax(tare.RoleContender, "case 0", "case 2"), tare.Void, "chi", "", "3 of 12 probes must be refused and were not, or not as the reference does; the first: case 0")
	wantFinding(t, "negative-probe", lax(tare.RoleApart, "case 0", "case 2", "case 3"), tare.Note, "chi", "", "it stands apart, and 3 of 12 probes were not refused, or not as the reference does: case 0; case 2; case 3")
	wantFinding(t, "negative-probe", lax(tare.RoleApart, "case 0"), tare.Note, "chi", "", "it stands apart, and 3 of 12 probes were not refused, or not as the reference does: case 0; and 2 more")
	wantFinding(t, "negative-probe", lax(tare.RoleApart), tare.Note, "chi", "", "it stands apart, and 3 of 12 probes were not refused, or not as the reference does")
}

// A program that is not there is nobody's mistake.
func TestWhatIsNotInstalledIsNoted(t *testing.T) {
	in := flow{rounds: 1}.input(1)
	in.Contenders = append(in.Contenders, tare.Contender{ID: "fluentd", Role: tare.RoleApart, Error: tare.NotInstalled([]string{"fluentd", "ruby"})})
	wantFinding(t, "build", in, tare.Note, "fluentd", "", "not installed: fluentd, ruby")
	if fs := runCheck(t, "build", in); fs[0].Advice == build().Advice {
		t.Error("it is advised to build it")
	}
}
