package html

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"html"
	"io"
	"regexp"
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

// Every part that package report has is on the page, in the same words.
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
		if s.Key != report.KeyReading { // which stands behind a line of its own
			want(s.Heading)
		}
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
	assert.Equal(t, "parts", len(keys) >= 18, true)
	assert.Equal(t, "texts", said > 300, true)
}

// Every comparison that is not void stands in the page with its figures.
func TestEveryComparisonIsThere(t *testing.T) {
	r := htmltest.Synthetic(6, 2, 12)
	page := text(t, rendered(t, r, Options{}))
	for _, c := range r.Comparisons {
		figures := report.Ratio(c.Ratio) + " [" + report.Ratio(c.Low) + ", " + report.Ratio(c.High) + "]"
		if !strings.Contains(page, figures) {
			t.Errorf("%s of %s on %s: no %s", c.Metric, c.Contender, c.Workload, figures)
		}
	}
	for _, w := range r.Workloads {
		assert.Equal(t, w.ID+" band", strings.Count(page, "Two identical programs may seem to differ this much here: ±1.5 % of time"), len(r.Workloads))
	}
}

// A table of the page holds the fields of the report's and no other figure.
func TestFiguresAreThoseOfTheResult(t *testing.T) {
	r := htmltest.Whole()
	var known strings.Builder
	assert.NoError(t, "text", report.Text(&known, r, report.Style{Width: 100000}))
	assert.NoError(t, "research", report.Research(&known, r))
	p := newPage(r, options(), holding{})
	var walk func([]block)
	checked := 0
	walk = func(blocks []block) {
		for _, b := range blocks {
			if b.Folded != nil {
				walk(b.Folded.Blocks)
			}
			if b.Grid == nil || own(b.Grid.Key) {
				continue
			}
			for _, row := range b.Grid.Rows {
				for _, c := range row.Cells {
					for _, n := range regexp.MustCompile(`\d[\d,.]*\d|\d`).FindAllString(c.Text, -1) {
						checked++
						if !strings.Contains(known.String(), n) {
							t.Errorf("%s: %s of %q is nowhere in the report", b.Grid.Caption, n, c.Text)
						}
					}
				}
			}
		}
	}
	for _, part := range p.Parts {
		walk(part.Blocks)
	}
	assert.Equal(t, "figures", checked > 200, true)
}

// own are the tables that the page makes of what the result holds: rounds,
// trials, and medians at a rate.
func own(key string) bool {
	switch key {
	case "strips", "timeline", keyRate, keySweep:
		return true
	}
	return false
}

func TestVoidIsStruckAndNamed(t *testing.T) {
	r := htmltest.Whole()
	page := rendered(t, r, Options{})
	for _, want := range []string{"<s>0.700</s>", "void by wrong-answer", "p99 void by generator-headroom", "Not measured", "not measured at this budget"} {
		if !strings.Contains(page, want) && !strings.Contains(strings.ToLower(page), strings.ToLower(want)) {
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
	if page := rendered(t, tied, Options{}); !strings.Contains(page, "1–3 a") || strings.Contains(page, `class="pt less"`) || strings.Contains(page, `class="pt more"`) {
		t.Error("a tie is not shown as one")
	}
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

// A study may have found nothing at all.
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
