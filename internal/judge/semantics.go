package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// describeTradeOff returns a clause for a sentence about a contender's speed. It names the gravest
// difference of the contender's output from that of the reference. For example, the sentence "sonic
// takes 0.4 of the time" gets ", and leaves HTML as it is (one of 3 differences in meaning)". The
// clause is "" if no difference affects the workload's operation.
func describeTradeOff(d evidence.Evidence, contender, workload string) string {
	w, _ := d.Workload(workload)
	var differences []tare.Difference
	for _, s := range d.Semantics {
		if s.Contender != contender {
			continue
		}
		for _, diff := range s.Differences {
			if slices.Contains(diff.BearsOn, w.Op) {
				differences = append(differences, diff)
			}
		}
	}
	if len(differences) == 0 {
		return ""
	}
	gravest := differences[0]
	for _, diff := range differences {
		if diff.Class.Graver(gravest.Class) {
			gravest = diff
		}
	}
	if len(differences) == 1 {
		return ", and " + gravest.Says
	}
	return fmt.Sprintf(", and %s (one of %d differences in meaning)", gravest.Says, len(differences))
}

// withTradeOff inserts a clause before the full stop of a sentence.
func withTradeOff(sentence, clause string) string {
	if clause == "" {
		return sentence
	}
	return strings.TrimSuffix(sentence, ".") + clause + "."
}
