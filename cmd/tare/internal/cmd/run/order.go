package run

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/lab"
)

// firstStudy runs before the others if no study is named: it ends
// soonest.
const firstStudy = "json-encode"

// maxBare is the longest quick budget of a study that runs without being named. A
// longer study would take most of the time of a bare run.
const maxBare = 2 * time.Minute

// withoutLong drops the studies that take longer than maxBare at the quick budget. say
// gets a line for each, with the user's own command for it.
func withoutLong(studies []cmdenv.Study, own cmdenv.Command, say func(string)) []cmdenv.Study {
	var out []cmdenv.Study
	for _, study := range studies {
		if long := lab.Budget(study.Budget, true); long > maxBare {
			say(fmt.Sprintf("%s: left out, it measures for %s; %s measures it", study.ID, cmdenv.Seconds(long), own.WithArgs(study.ID)))
			continue
		}
		out = append(out, study)
	}
	return out
}

// inOrder puts the first study first and the others from short to long.
func inOrder(studies []cmdenv.Study, quick bool) {
	slices.SortStableFunc(studies, func(a, b cmdenv.Study) int {
		if first := b.ID == firstStudy; first != (a.ID == firstStudy) {
			if first {
				return 1
			}
			return -1
		}
		return cmp.Compare(lab.Budget(a.Budget, quick), lab.Budget(b.Budget, quick))
	})
}
