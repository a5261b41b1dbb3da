package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tarebench/tare/internal/assert"
)

// The answer is the headline. It begins each report for people, before the criteria. A report of a
// result without an answer does not mention one.
func TestAnswerComesFirst(t *testing.T) {
	const answer = "No, it takes 0.46× (0.45 to 0.48) the time."
	r := base()
	for _, f := range Formats() {
		if f.Name != "text" && f.Name != "md" && f.Name != "research" {
			continue
		}
		var plain, b bytes.Buffer
		r.Answer = ""
		assert.NoError(t, f.Name, f.Write(&plain, r, Style{}))
		r.Answer = answer
		assert.NoError(t, f.Name, f.Write(&b, r, Style{}))
		at, verdict := strings.Index(b.String(), answer), strings.Index(b.String(), r.Verdicts[0].Sentence[:20])
		if at < 0 || verdict >= 0 && verdict < at || strings.Contains(plain.String(), answer) {
			t.Errorf("%s: the answer is at %d, the criterion at %d", f.Name, at, verdict)
		}
		if first, _, _ := strings.Cut(b.String(), "\n"); f.Name == "text" && first != r.Study+": "+answer {
			t.Errorf("%s begins with %q", f.Name, first)
		}
	}
	assert.Equal(t, "headline", first(Headline(r)), answer)
}

func first(text, _ string) string { return text }

// A long answer, as an earlier release wrote it, is not the headline.
func TestLongAnswerIsNotTheHeadline(t *testing.T) {
	r := base()
	r.Answer = strings.Repeat("a word and ", 6) + "an end."
	headline, figures := Headline(r)
	assert.Equal(t, "headline", headline, tallyCriteria(r))
	assert.Equal(t, "figures", figures, r.Answer)
	r.Figures = "Time 0.46×."
	_, figures = Headline(r)
	assert.Equal(t, "figures of a new result", figures, r.Figures)
}
