package judge

import (
	"strings"

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
		for _, planned := range s.Decompose {
			if planned.ID == r.Decomposition[i].ID {
				rewordDecomposition(&r.Decomposition[i], planned)
			}
		}
	}
}

// rewordDecomposition replaces the texts of the study in d. Its ratios and shares stay. The causes of
// omitted steps are joined with others, so that all keep their text.
func rewordDecomposition(d *tare.Decomposition, planned tare.Decompose) {
	d.Question = planned.Question
	if len(d.Steps) != len(planned.Steps) {
		return
	}
	for i, step := range planned.Steps {
		d.Sentence = strings.Replace(d.Sentence, d.Steps[i].Cause, step.Cause, 1)
		d.Steps[i].Cause = step.Cause
	}
}
