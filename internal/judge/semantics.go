package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// describeTradeOff returns a clause for a sentence about speed, with the semantic differences (outputs
// that differ from the reference's) that a user of contender gets with it: ", and leaves HTML as it is
// (one of 3 differences in meaning)". It names the gravest difference that affects the workload's
// operation, and counts all of them. It returns "" if there are none.
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

// withTradeOff inserts a clause before the full stop of a sentence; "" changes nothing.
func withTradeOff(sentence, clause string) string {
	if clause == "" {
		return sentence
	}
	return strings.TrimSuffix(sentence, ".") + clause + "."
}
