package figures

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// mixOutsideParts returns the rule about this mistake: a mix of operations costs more than its dearest part, or less than its cheapest.
func mixOutsideParts() rule {
	return rule{audit.Rule{
		ID: "mix-outside-parts", Severity: tare.Warn, Title: "A mix of operations costs more than its dearest part, or less than its cheapest.",
		Why:     "The mean of a mix lies between the means of its parts: the mix does other work, on other data or over other connections than they do.",
		Do:      "count the operations of the mix, give the mix and its parts the same store and connections, and measure them together",
		Command: "tare load --mix 'GET /users=3' --mix 'POST /users=1' http://127.0.0.1:8080", Lang: "text",
		Bad:  "| operation | ns/op |\n|---|---|\n| Create | 41,000 |\n| Get | 26,000 |\n| Mixed | 83,000 |\n",
		Good: "| operation | ns/op |\n|---|---|\n| Create | 41,000 |\n| Get | 26,000 |\n| Mixed | 33,000 |\n",
		Seen: []string{"users"},
	}, findMixOutsideParts}
}

var mixed = regexp.MustCompile(`(?i)\bmix(?:ed)?(?:\b|_|workload|load|ops)|\d+% ?reads?|readwrite|read/write`)

func findMixOutsideParts(d *document, report reportFunc) {
	for _, c := range d.groups {
		if c.origin < 0 || c.origin >= reportOrigin || len(c.measures) > 500 {
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
			if n < 2 || m.value <= high*1.05 && m.value >= low*0.95 {
				continue
			}
			q := func(x float64) string { m := m.quantity; m.value = x; return formatValue(m) }
			report(m.line, fmt.Sprintf("%s of %s is %s; its %d parts have %s to %s", c.metric, quote(m.subject), q(m.value), n, q(low), q(high)))
		}
	}
}

// cutLast returns what a benchmark's name has before its last element: Gin/ of Gin/Create.
func cutLast(subject string) string {
	if i := strings.LastIndexAny(subject, "/"); i >= 0 {
		return subject[:i]
	}
	if i := strings.LastIndexAny(subject, "_"); i >= 0 {
		return subject[:i]
	}
	return ""
}
