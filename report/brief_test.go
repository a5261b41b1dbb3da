package report

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
)

// bare returns the sample results of the studies that a run without names measures, and of the
// longer ones beside them.
func bare(t *testing.T) (results []*tare.Result) {
	t.Helper()
	files, err := filepath.Glob("html/testdata/results/*.json.gz")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d results, %v", len(files), err)
	}
	for _, file := range files {
		if name := filepath.Base(file); name == "ffi-full.json.gz" || name == "latency.json.gz" || name == "go-versions.json.gz" {
			continue // second results of a study, and one that is measured if a Go release is here
		}
		f, err := os.Open(file)
		assert.NoError(t, "open", err)
		z, err := gzip.NewReader(f)
		assert.NoError(t, "unpack", err)
		var r tare.Result
		assert.NoError(t, file, json.NewDecoder(z).Decode(&r))
		assert.NoError(t, "close", f.Close())
		results = append(results, &r)
	}
	return results
}

// printBrief returns the output of a run without names that ended with results.
func printBrief(t *testing.T, results []*tare.Result, s Style) string {
	t.Helper()
	var b bytes.Buffer
	for i, r := range results {
		s.Lines = BlockLines(i, len(results))
		write := Brief
		if i > 0 {
			write = nextBrief
		}
		assert.NoError(t, r.Study, write(&b, r, s))
	}
	assert.NoError(t, "summary", Totals(&b, results, s))
	return b.String()
}

// The output of a run without names has at most 45 lines of at most 80 columns. No line is wider
// than the terminal, and without UTF-8 all output is ASCII.
func TestBareRunFitsAScreen(t *testing.T) {
	results := bare(t)
	for _, width := range []int{60, 80, 120} {
		text := printBrief(t, results, Style{Width: width})
		t.Logf("%d columns:\n%s", width, text)
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if width >= 80 && len(lines) > screenLines {
			t.Errorf("%d lines at %d columns", len(lines), width)
		}
		for _, line := range lines {
			if n := textWidth(line); n > width {
				t.Errorf("%d columns of %d: %s", n, width, line)
			}
		}
		for _, r := range results {
			if !strings.Contains(text, " "+r.Study+" ") {
				t.Errorf("no block of %s at %d columns", r.Study, width)
			}
		}
	}
	for _, c := range printBrief(t, results, Style{Width: 80, ASCII: true}) {
		if c > 127 {
			t.Fatalf("%q without UTF-8", c)
		}
	}
}

// The bar runs from the baseline to the ratio, and the noise is drawn on both sides of the
// baseline. A ratio inside the noise has a hollow mark, and one beyond the axis an arrow.
func TestBars(t *testing.T) {
	r := &tare.Result{Measured: tare.Measured{Comparisons: []tare.Comparison{
		{Workload: "w", Contender: tare.ControlID, Metric: "time", Against: "base", Ratio: 1, Low: 0.9, High: 1.1, Rounds: 12},
	}}}
	r.Verdicts = []tare.Verdict{{Contender: "asked", Workload: "w", Metric: "time", Criterion: "time ratio <= 0.25", Rule: tare.Rule{Kind: tare.RuleRatio, AtMost: true, Limit: 0.25}, Verdict: tare.NotMet}}
	a := newAxis(80)
	for _, c := range []struct {
		contender        string
		ratio, low, high float64
		want             string
	}{
		{"less", 0.5, 0.45, 0.55, "    less                0.50×           ━●━───│░               0.45–0.55"},
		{"more", 2, 1.9, 2.2, "    more                2.00×                ░│────●━          1.90–2.20"},
		{"same", 1.02, 0.97, 1.05, "    same                1.02×                ░○░               inside the noise"},
		{"far", 0.01, 0.009, 0.011, "    far                0.010×  ◀──────────────│░               0.0090–0.011"},
		{"asked", 0.5, 0.49, 0.51, "    asked               0.50×       ◇    ●────│░               asked ≤ 0.25 ◇"},
	} {
		got := a.formatRow(r, tare.Comparison{Workload: "w", Contender: c.contender, Metric: "time", Against: "base", Ratio: c.ratio, Low: c.low, High: c.high, Rounds: 12}, c.contender, Style{})
		if got != c.want {
			t.Errorf("\n%q, want\n%q", got, c.want)
		}
	}
}

func TestAnswerWord(t *testing.T) {
	for headline, want := range map[string]string{
		"No: it is not.":                                  "no",
		"No change shown: as before.":                     "no",
		"No answer: it shows no difference.":              "open",
		"No answer: ndjson could not be measured.":        "void",
		"Yes, a change: with 50 MB.":                      "yes",
		"Partly: some do.":                                "part",
		"Nobody knows: MessagePack encodes 7× as fast.":   "·",
		"MessagePack encodes 7× as fast as protobuf does": "·",
	} {
		if got, _ := answerWord(&tare.Result{Answer: headline, Figures: "x"}); got != want {
			t.Errorf("%s: %s, want %s", headline, got, want)
		}
	}
}
