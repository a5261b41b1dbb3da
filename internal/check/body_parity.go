package check

import (
	"fmt"
	"math"

	"github.com/tarebench/tare"
)

// Tolerated differences between the body lengths of two contenders. A difference is reported only if
// it exceeds both.
const (
	bodyShare = 0.01 // share of the baseline's length
	bodyBytes = 0.5
)

func bodyParity() Check {
	return Check{
		ID:       "body-parity",
		Severity: tare.Warn,
		Summary: "Contenders should answer the same thing in as many bytes. Bytes of body per response are compared with the baseline's; it warns where they are more than 1 % and half a byte apart " + byRounds + ". " +
			"Where they agree it looks at the answers before timing: the same cases, all right, and yet of another length differ in what is compared besides the body, such as the content type. " + exceptApart,
		Why: "A table of requests per second compared a server that answered 10 bytes with one that answered 11. A newline changes little; that it was not noticed shows that the answers had not been compared. " +
			"Others compressed, or left out fields.",
		Advice: "look at both answers byte by byte, and at their content types",
		atEnd:  true,
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

// haveOtherLength reports whether bodies of length e differ from those of length base by more than
// both margins: bodyShare (relative) and bodyBytes (absolute).
func haveOtherLength(e, base extent) bool {
	more := max(bodyShare*base.hi, bodyBytes)
	less := max(bodyShare*base.lo, bodyBytes)
	return e.isAbove(base.hi+more) || e.isBelow(base.lo-less)
}

// extraAnswerBytes returns the mean number of bytes by which contender's answers before timing were
// longer than the baseline's. It returns 0 if either side has wrong answers or the numbers of cases
// differ.
func (in Input) extraAnswerBytes(contender, workload string) float64 {
	// correctAnswers returns the test of all cases before timing, or the zero value if it failed.
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
