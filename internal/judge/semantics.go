package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// describeTradeOff returns what a user who chooses contender for its speed on workload also gets:
// the gravest difference in meaning among those that its operation meets, and their number. It
// returns "" if none was found.
func describeTradeOff(d evidence.Evidence, contender, workload string) string {
	op := ""
	for _, w := range d.Study.Workloads {
		if w.ID == workload {
			op = w.Op
		}
	}
	var met []tare.Difference
	for _, s := range d.Semantics {
		if s.Contender != contender {
			continue
		}
		for _, diff := range s.Differences {
			if slices.Contains(diff.BearsOn, op) {
				met = append(met, diff)
			}
		}
	}
	if len(met) == 0 {
		return ""
	}
	gravest := met[0]
	for _, diff := range met {
		if diff.Class.Graver(gravest.Class) {
			gravest = diff
		}
	}
	if len(met) == 1 {
		return ", and " + gravest.Says
	}
	return fmt.Sprintf(", and %s (one of %d differences in meaning)", gravest.Says, len(met))
}

// withTradeOff inserts a trade-off before a sentence's full stop.
func withTradeOff(sentence, price string) string {
	if price == "" {
		return sentence
	}
	return strings.TrimSuffix(sentence, ".") + price + "."
}
