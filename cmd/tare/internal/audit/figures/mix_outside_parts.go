package figures

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is the rule mix-outside-parts. A mix of operations cannot cost more than its dearest
// part. For example, "Mixed" takes 83 µs, but "Get" 26 µs and "Create" 41 µs.

// mixOutsideParts finds mixes that cost more or less than each of their operations.
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

var (
	// mixLabelRE matches the label of a mix, such as Mixed or "80% reads".
	mixLabelRE = lazyregexp.New(`(?i)\bmix(?:ed)?\d{0,3}(?:\b|_|workload|load|ops)|\d+% ?reads?|readwrite|read/write`)
	// mixSharesRE matches "70% get, 30% put".
	mixSharesRE = lazyregexp.New(`(?i)\b\d?\d\s?%[,+:_ -]+[a-z]\w*=?\s?\d?\d\s?%`)
	// allPartsRE matches "all requests".
	allPartsRE = lazyregexp.New(`(?i)^(?:all(?: (?:operations|ops|requests|calls|statements|queries|endpoints|methods|together))?` +
		`|overall|combined|aggregated?|everything)$`)
	// typicalMetricRE matches a mean or a quantile. That of a mix is between those of its parts.
	typicalMetricRE = lazyregexp.New(`(?i)\b(?:mean|avg|average|median|p\d\d\d?)\b`)
	// combinedReportRE matches a report about several kinds of requests.
	combinedReportRE = lazyregexp.New(`(?i)\bsplit\b|\bmix(?:ed)?\b|\ball\b|\boverall\b|\bcombined\b` +
		`|\bin total\b|\btogether\b|\bfiltered\b|\bseparated?\b|\bby (?:method|route|endpoint|operation|path|status|type)\b`)
)

const (
	mixTolerance = 0.05 // share by which a mix may be outside
	maxMixParts  = 500  // figures of a group, or rows of benchstat
	maxSumParts  = 8    // reports about parts of one report
)

func findMixOutsideParts(d *document, report reportFunc) {
	findSumOutsideParts(d.reports, report)
	for i, t := range d.tables {
		findAllColumn(t, t.figures(i), report)
	}
	d.findStatMix(report)
	findNamedMix(d.benches, report)
	for _, m := range d.statMeans {
		d.findMeanOutsideRows(m, report)
	}
	for _, l := range d.reports {
		findTaggedOutside(l, report)
	}
	for _, g := range d.groups {
		isOfTableOrBench := g.origin >= 0 && g.origin < reportOrigin
		if isOfTableOrBench && len(g.figures) <= maxMixParts {
			findMixInGroup(g, report)
		}
	}
}

// findSumOutsideParts reports a mean latency of all requests that is not the mean of the parts. The
// parts are the reports right after it, if their requests add up to all.
func findSumOutsideParts(loads []*loadReport, report reportFunc) {
	for i, all := range loads {
		isCombined := combinedReportRE.MatchString(all.command + " " + all.path + " " + all.label)
		if !all.requests.isKnown() || !all.meanLatency.isKnown() || !isCombined {
			continue
		}
		sum, latencies := 0.0, 0.0 // requests, and sum of their latencies in s
		var means valueRange
		for _, part := range loads[i+1 : min(len(loads), i+1+maxSumParts)] {
			if part.tool != all.tool || !part.meanLatency.isKnown() || !(part.requests.value > 0) {
				break
			}
			sum += part.requests.value
			latencies += part.requests.value * part.meanLatency.value
			means.add(part.meanLatency.value)
			if sum < all.requests.value || sum == all.requests.value && means.count == 1 {
				continue // a single report with as many requests is another run
			}
			if mean := latencies / sum; sum == all.requests.value && !isNear(mean, all.meanLatency.value, mixTolerance) {
				report(all.meanLatency.line, fmt.Sprintf("the mean of all %.0f requests is %s; its %d parts have %s to %s, and together %s", sum, formatTime(all.meanLatency.value), means.count, formatTime(means.low), formatTime(means.high), formatTime(mean)))
			}
			break
		}
	}
}

