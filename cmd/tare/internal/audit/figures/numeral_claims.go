package figures

import (
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// numeralRatioRE matches a ratio with its number in words: "four times as fast" or "two and a half times the load of".
// The groups are "four", " and a half", "as fast" and, without such words, "what".
var numeralRatioRE = lazyregexp.New(`(?i)\b(one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)( and a half)?\s+times\s+` +
	`(?:(as\s+(?:fast|quick|slow|much|many|long|large|big|high)|faster|slower|larger|more|longer)\b` +
	`|(what|that of|the (?:load|rate|throughput|bandwidth|traffic|latency|time|memory|size|[a-z]+s) of)\b)`)

// numeralClaims returns the ratios of a sentence whose numbers are in words.
func (s sentence) numeralClaims() []claim {
	var out []claim
	for _, m := range numeralRatioRE.FindAllStringSubmatchIndex(s.text, maxClaims) {
		ratio := parseNumeral(s.text[m[2]:m[3]])
		end := m[3]
		if hasHalf := m[4] >= 0; hasHalf {
			ratio, end = ratio+0.5, m[5]
		} else if ratio == 1 {
			continue // "one times"
		}
		c := claim{
			sentence: s, text: s.text[m[0]:m[1]], start: m[0], end: end + len(" times"),
			low: ratio, high: ratio, step: 0.5, isApproximate: true, word: "as high",
		}
		if m[6] >= 0 {
			c.word = strings.Join(strings.Fields(strings.ToLower(s.text[m[6]:m[7]])), " ")
		}
		c.readQualifier(s.text[:m[0]])
		c.kinds = findClaimKinds(s.text[:m[0]], c.word, s.text[c.end:])
		out = append(out, c)
	}
	return out
}
