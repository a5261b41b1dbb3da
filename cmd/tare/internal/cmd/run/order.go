package run

import (
	"cmp"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/lab"
)

// firstStudy is carried out before the others if no study is named: it answers
// soonest.
const firstStudy = "json-encode"

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
