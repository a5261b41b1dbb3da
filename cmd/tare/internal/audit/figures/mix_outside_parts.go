package figures

import (
	"fmt"
	"math"
	"slices"
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

// shares matches the label of a mix by the shares of its parts.
var shares = lazyregexp.New(`(?i)\b\d?\d\s?%[,+:_ -]+[a-z]\w*=?\s?\d?\d\s?%`)

var (
	// allParts matches the label of all operations together.
	allParts = lazyregexp.New(`(?i)^(?:all(?: (?:operations|ops|requests|calls|statements|queries|endpoints|methods|together))?|overall|combined|aggregated?|everything)$`)
	// typical matches a metric of which that of all operations is between those of each: no
	// sum, and no rate.
	typical = lazyregexp.New(`(?i)\b(?:mean|avg|average|median|p\d\d\d?)\b`)
	// divided matches a statement, a command or a heading about one report for all requests.
	divided = lazyregexp.New(`(?i)\bsplit\b|\bmix(?:ed)?\b|\ball\b|\boverall\b|\bcombined\b|\bin total\b|\btogether\b|\bfiltered\b|\bseparated?\b|\bby (?:method|route|endpoint|operation|path|status|type)\b`)
)

const (
	mixTolerance = 0.05 // of the least and the greatest part
	maxMixParts  = 500  // figures of a group
	maxSumParts  = 8    // reports of the parts of one
)

// findSumOutsideParts reports reports of all requests whose mean is not between those of reports of
// parts of them: the next reports, whose requests have their sum.
func findSumOutsideParts(loads []*load, report reportFunc) {
	for i, all := range loads {
		if !all.requests.isKnown() || !all.mean.isKnown() || !divided.MatchString(all.command+" "+all.path+" "+all.label) {
			continue
		}
		sum, weighted, low, high := 0.0, 0.0, math.Inf(1), 0.0
		for n, part := range loads[i+1 : min(len(loads), i+1+maxSumParts)] {
			if part.tool != all.tool || !part.mean.isKnown() || !(part.requests.value > 0) {
				break
			}
			sum += part.requests.value
			weighted += part.requests.value * part.mean.value
			low, high = min(low, part.mean.value), max(high, part.mean.value)
			if sum > all.requests.value {
				break
			}
			if sum < all.requests.value || n == 0 {
				continue
			}
			if mean := weighted / sum; !isNear(mean, all.mean.value, mixTolerance) {
				report(all.mean.line, fmt.Sprintf("the mean of all %.0f requests is %s; its %d parts have %s to %s, and together %s", sum, formatTime(all.mean.value), n+1, formatTime(low), formatTime(high), formatTime(mean)))
			}
			break
		}
	}
}

// findTaggedOutside reports a report of k6 whose mean is not that of its parts: the requests with each
// value of one tag, if their counts add up to all requests.
func findTaggedOutside(l *load, report reportFunc) {
	const minParts = 2
	byTag := map[string][]taggedPart{}
	var tags []string
	for _, p := range l.tagged {
		if byTag[p.tag] == nil {
			tags = append(tags, p.tag)
		}
		byTag[p.tag] = append(byTag[p.tag], p)
	}
	for _, tag := range tags {
		sum, weighted, n := 0.0, 0.0, 0
		for _, p := range byTag[tag] {
			if p.mean.isKnown() && p.requests.value > 0 {
				sum += p.requests.value
				weighted += p.requests.value * p.mean.value
				n++
			}
		}
		if n < minParts || sum != l.requests.value || !l.mean.isKnown() {
			continue
		}
		if mean := weighted / sum; !isNear(mean, l.mean.value, mixTolerance) {
			report(l.mean.line, fmt.Sprintf("the mean of all %.0f requests is %s; those of its %d parts by %s make %s", sum, formatTime(l.mean.value), n, tag, formatTime(mean)))
		}
	}
}

// findMixOutsideParts reports mixes in tables, benchmarks and reports that cost more than each of
// their parts or less. The parts are the other figures of the group with the same prefix.
func findMixOutsideParts(d *document, report reportFunc) {
	findSumOutsideParts(d.loads, report)
	for i, t := range d.tables {
		findAllColumn(t, t.measures(i), report)
	}
	d.findStatMix(report)
	for _, m := range d.means {
		d.findMeanOutsideRows(m, report)
	}
	for _, l := range d.loads {
		findTaggedOutside(l, report)
	}
	for _, c := range d.groups {
		if c.origin < 0 || c.origin >= reportOrigin || len(c.measures) > maxMixParts {
			continue
		}
		for _, m := range c.measures {
			isMix := func(x measure) bool {
				return mixed.MatchString(x.subject) || c.kind == timeKind && shares.MatchString(x.subject) || allParts.MatchString(x.subject) && typical.MatchString(c.metric)
			}
			if !isMix(m) {
				continue
			}
			low, high, n := 0.0, 0.0, 0
			for _, other := range c.measures {
				if isMix(other) || cutLast(other.subject) != cutLast(m.subject) {
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

// findStatMix reports a mix in a table of benchstat whose time in a file is outside the times of its parts.
func (d *document) findStatMix(report reportFunc) {
	name := func(row statRow) string { return processors.ReplaceAllString(row.name, "") }
	isTime := func(row statRow) bool { return strings.HasPrefix(row.unit, "sec") && row.values != nil }
	for _, m := range d.stats[:min(len(d.stats), maxMixParts)] {
		if isMix := mixed.MatchString(m.name) || shares.MatchString(m.name); !isMix || !isTime(m) || cutLast(name(m)) == "" {
			continue
		}
		for i, value := range m.values {
			low, high, n := math.Inf(1), 0.0, 0
			for _, row := range d.stats[:min(len(d.stats), maxMixParts)] {
				isPart := row.name != m.name && row.table == m.table && isTime(row) && cutLast(name(row)) == cutLast(name(m)) && !mixed.MatchString(row.name)
				if isPart {
					low, high, n = min(low, row.values[i]), max(high, row.values[i]), n+1
				}
			}
			if n > 1 && (value < low*(1-mixTolerance) || value > high*(1+mixTolerance)) {
				report(m.line, fmt.Sprintf("%s of %s takes %s; its %d parts take %s to %s", m.name, m.sides[i], formatTime(value), n, formatTime(low), formatTime(high)))
				break
			}
		}
	}
}

// allHeader matches the header of the figures of all requests.
var allHeader = lazyregexp.New(`(?i)^(?:all|overall|combined|together|mixed|mix)\b`)

// findAllColumn reports a row whose time of all requests is outside the times of the kinds of requests beside it.
func findAllColumn(t *table, all []measure, report reportFunc) {
	column := slices.IndexFunc(t.header, allHeader.MatchString)
	if column < 1 {
		return
	}
	for _, row := range t.rows {
		low, high, n := math.Inf(1), 0.0, 0
		var whole measure
		for _, m := range all {
			switch {
			case m.line != row.line || m.kind != timeKind:
			case m.column == column:
				whole = m
			default:
				low, high, n = min(low, m.value), max(high, m.value), n+1
			}
		}
		if n > 1 && n == column-1 && whole.line > 0 && (whole.value < low*(1-mixTolerance) || whole.value > high*(1+mixTolerance)) {
			report(row.line, fmt.Sprintf("the time of all requests is %s; its %d parts have %s to %s", formatValue(whole.quantity), n, formatTime(low), formatTime(high)))
		}
	}
}

// findMeanOutsideRows reports a geometric mean that changes by more than each row of its table, or by less. It
// leaves out tables with a row of one file only, which benchstat leaves out of one of the two means.
func (d *document) findMeanOutsideRows(m statMean, report reportFunc) {
	const rounding = 0.02 // percent
	low, high, n := math.Inf(1), math.Inf(-1), 0
	for _, row := range d.stats {
		if row.table != m.table || row.unit != m.unit || row.line > m.line {
			continue
		}
		if row.values == nil || !(row.values[0] > 0) || !(row.values[1] > 0) {
			return
		}
		change := 100 * (row.values[1]/row.values[0] - 1)
		low, high, n = min(low, change), max(high, change), n+1
	}
	slack := rounding + mixTolerance*math.Abs(m.change)
	if n > 1 && (m.change < low-slack || m.change > high+slack) {
		report(m.line, fmt.Sprintf("the geometric mean of %d rows changes by %+.2f %%, and the rows by %+.2f to %+.2f %%", n, m.change, low, high))
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
