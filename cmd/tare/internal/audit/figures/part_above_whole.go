package figures

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// partAboveWhole returns the rule about this mistake: a part is greater than what it is a part of.
func partAboveWhole() rule {
	return rule{audit.Rule{
		ID: "part-above-whole", Severity: tare.Void, Title: "A part is greater than what it is a part of.",
		Why:     "A quantile cannot be above the maximum, nor a lower one above a higher one, nor a step above the request that has it: the figures are of different runs, or were typed wrongly.",
		Do:      "take all figures of a row from one run",
		Command: loadCommand, Lang: "text",
		Bad:  "| server | p50 | p99 | max |\n|---|---|---|---|\n| a | 12 ms | 48 ms | 31 ms |\n",
		Good: "| server | p50 | p99 | max |\n|---|---|---|---|\n| a | 12 ms | 31 ms | 48 ms |\n",
	}, findPartAboveWhole}
}

func findPartAboveWhole(d *document, report reportFunc) {
	for _, l := range d.loads {
		qs := slices.Clone(l.quantiles)
		slices.SortStableFunc(qs, func(a, b quantileValue) int {
			switch {
			case a.q < b.q:
				return -1
			case a.q > b.q:
				return 1
			}
			return 0
		})
		for i := 1; i < len(qs); i++ {
			if qs[i].value < qs[i-1].value*0.999 {
				report(qs[i].line, fmt.Sprintf("the quantile %s is %s, that of %s is %s", formatQuantile(qs[i].q), formatTime(qs[i].value), formatQuantile(qs[i-1].q), formatTime(qs[i-1].value)))
			}
		}
		if n := len(qs); n > 0 && l.max.isKnown() && qs[n-1].value > l.max.value*1.01+1e-3 {
			report(qs[n-1].line, fmt.Sprintf("the quantile %s is %s, and the maximum %s", formatQuantile(qs[n-1].q), formatTime(qs[n-1].value), formatTime(l.max.value)))
		}
		if l.mean.isKnown() && l.max.isKnown() && l.mean.value > l.max.value*1.01 {
			report(l.mean.line, fmt.Sprintf("the mean is %s, and the maximum %s", formatTime(l.mean.value), formatTime(l.max.value)))
		}
		if l.mean.isKnown() && l.min.isKnown() && l.min.value > l.mean.value*1.01+1e-3 {
			report(l.mean.line, fmt.Sprintf("the mean is %s, and the minimum %s", formatTime(l.mean.value), formatTime(l.min.value)))
		}
		for _, p := range l.parts {
			if l.mean.isKnown() && p.value > l.mean.value*1.05+1.5e-3 {
				report(p.line, fmt.Sprintf("%s takes %s of a request of %s in the mean", p.name, formatTime(p.value), formatTime(l.mean.value)))
			}
		}
		if l.requests.isKnown() && l.errors.value > l.requests.value*1.001 && l.tool != "wrk" && l.tool != "ab" {
			report(l.errors.line, fmt.Sprintf("%.0f of %.0f requests failed", l.errors.value, l.requests.value))
		}
	}
	for i, t := range d.tables {
		findDisorder(t.measures(i), report)
	}
	for _, c := range d.groups {
		findSmallTotal(c, report)
	}
}

// totalRow matches the label of a row that has all others within it.
var totalRow = regexp.MustCompile(`(?i)^(?:total|sum|overall|whole request|full request|end[- ]to[- ]end)\b(?: time| latency| duration)?$`)

// findSmallTotal finds a total that is smaller than one of its parts.
func findSmallTotal(c *comparison, report reportFunc) {
	if c.kind == rateKind || c.origin < 0 {
		return
	}
	for _, total := range c.measures {
		if !totalRow.MatchString(total.subject) {
			continue
		}
		for _, part := range c.measures {
			if part.value > total.value*1.005 && part.line < total.line {
				report(total.line, fmt.Sprintf("%s is %s, and %s in it is %s", quote(total.subject), formatValue(total.quantity), quote(part.subject), formatValue(part.quantity)))
				break
			}
		}
	}
}

// parseQuantileName orders columns that grow from one to the next; 0: the column is none of them.
func parseQuantileName(header string) float64 {
	header = strings.Trim(strings.ToLower(header), " :")
	if !strings.HasPrefix(header, "p(") {
		header, _, _ = strings.Cut(header, "(")
	}
	header = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(header), " latency"))
	header = strings.TrimSpace(strings.TrimPrefix(header, "latency "))
	if strings.HasPrefix(header, "min") || header == "fastest" {
		return 1e-6
	}
	if strings.HasPrefix(header, "max") || header == "slowest" {
		return 100
	}
	if strings.HasPrefix(header, "med") {
		return 50
	}
	m := quantileName.FindStringSubmatch(header)
	if m == nil || m[1] == "" && m[3] == "" {
		return 0
	}
	q, err := strconv.ParseFloat(m[2], 64)
	if err != nil || q > 100 && q < 999 {
		return 0
	}
	for q > 100 { // p999 is p99.9
		q /= 10
	}
	return q
}

// quantileName matches p99, p(99), 99% and 99th.
var quantileName = regexp.MustCompile(`^(p\(?)?(\d{1,5}(?:\.\d+)?)\)?(%|th)?$`)

// findDisorder finds quantiles of a row that fall where they should rise.
func findDisorder(all []measure, report reportFunc) {
	for i, a := range all {
		for _, b := range all[i+1 : min(len(all), i+maxCells)] {
			if a.line != b.line && a.metric == b.metric || a.kind != timeKind || b.kind != timeKind || a.subject != b.subject {
				continue
			}
			x, y := parseQuantileName(a.metric), parseQuantileName(b.metric)
			if x > y {
				x, y, a, b = y, x, b, a
			}
			if x > 0 && y > x && a.value > b.value*1.005 {
				report(b.line, fmt.Sprintf("%s of %s is %s, and %s is %s", a.metric, quote(a.subject), formatTime(a.value), b.metric, formatTime(b.value)))
			}
		}
	}
}
