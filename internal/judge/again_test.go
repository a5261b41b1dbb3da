package judge

import (
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
)

func TestRewordDecomposition(t *testing.T) {
	planned := tare.Decompose{Question: "What does a log cost?", Steps: []tare.DecomposeStep{{To: "a", Cause: "a framework"}, {To: "b", Cause: "a line of log"}}}
	d := tare.Decomposition{Question: "Log?", Sentence: "gin is 10 % and log 90 %", Steps: []tare.Cause{{To: "a", Cause: "gin", Ratio: 1.1}, {To: "b", Cause: "log", Ratio: 2}}}
	rewordDecomposition(&d, planned)
	assert.Equal(t, "sentence", d.Sentence, "a framework is 10 % and a line of log 90 %")
	assert.Equal(t, "question", d.Question, planned.Question)
	assert.Equal(t, "cause", d.Steps[1].Cause, "a line of log")
	assert.Equal(t, "ratio", d.Steps[1].Ratio, 2)

	joined := tare.Decomposition{Sentence: "gin and log is 100 %", Steps: []tare.Cause{{To: "b", Cause: "gin and log"}}}
	rewordDecomposition(&joined, planned)
	assert.Equal(t, "sentence of joined steps", joined.Sentence, "gin and log is 100 %")
}
