package html

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"html"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/report"
	"github.com/tarebench/tare/report/html/htmltest"
)

func rendered(t *testing.T, r *tare.Result, o Options) string {
	t.Helper()
	var out bytes.Buffer
	assert.NoError(t, "write", Write(&out, r, o))
	return out.String()
}

func options() Options {
	return Options{
		Explain: func(check string) string { return "It looks at what " + check + " is named after." },
		Files:   fstest.MapFS{"codec-0.svg": {Data: []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`)}},
	}
}

// Every text of the outline of package report is on the page, with the same words.
func TestEveryWordOfTheOutlineIsThere(t *testing.T) {
	r := htmltest.Whole()
	page := text(t, rendered(t, r, options()))
	said := 0
	want := func(what string) {
		t.Helper()
		said++
		if what != "" && !strings.Contains(page, squeezed(what)) {
			t.Errorf("not on the page: %q", what)
		}
	}
	keys := map[string]bool{}
	for _, s := range report.Outline(r) {
		keys[s.Key] = true
		for _, b := range s.Blocks {
			want(b.Text)
			for _, it := range b.Items {
				want(it.Label)
				want(it.Text)
				want(it.Advice)
				for _, under := range it.Under {
					want(under)
				}
			}
			if b.Table == nil {
				continue
			}
			for _, row := range b.Table.Rows {
				for _, c := range row.Cells {
					want(c.Text)
				}
				for _, note := range row.Notes {
					want(note)
				}
			}
		}
	}
	assert.Equal(t, "parts", len(keys) >= 14, true)
	assert.Equal(t, "texts", said > 200, true)
}

// tabledRatios reads the table of all ratios of a page: the ratio, the interval and the median by
// workload, metric and contender.
func tabledRatios(t *testing.T, page string) map[[3]string][]string {
	t.Helper()
	out := map[[3]string][]string{}
	firstLine := func(field string) string {
		line, _, _ := strings.Cut(field, "\n")
		return text(t, line)
	}
	for _, group := range regexp.MustCompile(`(?s)<tbody data-w="([^"]*)">(.*?)</tbody>`).FindAllStringSubmatch(page, -1) {
		var metrics []string // of the columns, by the head above the row
		for _, row := range strings.Split(group[2], "<tr><th>")[1:] {
			if cells := strings.Split(row, "<th>"); len(cells) > 1 { // a head
				metrics = nil
				for _, c := range cells[1:] {
					metrics = append(metrics, firstLine(c))
				}
				continue
			}
			cells := strings.Split(row, "<td>")
			if len(cells) != len(metrics)+1 {
				t.Fatalf("a row of %d fields below %d heads: %q", len(cells), len(metrics), row)
			}
			name, _, _ := strings.Cut(cells[0], "<small>") // without the rank
			for i, metric := range metrics {
				if cells[i+1] == "" {
					continue
				}
				lines := append(strings.Split(cells[i+1], "\n"), "", "")
				key := [3]string{html.UnescapeString(group[1]), metric, strings.TrimSuffix(text(t, name), " (baseline)")}
				out[key] = []string{text(t, lines[0]), text(t, lines[1]), text(t, lines[2])}
			}
		}
	}
	return out
}

