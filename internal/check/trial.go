package check

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// trial finds the contenders that had failed trials. A trial is one process of a contender in one
// round.
func trial() Check {
	return Check{
		ID:       "trial",
		Severity: tare.Void,
		Summary: "A contender's process failed: it did not start, did not answer in time, ended by itself, " +
			"wrote something that is not the protocol, exceeded the memory or output limit, or replied with an error. " +
			"Nothing that it measured in that round counts. " + failureRule + " " +
			"A void contender is not measured again, and neither is one whose pilot failed; if that is the baseline, the control or the null contender, the study ends.",
		Why:              "A program that dies under load has not been measured; its earlier numbers are only those of the part that it survived.",
		Advice:           "the trial's evidence in the result document contains the end of its stderr",
		includesFailures: true,
		Run: func(in Input) []tare.Finding {
			failed := map[string][]tare.Trial{} // by contender
			var order []string                  // by first failure
			for _, t := range in.Trials {
				if t.Error == nil {
					continue
				}
				if len(failed[t.Contender]) == 0 {
					order = append(order, t.Contender)
				}
				failed[t.Contender] = append(failed[t.Contender], t)
			}
			var out []tare.Finding
			for _, id := range order {
				out = append(out, in.describeFailures(id, failed[id]))
			}
			return out
		},
	}
}

const voidRoundAdvice = "the other rounds count, and the intervals come from them; make sure that the failure has nothing to do with the amount of work"

// describeFailures returns the finding about a contender's failed trials. It is a void if so many
// failed that the contender left the study, otherwise a warning about the void rounds.
func (in Input) describeFailures(id string, failed []tare.Trial) tare.Finding {
	first := failed[0]
	f := tare.Finding{Contender: id, Message: fmt.Sprintf("%s in %s: %s", describeEnd(first.Error.Class), roundIDOf(first), first.Error.Message)}
	if n := len(failed) - 1; n > 0 {
		f.Message += fmt.Sprintf(" (and in %s more)", format.Count(n, "trial"))
	}
	if why := GivenUp(in.Trials, id, in.Plan.RoundsPlanned); why != "" {
		if len(failed) > 1 && first.Round > 0 {
			f.Message += "; " + why
		}
		return f
	}
	var rounds []roundID
	for _, t := range failed {
		rounds = append(rounds, roundIDOf(t))
	}
	f.Severity, f.Advice = tare.Warn, voidRoundAdvice
	f.Message = in.voidRounds(rounds) + ": " + f.Message
	return f
}

func (r roundID) String() string {
	switch {
	case r.round == 0:
		return "the pilot"
	case r.lengthFactor > 1:
		return fmt.Sprintf("the long round after round %d", r.round)
	}
	return fmt.Sprintf("round %d", r.round)
}

func joinRounds(rounds []roundID) string {
	var names []string
	for _, r := range rounds {
		names = append(names, r.String())
	}
	return strings.Join(names, ", ")
}

// describeEnd returns a predicate for a failed trial, by the class of its error.
func describeEnd(class string) string {
	switch class {
	case tare.ErrStart:
		return "did not start"
	case tare.ErrDeadline:
		return "hung"
	case tare.ErrExit:
		return "died"
	case tare.ErrProtocol:
		return "broke the protocol"
	case tare.ErrMemory:
		return "took too much memory"
	case tare.ErrOutput:
		return "flooded its output"
	case tare.ErrContender:
		return "gave up"
	}
	return "failed (" + class + ")"
}
