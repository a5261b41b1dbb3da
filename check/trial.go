package check

import (
	"fmt"

	"github.com/tarebench/tare"
)

func trial() Check {
	return Check{
		ID:       "trial",
		Severity: tare.Void,
		Summary: "A contender's process could not be carried through: it did not start, gave no answer in time, ended by itself, " +
			"wrote something that is not the protocol, went over the memory or output limit, or replied with an error. " +
			"Whatever it measured before does not count.",
		Why: "A program that dies under load has not been measured; its numbers from before are those of the part it survived. " +
			"Results of such runs were published with the failed part left out.",
		Advice: "the trial's evidence in the result document holds what it last wrote to stderr",
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			at := map[string]int{} // contender → index in out
			more := map[string]int{}
			for _, t := range in.Trials {
				if t.Error == nil {
					continue
				}
				if _, ok := at[t.Contender]; ok {
					more[t.Contender]++
					continue
				}
				at[t.Contender] = len(out)
				out = append(out, tare.Finding{
					Contender: t.Contender,
					Message:   fmt.Sprintf("%s in %s: %s", ended(t.Error.Class), when(t), t.Error.Message),
				})
			}
			for id, n := range more {
				out[at[id]].Message += fmt.Sprintf(" (and in %s more)", plural(n, "trial"))
			}
			return out
		},
	}
}

// when is the round a trial belongs to; the pilot has none.
func when(t tare.Trial) string {
	if t.Round == 0 {
		return "the pilot"
	}
	return fmt.Sprintf("round %d", t.Round)
}

// ended says how a trial ended, by the class of its error.
func ended(class string) string {
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