// checkFigures requires the ratios to the baseline and the medians of r in the table of the page.
// It returns how many there are of each.
func checkFigures(t *testing.T, r *tare.Result, page string) (ratios, medians int) {
	t.Helper()
	table := tabledRatios(t, page)
	shown := func(c, w, m string) ([]string, bool) {
		x, _ := r.Contender(c)
		row, ok := table[[3]string{report.Legible(w), m, report.Legible(x.Title())}]
		return row, ok
	}
	near := func(text string, want float64) bool {
		text = strings.ReplaceAll(text, ",", "")
		x, err := strconv.ParseFloat(text, 64)
		_, decimals, _ := strings.Cut(text, ".")
		return err == nil && math.Abs(x-want) <= 0.501*math.Pow10(-len(decimals))
	}
	for _, c := range r.Comparisons {
		row, ok := shown(c.Contender, c.Workload, c.Metric)
		if x, _ := r.Contender(c.Contender); x.Role == tare.RoleNull || x.Role == tare.RoleTrap {
			continue
		}
		ratios++
		switch low, high, found := strings.Cut(strings.Split(row0(row, 1), " at ")[0], "–"); {
		case !ok || c.Contender != c.Against && !near(row[0], c.Ratio):
			t.Errorf("%s of %s on %s: ratio %v, shown %q", c.Metric, c.Contender, c.Workload, c.Ratio, row)
		case len(r.VoidsMetric(c.Contender, c.Workload, c.Metric)) > 0 || c.Exact || !c.Bounded() || c.Contender == c.Against:
		case !found || !near(low, c.Low) || !near(high, c.High):
			t.Errorf("%s of %s on %s: interval %v to %v, shown %q", c.Metric, c.Contender, c.Workload, c.Low, c.High, row)
		}
	}
	units := map[string]float64{"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "MB": 1e6}
	heads := map[[2]string]float64{}
	for _, g := range report.AllRatios(r) {
		unit, _, _ := strings.Cut(g.Unit, "/")
		heads[[2]string{g.Workload, g.Metric}] = max(units[unit], 1)
	}
	for _, v := range r.Values {
		i := slices.IndexFunc(r.Workloads, func(w tare.Workload) bool { return w.ID == v.Workload })
		if m, _ := tare.MetricNamed(v.Metric); i < 0 || !r.Workloads[i].Measures(m) {
			continue
		}
		medians++
		row, ok := shown(v.Contender, v.Workload, v.Metric)
		if median, _, _ := strings.Cut(row0(row, 2), " "); !ok || !near(median, v.Value/heads[[2]string{report.Legible(v.Workload), v.Metric}]) && v.Value >= 0.01 {
			t.Errorf("%s of %s on %s: median %v, shown %q", v.Metric, v.Contender, v.Workload, v.Value, row)
		}
	}
	return ratios, medians
}

func row0(row []string, i int) string {
	if i < len(row) {
		return row[i]
	}
	return ""
}

// The figures of the result are on the page, by workload, contender and metric.
func TestEveryFigureIsThere(t *testing.T) {
	ratios, medians := checkFigures(t, htmltest.Synthetic(6, 2, 12), rendered(t, htmltest.Synthetic(6, 2, 12), Options{}))
	assert.Equal(t, "ratios and medians", ratios > 20 && medians > 20, true)
	lacking := strings.Replace(rendered(t, htmltest.Synthetic(6, 2, 12), Options{}), "<tr><th>codec-1 <small>", "<tr><th>codec-9 <small>", 1)
	probe := &testing.T{}
	checkFigures(probe, htmltest.Synthetic(6, 2, 12), lacking)
	assert.Equal(t, "a lost row is found", probe.Failed(), true)
}

func TestVoidIsStruckAndNamed(t *testing.T) {
	page := rendered(t, htmltest.Whole(), Options{})
	for _, want := range []string{"<s>0.700</s>", "void by wrong-answer", "void by generator-headroom", "Not measured", "not measured at this budget"} {
		if !strings.Contains(strings.ToLower(page), strings.ToLower(want)) {
			t.Errorf("no %q", want)
		}
	}
	tied := htmltest.Synthetic(5, 1, 12)
	for i := range tied.Comparisons {
		tied.Comparisons[i].Low, tied.Comparisons[i].High, tied.Comparisons[i].Ratio = 0.95, 1.05, 1
		if tied.Comparisons[i].RankLow > 0 {
			tied.Comparisons[i].RankLow, tied.Comparisons[i].RankHigh, tied.Comparisons[i].Letters = 1, 3, "a"
		}
	}
	page = rendered(t, tied, Options{})
	hero := page[strings.Index(page, "<table class=\"plot\">"):strings.Index(page, "<ul class=\"key\"")]
	if !strings.Contains(page, "1–3 a") || strings.Contains(hero, `class="m less"`) || strings.Contains(hero, `class="m more"`) || !strings.Contains(hero, "≈ inside the noise") {
		t.Error("a tie is not shown as one")
	}
}

// A page of two revisions begins with the benchmarks that changed, slower ones first, and counts
// the others. It has no sections about price and adoption.
func TestBenchPage(t *testing.T) {
	page := rendered(t, htmltest.Bench(20), Options{})
	seen := text(t, page)
	for _, want := range []string{"3 of 20 benchmarks changed: 1 slower, 2 faster.", "≈ The others show no change"} {
		assert.Contains(t, "page", seen, want)
	}
	slower, faster := strings.Index(page, "▲ 19 % more"), strings.Index(page, "▼ 14 % less")
	assert.Equal(t, "slower before faster", 0 < slower && slower < faster, true)
	for _, not := range []string{`id="price"`, "What comes with each", "What the ranks support"} {
		assert.Equal(t, not, strings.Contains(page, not), false)
	}
	same := htmltest.Bench(20)
	for i := range same.Comparisons {
		same.Comparisons[i].Ratio, same.Comparisons[i].Low, same.Comparisons[i].High = 1, 0.98, 1.02
	}
	quiet := text(t, rendered(t, same, Options{}))
	assert.Contains(t, "nothing changed", quiet, "No change is shown in 20 benchmarks.")
	assert.Contains(t, "nothing changed", quiet, "≈ The smallest change that would have been seen")
	assert.Equal(t, "more is claimed than was shown", strings.Contains(quiet, "None changed"), false)
	// Of a void benchmark nothing is known: it is not one without a change.
	broken := htmltest.Bench(20)
	broken.Comparisons = same.Comparisons
	broken.Findings = append(broken.Findings, tare.Finding{Check: "wrong-answer", Severity: tare.Void, Contender: "head", Workload: broken.Workloads[0].ID, Message: "it is broken"})
	assert.Contains(t, "a void one", text(t, rendered(t, broken, Options{})), "No change is shown in 19 benchmarks; nothing is known of 1 more.")
	// Results of earlier releases have an answer that is too long for a headline.
	same.Answer = strings.Repeat("no change ", 11) + "was shown."
	page = text(t, rendered(t, same, Options{}))
	assert.Contains(t, "long answer", page, "No change is shown in 20 benchmarks.")
	assert.Equal(t, "a title of the chart as headline", strings.Contains(page, "What changed, slower before faster."), false)
}

func TestPageHoldsItsDocument(t *testing.T) {
	r := htmltest.Whole()
	packed := regexp.MustCompile(`(?s)id="document">(.*?)</script>`).FindStringSubmatch(rendered(t, r, Options{}))
	raw, err := base64.StdEncoding.DecodeString(packed[1])
	assert.NoError(t, "base64", err)
	z, err := gzip.NewReader(bytes.NewReader(raw))
	assert.NoError(t, "gzip", err)
	doc, err := io.ReadAll(z)
	assert.NoError(t, "gzip", err)
	var plain, compact bytes.Buffer
	assert.NoError(t, "json", report.JSON(&plain, r))
	assert.NoError(t, "json", json.Compact(&compact, plain.Bytes()))
	assert.Equal(t, "document", string(doc), compact.String())
}

func TestPageForbidsTheNetwork(t *testing.T) {
	page := html.UnescapeString(rendered(t, htmltest.Whole(), options()))
	for _, want := range []string{"default-src 'none'", "script-src 'sha256-", "style-src 'sha256-", "data:image/svg+xml;base64,"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	bare := regexp.MustCompile(`(?s)<(script|style).*?</(script|style)>`).ReplaceAllString(page, "")
	for _, never := range []string{" style=", " onclick", " onload", "javascript:", "src=\"http", "href=\"http", "<link", "<iframe", "eval("} {
		if strings.Contains(bare, never) {
			t.Errorf("the page has %q", never)
		}
	}
	if script := scriptText(); regexp.MustCompile(`\b(fetch|XMLHttpRequest|WebSocket|eval|localStorage|innerHTML)\b`).MatchString(script) {
		t.Error("the script does what it must not")
	}
}

// A result without rounds, workloads or anything else still has a page.
func TestEmptyResults(t *testing.T) {
	for name, r := range map[string]*tare.Result{
		"nothing":      {},
		"no workloads": {Study: "a", Design: tare.Design{Contenders: []tare.Contender{{ID: "x", Role: tare.RoleBaseline}}}},
		"no rounds":    htmltest.Synthetic(3, 1, 0),
		"one":          htmltest.Synthetic(3, 1, 1),
	} {
		if page := rendered(t, r, Options{}); !strings.Contains(page, "</html>") {
			t.Errorf("%s: no page", name)
		}
	}
	var out bytes.Buffer
	if err := Write(&out, &tare.Result{Schema: "else"}, Options{}); err == nil || out.Len() > 0 {
		t.Error("a document of another schema became a page")
	}
}
