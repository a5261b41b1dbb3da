package check

import (
	"fmt"
	"math"

	"github.com/tarebench/tare"
)

// How far apart the bodies of two contenders may be: both must be exceeded.
const (
	bodyShare = 0.01 // of the baseline's
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
			return in.besideBaseline(in.trafficked(), key(tare.KeyBodyReceived), func(c tare.Contender, w tare.Workload, e, base extent) string {
				switch lengths := in.answered(c.ID, w.ID); {
				case apart(e, base):
					return fmt.Sprintf("its responses have %s bytes of body and those of %s %s", number(e.mid), in.Study.Baseline, number(base.mid))
				case lengths != 0:
					return fmt.Sprintf("its bodies are as long as those of %s, and its answers differ by %s bytes each: status, header or content", in.Study.Baseline, number(math.Abs(lengths)))
				}
				return ""
			})
		},
	}
}

// apart reports whether e lies wholly beyond base by more than both margins.
func apart(e, base extent) bool {
	more := max(bodyShare*base.hi, bodyBytes)
	less := max(bodyShare*base.lo, bodyBytes)
	return e.above(base.hi+more) || e.below(base.lo-less)
}

// answered is how much longer contender's answers before timing were than the
// baseline's, per case; zero too where they cannot be compared.
func (in Input) answered(contender, workload string) float64 {
	find := func(id string) (tare.Conformance, bool) {
		for _, c := range in.Conformance {
			if c.Contender == id && c.Workload == workload && !c.Probe && !c.During && c.Wrong == 0 && c.Cases > 0 {
				return c, true
			}
		}
		return tare.Conformance{}, false
	}
	own, okOwn := find(contender)
	base, ok := find(in.Study.Baseline)
	if !ok || !okOwn || own.Cases != base.Cases {
		return 0
	}
	return float64(own.Bytes-base.Bytes) / float64(own.Cases)
}