// findTaggedOutside reports a mean latency of k6 that is not the mean of its parts. A part is the
// requests with one value of a tag.
func findTaggedOutside(l *loadReport, report reportFunc) {
	const minParts = 2
	byTag := map[string][]taggedPart{}
	var tags []string
	for _, p := range l.tagParts {
		if byTag[p.tag] == nil {
			tags = append(tags, p.tag)
		}
		byTag[p.tag] = append(byTag[p.tag], p)
	}
	for _, tag := range tags {
		var means valueRange
		for _, p := range byTag[tag] {
			if p.mean.isKnown() {
				means.add(p.mean.value)
			}
		}
		isWhole := tag == "scenario" && l.scenarios >= minParts && means.count == l.scenarios
		if isWhole && l.meanLatency.isKnown() && means.isOutside(l.meanLatency.value, mixTolerance) {
			report(l.meanLatency.line, fmt.Sprintf("the mean of all requests is %s; its %d scenarios have %s to %s", formatTime(l.meanLatency.value), means.count, formatTime(means.low), formatTime(means.high)))
			continue
		}
		sum, latencies, n := 0.0, 0.0, 0
		for _, p := range byTag[tag] {
			if p.mean.isKnown() && p.requests.value > 0 {
				sum += p.requests.value
				latencies += p.requests.value * p.mean.value
				n++
			}
		}
		if n < minParts || sum != l.requests.value || !l.meanLatency.isKnown() {
			continue
		}
		if mean := latencies / sum; !isNear(mean, l.meanLatency.value, mixTolerance) {
			report(l.meanLatency.line, fmt.Sprintf("the mean of all %.0f requests is %s; those of its %d parts by %s make %s", sum, formatTime(l.meanLatency.value), n, tag, formatTime(mean)))
		}
	}
}

// findMixInGroup reports mixes in a column that cost more or less than all parts. The parts are the
// other figures whose names have the same prefix.
func findMixInGroup(g *figureGroup, report reportFunc) {
	isMix := func(f figure) bool {
		hasShares := g.kind == timeKind && mixSharesRE.MatchString(f.subject)
		isOfAll := allPartsRE.MatchString(f.subject) && typicalMetricRE.MatchString(g.metric)
		return mixLabelRE.MatchString(f.subject) || hasShares || isOfAll
	}
	for _, mix := range g.figures {
		if !isMix(mix) {
			continue
		}
		var parts valueRange
		for _, other := range g.figures {
			if !isMix(other) && cutLast(other.subject) == cutLast(mix.subject) {
				parts.add(other.value)
			}
		}
		if parts.count < 2 || !parts.isOutside(mix.value, mixTolerance) {
			continue
		}
		formatCost := func(value float64) string { return formatValue(quantity{value: value, kind: mix.kind}) }
		report(mix.line, fmt.Sprintf("%s of %s is %s; its %d parts have %s to %s", g.metric, quote(mix.subject), formatCost(mix.value), parts.count, formatCost(parts.low), formatCost(parts.high)))
	}
}

var (
	// namedShareRE matches get=90 in the name of a mix. The groups are get and 90.
	namedShareRE = lazyregexp.New(`(?i)\b([a-z]+)[=:](\d\d?)%?(?:$|[^\d.])`)
	// shareOfNameRE matches "90% get". The groups are 90 and get.
	shareOfNameRE = lazyregexp.New(`(?i)\b(\d\d?) ?%? ?[-_ ]?([a-z]+)\b`)
	// joinedShareRE matches get90 of get90-put10. The groups are get and 90.
	joinedShareRE = lazyregexp.New(`(?i)(?:^|[^a-z])([a-z]+)(\d\d?)(?:$|[^\da-z%])`)
)

// namedShares returns the percentages in a name, if their sum is 100.
func namedShares(name string) map[string]float64 {
	for _, form := range []struct {
		pattern     *lazyregexp.Regexp
		name, share int // groups
	}{{namedShareRE, 1, 2}, {joinedShareRE, 1, 2}, {shareOfNameRE, 2, 1}} {
		shares, sum := map[string]float64{}, 0.0
		spaced := strings.NewReplacer("_", "  ", "-", "  ", ",", "  ").Replace(name) // a match takes the character after it
		for _, m := range form.pattern.FindAllStringSubmatch(spaced, maxSumParts) {
			share, err := strconv.ParseFloat(m[form.share], 64)
			if err == nil {
				shares[strings.ToLower(m[form.name])] = share
				sum += share
			}
		}
		if len(shares) > 1 && sum == 100 {
			return shares
		}
	}
	return nil
}

