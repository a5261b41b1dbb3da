package judge

import (
	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// Again answers the claims of a study from a result that was kept, and chooses its
// sentences anew. The study may ask, word or read its claims in another way than when the
// result was measured; the figures stay what they were, and what was not measured then is
// not measured.
func Again(s tare.Study, r *tare.Result) {
	r.Claims = Claims(evidence.Kept(s, r), r.Comparisons, r.Values, r.Findings, r.NotWeighed)
	r.Question, r.Recommended = s.Question, Recommended(s, r)
	r.Answer, r.Figures, r.Quotes = Answer(s, r)
}
