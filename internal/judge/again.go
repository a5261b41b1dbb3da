package judge

import (
	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// Again judges the claims and the answer of study s again, and replaces them in its saved result r. It
// is for a study that has changed since r was measured. The measurements in r stay the same.
func Again(s tare.Study, r *tare.Result) {
	r.Claims = Claims(evidence.ForRejudging(s, r), r.Comparisons, r.Values, r.Findings, r.NotWeighed)
	r.Question, r.Recommended = s.Question, Recommended(s, r)
	r.Answer, r.Figures, r.Quotes = Answer(s, r)
	for i := range r.Decomposition {
		for _, d := range s.Decompose {
			if d.ID == r.Decomposition[i].ID {
				r.Decomposition[i].Question = d.Question
			}
		}
	}
}