// findNamedMix reports Mixed/get=90,put=10 if its time is outside the times of Get1 and Put1.
func findNamedMix(benches []*bench, report reportFunc) {
	for _, mix := range benches[:min(len(benches), maxMixParts)] {
		shares, total := namedShares(mix.name), 0.0
		ns, hasTime := mix.value("ns/op")
		if shares == nil || !hasTime {
			continue
		}
		var parts valueRange
		for name, share := range shares {
			var part *bench
			count := 0
			for _, b := range benches[:min(len(benches), maxMixParts)] {
				isNear := !strings.Contains(b.name, "/") || cutLast(b.name) == cutLast(mix.name)
				own := strings.TrimRight(b.name[strings.LastIndex(b.name, "/")+1:], "0123456789")
				if b != mix && isNear && b.pkg == mix.pkg && strings.EqualFold(own, name) {
					part = b
					count++
				}
			}
			if count != 1 {
				break
			}
			if value, ok := part.value("ns/op"); ok {
				parts.add(value)
				total += share / 100 * value
			}
		}
		if parts.count == len(shares) && parts.isOutside(ns, mixTolerance) {
			report(mix.line, fmt.Sprintf("%s takes %s; its parts take %s to %s, and in these shares %s", mix.name, formatTime(ns*1e-9), formatTime(parts.low*1e-9), formatTime(parts.high*1e-9), formatTime(total*1e-9)))
		}
	}
}

// findStatMix reports mixes in a table of benchstat that cost more or less than all parts, for each
// of its two files.
func (d *document) findStatMix(report reportFunc) {
	prefix := func(row statRow) string { return cutLast(processorsRE.ReplaceAllString(row.name, "")) }
	isTime := func(row statRow) bool { return strings.HasPrefix(row.unit, "sec") && row.values != nil }
	rows := d.statRows[:min(len(d.statRows), maxMixParts)]
	for _, mix := range rows {
		isMix := mixLabelRE.MatchString(mix.name) || mixSharesRE.MatchString(mix.name)
		if !isMix || !isTime(mix) || prefix(mix) == "" {
			continue
		}
		for i, value := range mix.values {
			var parts valueRange
			for _, row := range rows {
				isSibling := row.name != mix.name && row.table == mix.table && prefix(row) == prefix(mix)
				if isSibling && isTime(row) && !mixLabelRE.MatchString(row.name) {
					parts.add(row.values[i])
				}
			}
			if parts.count > 1 && parts.isOutside(value, mixTolerance) {
				report(mix.line, fmt.Sprintf("%s of %s takes %s; its %d parts take %s to %s", mix.name, mix.files[i], formatTime(value), parts.count, formatTime(parts.low), formatTime(parts.high)))
				break
			}
		}
	}
}

// allHeaderRE matches the header of the times of all requests.
var allHeaderRE = lazyregexp.New(`(?i)^(?:all|overall|combined|together|mixed|mix)\b`)

// findAllColumn checks a table with a column for each kind of request and a last column for all. It
// reports rows in which the last figure is outside the range of the others.
func findAllColumn(t *table, all []figure, report reportFunc) {
	column := slices.IndexFunc(t.header, allHeaderRE.MatchString)
	if column < 1 {
		return
	}
	for _, row := range t.rows {
		var parts valueRange
		var total figure
		for _, f := range all {
			switch {
			case f.line != row.line || f.kind != timeKind:
			case f.column == column:
				total = f
			default:
				parts.add(f.value)
			}
		}
		hasAllParts := parts.count > 1 && parts.count == column-1
		if hasAllParts && total.line > 0 && parts.isOutside(total.value, mixTolerance) {
			report(row.line, fmt.Sprintf("the time of all requests is %s; its %d parts have %s to %s", formatValue(total.quantity), parts.count, formatTime(parts.low), formatTime(parts.high)))
		}
	}
}

// findMeanOutsideRows reports a geometric mean that changes by more or less than each row. A row of
// one file is in only one of the two means.
func (d *document) findMeanOutsideRows(mean statMean, report reportFunc) {
	const rounding = 0.02 // percentage points: benchstat prints two decimals
	var changes valueRange
	for _, row := range d.statRows {
		if row.table != mean.table || row.unit != mean.unit || row.line > mean.line {
			continue
		}
		if row.values == nil || !(row.values[0] > 0) || !(row.values[1] > 0) {
			return
		}
		changes.add(100 * (row.values[1]/row.values[0] - 1))
	}
	slack := rounding + mixTolerance*math.Abs(mean.change)
	if changes.count > 1 && (mean.change < changes.low-slack || mean.change > changes.high+slack) {
		report(mean.line, fmt.Sprintf("the geometric mean of %d rows changes by %+.2f %%, and the rows by %+.2f to %+.2f %%", changes.count, mean.change, changes.low, changes.high))
	}
}

// cutLast removes the last element of a name: it returns Gin for Gin/Create, and "" for Gin.
func cutLast(subject string) string {
	if i := strings.LastIndex(subject, "/"); i >= 0 {
		return subject[:i]
	}
	if i := strings.LastIndex(subject, "_"); i >= 0 {
		return subject[:i]
	}
	return ""
}
