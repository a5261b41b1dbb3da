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
				case isOutside(e, base):
					return fmt.Sprintf("its responses have %s bytes of body and those of %s %s", formatNumber(e.mid), in.Study.Baseline, formatNumber(base.mid))
				case extraBytes != 0:
					return fmt.Sprintf("its bodies are as long as those of %s, and its answers differ by %s bytes each: status, header or content", in.Study.Baseline, formatNumber(math.Abs(extraBytes)))
				}
				return ""
			})
		},
	}
}

// isOutside reports whether interval e is outside base by more than both margins: bodyShare
// (relative) and bodyBytes (absolute).
func isOutside(e, base extent) bool {
	more := max(bodyShare*base.hi, bodyBytes)
	less := max(bodyShare*base.lo, bodyBytes)
	return e.isAbove(base.hi+more) || e.isBelow(base.lo-less)
}

// extraAnswerBytes returns the mean number of bytes by which contender's answers before timing were
// longer than the baseline's. It returns 0 if either side has wrong answers or the numbers of cases
// differ.
func (in Input) extraAnswerBytes(contender, workload string) float64 {
	find := func(id string) (tare.Conformance, bool) {
		for _, c := range in.Conformance {
			if c.Contender == id && c.Workload == workload && !c.Probe && !c.During && c.Wrong == 0 && c.Cases > 0 {
				return c, true
			}
		}
		return tare.Conformance{}, false
	}
	answers, ok := find(contender)
	base, okBase := find(in.Study.Baseline)
	if !ok || !okBase || answers.Cases != base.Cases {
		return 0
	}
	return float64(answers.Bytes-base.Bytes) / float64(answers.Cases)
}
