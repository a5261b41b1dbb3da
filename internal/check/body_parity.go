package check

import (
	"fmt"
	"math"

	"github.com/tarebench/tare"
)

// This check finds servers whose responses are longer or shorter than those of the baseline, the
// contender to which all others are compared. For example, one server sends 11 bytes and the
// baseline 10.

// Bodies differ in length if the difference exceeds both limits.
const (
	bodyShare = 0.01 // share of the baseline's length
	bodyBytes = 0.5  // bytes per response
)

func bodyParity() Check {
	return Check{
		ID:       "body-parity",
		Severity: tare.Warn,
		Summary: "Contenders should send response bodies of equal length. Bytes of body per response are compared with the baseline's; the check warns if they differ by more than 1 % and by more than half a byte " + byRounds + ". " +
			"If they agree, it compares the answers before timing: if all answers to the same cases are correct and their lengths still differ, they differ in something else than the body, such as the content type. " + exceptApart,
		Why: "A table of requests per second compared a server that answered 10 bytes with one that answered 11. A newline changes little, but nobody had noticed it, so the answers had not been compared. " +
			"Other servers compressed, or omitted fields.",
		Advice:    "compare both answers byte by byte, and their content types",
		onlyAtEnd: true,
		Run: func(in Input) []tare.Finding {
			return in.findAgainstBaseline(in.trafficWorkloads(), readKey(tare.KeyBodyReceived), func(c tare.Contender, w tare.Workload, e, base extent) string {
				switch extraBytes := in.extraAnswerBytes(c.ID, w.ID); {
				case haveOtherLength(e, base):
					return fmt.Sprintf("its responses have %s bytes of body and those of %s %s", formatNumber(e.mid), in.Study.Baseline, formatNumber(base.mid))
				case extraBytes != 0:
					return fmt.Sprintf("its bodies are as long as those of %s, and its answers differ by %s bytes each: status, header or content", in.Study.Baseline, formatNumber(math.Abs(extraBytes)))
				}
				return ""
			})
		},
	}
}

func haveOtherLength(e, base extent) bool {
	more := max(bodyShare*base.hi, bodyBytes)
	less := max(bodyShare*base.lo, bodyBytes)
	return e.isAbove(base.hi+more) || e.isBelow(base.lo-less)
}

// extraAnswerBytes compares the answers that were tested before timing. It returns how many bytes
// longer than the baseline's they are in the mean, or 0 if unknown.
func (in Input) extraAnswerBytes(contender, workload string) float64 {
	correctAnswers := func(id string) tare.Conformance {
		for _, c := range in.Conformance {
			isBeforeTiming := !c.Probe && !c.During
			if c.Contender == id && c.Workload == workload && isBeforeTiming && c.Wrong == 0 {
				return c
			}
		}
		return tare.Conformance{}
	}
	answers, base := correctAnswers(contender), correctAnswers(in.Study.Baseline)
	if answers.Cases == 0 || answers.Cases != base.Cases {
		return 0
	}
	return float64(answers.Bytes-base.Bytes) / float64(answers.Cases)
}
