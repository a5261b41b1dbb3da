package figures

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file reads the figures in tables. For example, the cell "4.1" below the header "time (ms)" is
// a time of 0.0041 s.

// table is a table of a page. The method figures reads its cells.
type table struct {
	position
	caption string // of HTML; "" if there is none
	units   string // the sentence that states the unit of all figures of the page; "" if there is none
	header  []string
	rows    []tableRow
}

type tableRow struct {
	line  int
	cells []string
}

// Further rows and cells are not stored.
const (
	maxRows  = 2000
	maxCells = 60 // in a row
)

// splitRow returns the cells of a row in Markdown, or nil if text has no |.
func splitRow(text string) []string {
	if !strings.Contains(text, "|") {
		return nil
	}
	text = strings.TrimSpace(text)
	text = strings.TrimPrefix(text, "|")
	if strings.HasSuffix(text, "|") && !strings.HasSuffix(text, `\|`) {
		text = text[:len(text)-1]
	}
	var cells []string
	var cell strings.Builder
	inCode := false
	for i := 0; i < len(text) && len(cells) < maxCells; i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && text[i+1] == '|':
			cell.WriteByte('|')
			i++
		case c == '|' && !inCode:
			cells = append(cells, cleanCell(cell.String()))
			cell.Reset()
		default:
			if c == '`' {
				inCode = !inCode
			}
			cell.WriteByte(c)
		}
	}
	return append(cells, cleanCell(cell.String()))
}

var (
	markdownLinkRE = lazyregexp.New(`!?\[([^\]]*)\]\([^)]*\)`) // [text](url); the group is the text
	htmlTagRE      = lazyregexp.New(`<[^>]*>`)
)

// cleanCell removes the marks of Markdown from a cell.
func cleanCell(text string) string {
	text = markdownLinkRE.ReplaceAllString(text, "$1")
	if strings.Contains(text, "<") {
		text = htmlTagRE.ReplaceAllString(text, " ")
	}
	text = strings.NewReplacer("**", "", "__", "", "`", "", "&nbsp;", " ").Replace(text)
	return strings.TrimSpace(text)
}

// isDelimiterRow reports whether cells are below a header: |---|:-:|.
func isDelimiterRow(cells []string) bool {
	if len(cells) == 0 {
		return false
	}
	for _, c := range cells {
		if c = strings.Trim(c, ":"); c == "" || strings.Trim(c, "- ") != "" {
			return false
		}
	}
	return true
}

// bracketUnitRE matches the unit in "time (ms)" or "time, ms".
var bracketUnitRE = lazyregexp.New(`[(\[,]\s*([A-Za-zµμ#%/]+)\s*[)\]]?\s*$`)

// findKind returns the kind that a header names, and the size of its unit: timeKind and 0.001 for
// "time (ms)". size is 0 without a unit.
func findKind(header string) (k kind, size float64, isKnown bool) {
	text := strings.ToLower(strings.TrimSpace(header))
	if m := bracketUnitRE.FindStringSubmatch(text); m != nil {
		if u, ok := findUnit(m[1]); ok {
			return u.kind, u.size, true
		}
	}
	words := strings.Fields(text)
	for i, word := range words {
		u, ok := findUnit(word)
		// Other units, such as s, b or min, may be words of a header.
		isQuotient := strings.Contains(word, "/")
		isKindCertain := u.kind == rateKind || u.kind == allocKind || u.kind == percentKind
		isLast := i > 0 && i == len(words)-1 // as in "decompress ms"
		if ok && (isQuotient || isKindCertain || isLast && slices.Contains([]string{"ms", "ns", "us", "µs", "μs"}, word)) {
			return u.kind, u.size, true
		}
	}
	if u, ok := findUnit(text); ok && len(text) > 1 {
		return u.kind, u.size, true
	}
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
	switch {
	case has("%", "percent", "ratio", "improvement", "speedup", "overhead", "diff", "vs ", "change", "faster"):
		return plainKind, 0, false
	case has("alloc"):
		return allocKind, 0, true
	case has("req/s", "requests/s", "requests per second", "per second", "throughput", "rps", "ops/s"):
		return rateKind, 0, true
	case has("memory", "mem/op", "bytes"):
		return byteKind, 0, true
	case has("latency", "time/op", "duration", "response time", "p50", "p90", "p95", "p99", "slowest", "fastest"):
		return timeKind, 0, true
	}
	return plainKind, 0, false
}

