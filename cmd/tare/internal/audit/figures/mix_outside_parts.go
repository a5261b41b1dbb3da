package figures

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// mixOutsideParts returns the rule mix-outside-parts, which findMixOutsideParts applies.
func mixOutsideParts() rule {
	return rule{Rule: audit.Rule{
		ID: "mix-outside-parts", Severity: tare.Warn,
		Title:   "A mix of operations costs more than its dearest part, or less than its cheapest.",
		Why:     "The mean of a mix is between the means of its parts: the mix does other work, on other data or over other connections than they do.",
		Do:      "count the operations of the mix, give the mix and its parts the same store and connections, and measure them together",
		Command: "tare load --mix 'GET /users=3' --mix 'POST /users=1' http://127.0.0.1:8080",
		Bad:     "| operation | ns/op |\n|---|---|\n| Create | 41,000 |\n| Get | 26,000 |\n| Mixed | 83,000 |\n",
		Good:    "| operation | ns/op |\n|---|---|\n| Create | 41,000 |\n| Get | 26,000 |\n| Mixed | 33,000 |\n",
		Seen:    []string{"users"},
	}, find: findMixOutsideParts}
}

// mixed matches the label of a mix of operations.
var mixed = lazyregexp.New(`(?i)\bmix(?:ed)?(?:\b|_|workload|load|ops)|\d+% ?reads?|readwrite|read/write`)

const (
	mixTolerance = 0.05 // of the least and the greatest part
	maxMixParts  = 500  // figures of a group
)

// findMixOutsideParts reports mixes in tables and benchmarks that cost more than each of
// their parts or less. The parts are the other figures of the group with the same prefix.
func findMixOutsideParts(d *document, report reportFunc) {
	for _, c := range d.groups {
		if c.origin < 0 || c.origin >= reportOrigin || len(c.measures) > maxMixParts {
			continue
		}
		for _, m := range c.measures {
			if !mixed.MatchString(m.subject) {
				continue
			}
			low, high, n := 0.0, 0.0, 0
			for _, other := range c.measures {
				if mixed.MatchString(other.subject) || cutLast(other.subject) != cutLast(m.subject) {
					continue
				}
				if n == 0 {
					low, high = other.value, other.value
				}
				low, high, n = min(low, other.value), max(high, other.value), n+1
			}
			isWithin := m.value <= high*(1+mixTolerance) && m.value >= low*(1-mixTolerance)
			if n < 2 || isWithin {
				continue
			}
			formatCost := func(value float64) string {
				q := m.quantity
				q.value = value
				return formatValue(q)
			}
			report(m.line, fmt.Sprintf("%s of %s is %s; its %d parts have %s to %s", c.metric, quote(m.subject), formatCost(m.value), n, formatCost(low), formatCost(high)))
		}
	}
}

// cutLast returns the name of a benchmark without its last element, after / or _: Gin for
// Gin/Create. It returns "" for a name of one element.
func cutLast(subject string) string {
	if i := strings.LastIndexAny(subject, "/"); i >= 0 {
		return subject[:i]
	}
	if i := strings.LastIndexAny(subject, "_"); i >= 0 {
		return subject[:i]
	}
	return ""
}
