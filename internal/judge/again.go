package judge

import (
	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// Again answers the claims of a study from a saved result and chooses its sentences again. The
// study may word its claims differently than when the result was measured; the figures stay the
// same, and what was not measured then is not measured now.
func Again(s tare.Study, r *tare.Result) {
	r.Claims = Claims(evidence.Kept(s, r), r.Comparisons, r.Values, r.Findings, r.NotWeighed)
	r.Question, r.Recommended = s.Question, Recommended(s, r)
	r.Answer, r.Figures, r.Quotes = Answer(s, r)
}
