package figures

import (
	"slices"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// table is a table of a page.
type table struct {
	position
	header []string
	rows   []tableRow
}

// tableRow is a row of a table with its line.
type tableRow struct {
	line  int
	cells []string
}

// Bounds of what is stored of a table.
const (
	maxRows  = 2000
	maxCells = 60
)

// splitRow returns the cells of a row of a Markdown table, nil if text has no |.
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
	link = lazyregexp.New(`!?\[([^\]]*)\]\([^)]*\)`)
	tag  = lazyregexp.New(`<[^>]*>`)
)

// cleanCell returns the text of a cell without marks of Markdown.
func cleanCell(text string) string {
	text = link.ReplaceAllString(text, "$1")
	if strings.Contains(text, "<") {
		text = tag.ReplaceAllString(text, " ")
	}
	text = strings.NewReplacer("**", "", "__", "", "`", "", "&nbsp;", " ").Replace(text)
	return strings.TrimSpace(text)
}

// isRule reports whether cells are those of the rule below the header of a table: |---|:-:|.
func isRule(cells []string) bool {
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

// measure is a figure of a page: a cell of a table, or a figure of a benchmark or report.
type measure struct {
	quantity
	subject string // name of the contender: of a row, or of a column, in lower case
	metric  string // name of the metric: of a column, or of a row
	heading string // heading above, in lower case
	origin  int    // number of the table, or an origin such as benchOrigin
	line    int
	higher  bool   // a higher value is better
	column  int    // index of the column of a table
	label   string // label of the row of a table, in lower case
	header  string // header of the column of a table, in lower case
	section int    // number of headings of the first level so far
}

// bracketUnit matches the unit in a header: in brackets, or after a comma.
var bracketUnit = lazyregexp.New(`[(\[,]\s*([A-Za-zµμ#%/]+)\s*[)\]]?\s*$`)

// findKind returns the kind of figures that the header of a column, or the label of a row,
// names, and the size of its unit in base units, 0 if it names no unit. known is false if
// the kind is unknown.
func findKind(header string) (k kind, size float64, known bool) {
	text := strings.ToLower(strings.TrimSpace(header))
	if m := bracketUnit.FindStringSubmatch(text); m != nil {
		if u, ok := findUnit(m[1]); ok {
			return u.kind, u.size, true
		}
	}
	words := strings.Fields(text)
	for i, word := range words {
		u, ok := findUnit(word)
		// Words such as s, b or min may not be units.
		isCertain := strings.Contains(word, "/") || u.kind == rateKind || u.kind == allocKind || u.kind == percentKind ||
			i > 0 && i == len(words)-1 && slices.Contains([]string{"ms", "ns", "us", "µs", "μs"}, word) // decompress ms
		if ok && isCertain {
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

// measures returns the figures of a table, whose number in the page is index. The subject
// of a figure is the label of its row, and the metric is the header of its column, or the
// other way round if the label names a metric.
func (t *table) measures(index int) []measure {
	var out []measure
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
			header := ""
			if i < len(t.header) {
				header = t.header[i]
			}
			if label == "" && i == 0 {
				label = cell // the rows are sizes
				continue
			}
			m := measure{
				quantity: q,
				subject:  strings.ToLower(label),
				metric:   strings.ToLower(header),
				heading:  strings.ToLower(t.heading),
				origin:   index,
				line:     row.line,
				column:   i,
				label:    strings.ToLower(label),
				header:   strings.ToLower(header),
				section:  t.section,
			}
			k, size, known := findKind(header)
			if !known && sideHeader.MatchString(header) {
				k, size, known = findKind(t.heading) // e.g. "Latency, ms" above before and after
				known = known && size > 0
			}
			if !known {
				k, size, known = findKind(label)
				isLabelMetric := namesMetric(label) && strings.ContainsFunc(header, isLetter) && !namesMetric(header)
				if known || isLabelMetric {
					m.subject, m.metric = m.metric, m.subject
				}
			}
			if q.kind == plainKind && known {
				m.kind = k
				if size > 0 {
					m.value, m.step = q.raw*size, q.step*size
				}
			}
			if m.kind == plainKind && m.metric == "" {
				continue
			}
			m.higher = m.kind == rateKind || m.kind == byteRateKind
			out = append(out, m)
		}
	}
	return out
}

// namesMetric reports whether a header names a metric, and not a contender.
func namesMetric(header string) bool {
	header = strings.ToLower(header)
	words := []string{"time", "latency", "value", "result", "speed", "mean", "avg", "average", "median", "memory", "size", "max", "min", "stdev", "total", "count", "rate", "p50", "p9"}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(header, word) })
}

// isLetter reports whether r is an ASCII letter or not ASCII.
func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x7f }