// figures returns the figures of the cells. index is the number of the table in the page.
func (t *table) figures(index int) []figure {
	var out []figure
	for _, row := range t.rows {
		label := ""
		for i, cell := range row.cells {
			q, ok := parseCell(cell)
			if !ok {
				if label == "" && strings.ContainsFunc(cell, isLetter) {
					label = cell
				}
				continue
			}
			if label == "" && i == 0 {
				label = cell // a number as the label, such as a size
				if len(t.header) > 0 && !strings.ContainsFunc(cell, isLetter) && strings.ContainsFunc(t.header[0], isLetter) {
					label += " " + firstWord(t.header[0]) // "200 legs" in the column "legs"
				}
				continue
			}
			header := ""
			if i < len(t.header) {
				header = t.header[i]
			}
			f := t.newFigure(q, label, header)
			if f.kind == plainKind && f.metric == "" {
				continue
			}
			f.origin, f.line, f.column = index, row.line, i
			out = append(out, f)
		}
	}
	return out
}

// newFigure returns the figure of a cell. Usually the label names the contender and the header the
// metric. A label that names a metric swaps them.
func (t *table) newFigure(q quantity, label, header string) figure {
	f := figure{
		quantity: q, subject: strings.ToLower(label), metric: strings.ToLower(header),
		heading: strings.ToLower(t.heading), label: strings.ToLower(label), header: strings.ToLower(header),
		section: t.section,
	}
	k, size, isKnown := findKind(header)
	if !isKnown && sideHeaderRE.MatchString(header) {
		k, size, isKnown = findKind(t.heading) // e.g. "Latency, ms" above before and after
		isKnown = isKnown && size > 0
	}
	if !isKnown {
		k, size, isKnown = t.findCaptionKind(header)
	}
	if !isKnown {
		k, size, isKnown = findKind(label)
		isLabelMetric := namesMetric(label) && strings.ContainsFunc(header, isLetter) && !namesMetric(header)
		if isKnown || isLabelMetric {
			f.subject, f.metric = f.metric, f.subject
		}
	}
	if q.kind == plainKind && isKnown {
		f.kind = k
		if size > 0 {
			f.value, f.step = q.raw*size, q.step*size
		}
	}
	return f
}

// captionUnitRE matches "Time per event in ns" and "Throughput (MB/s)". The groups are ns and MB/s.
var captionUnitRE = lazyregexp.New(`(?i)\bin (ns|µs|us|μs|ms|seconds|[KMG]i?B/s|MB|MiB|[a-z]+/s)\b|\((ns|µs|us|μs|ms|[KMG]i?B/s|[a-z]+/s)\)`)

// findCaptionKind returns the kind and the size of the unit that the caption of the table, or the line above it, states
// for its columns, such as "Time per event in ns". The header must be a name, and no other header may have a unit.
func (t *table) findCaptionKind(header string) (k kind, size float64, isKnown bool) {
	m := captionUnitRE.FindStringSubmatch(cmp.Or(t.caption, t.label))
	if m == nil {
		m = captionUnitRE.FindStringSubmatch(t.units)
	}
	if m == nil || !strings.ContainsFunc(header, isLetter) || len(t.header) < 2 || header == t.header[0] {
		return plainKind, 0, false
	}
	hasOwnKind := func(header string) bool {
		_, _, isKnown := findKind(header)
		return isKnown || namesMetric(header) || changeHeaderRE.MatchString(header) || strings.Contains(header, "%")
	}
	if slices.ContainsFunc(t.header[1:], hasOwnKind) {
		return plainKind, 0, false
	}
	u, ok := findUnit(m[1] + m[2])
	return u.kind, u.size, ok
}

// pageUnitRE matches "All figures are medians, in ns/op".
var pageUnitRE = lazyregexp.New(`(?i)\b(?:all|the) (?:figures|times|timings|values|numbers|cells|latencies|results)\b[^.]*\bin (?:ns|µs|us|μs|ms|seconds)\b`)

// readPageUnit gives all tables the sentence of the page that states the unit of all figures. It
// does so only if the page has one such sentence.
func (d *document) readPageUnit() {
	units := ""
	for _, s := range d.sentences {
		if m := pageUnitRE.FindString(s.text); m != "" {
			if units != "" {
				return
			}
			units = m
		}
	}
	for _, t := range d.tables {
		t.units = units
	}
}

// namesMetric reports whether a header names a metric instead of a contender.
func namesMetric(header string) bool {
	header = strings.ToLower(header)
	words := []string{"time", "latency", "value", "result", "speed", "mean", "avg", "average", "median", "memory", "size", "max", "min", "stdev", "total", "count", "rate", "p50", "p9"}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(header, word) })
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x7f }
