package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// withoutVoid returns the input without records that do not count: failed trials, and void samples
// and slices. A trial is one process of a contender in one round.
func (in Input) withoutVoid() Input {
	if !slices.ContainsFunc(in.Trials, func(t tare.Trial) bool { return !t.Counts("") }) {
		return in
	}
	type trialID struct {
		roundID
		contender string
	}
	marked := map[trialID]tare.Trial{} // trials with a part that does not count
	var trials []tare.Trial
	for _, t := range in.Trials {
		if t.Counts("") {
			trials = append(trials, t)
			continue
		}
		marked[trialID{roundIDOf(t), t.Contender}] = t
		if t.Error != nil {
			continue
		}
		t.Samples = maps.Clone(t.Samples)
		maps.DeleteFunc(t.Samples, func(workload string, _ tare.Sample) bool { return !t.Counts(workload) })
		trials = append(trials, t)
	}
	in.Trials = trials
	in.Slices = slices.DeleteFunc(slices.Clone(in.Slices), func(s tare.Slice) bool {
		t, ok := marked[trialID{roundID{s.Round, max(1, s.Tau)}, s.Contender}]
		return ok && !t.Counts(s.Workload)
	})
	return in
}

// countRounds returns the number of rounds. It omits long rounds, which have longer slices.
func (in Input) countRounds() int {
	seen := map[int]bool{}
	for _, t := range in.Trials {
		if t.Round > 0 && t.Tau <= 1 {
			seen[t.Round] = true
		}
	}
	return len(seen)
}

// voidRounds returns e.g. "1 of 12 rounds is void". Rounds with longer slices are counted
// separately.
func (in Input) voidRounds(rounds []roundID) string {
	short := 0
	for _, r := range rounds {
		if r.lengthFactor <= 1 {
			short++
		}
	}
	verb := "are"
	if len(rounds) == 1 {
		verb = "is"
	}
	switch long := format.Count(len(rounds)-short, "long round"); {
	case short == 0:
		return fmt.Sprintf("%s %s void", long, verb)
	case short < len(rounds):
		return fmt.Sprintf("%d of %s and %s are void", short, format.Count(in.countRounds(), "round"), long)
	}
	return fmt.Sprintf("%d of %s %s void", short, format.Count(in.countRounds(), "round"), verb)
}
