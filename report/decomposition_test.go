package report

import (
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
)

func TestDecomposition(t *testing.T) {
	const heading = "WHO PAID FOR WHAT"
	assert.Equal(t, "none", sectionText(t, base(), heading), "")
	r := tiny()
	got := sectionText(t, r, heading)
	for start, want := range map[string]string{
		"start: nethttp ":           "start: nethttp 13.03 – 1 – ███████████",
		"the framework":             "the framework 13.81 1.060 [1.047, 1.073] 1.060 5.9 [4.7, 7.2] ···········█",
		"a terminal that the lines": "a terminal that the lines are… 26.19 1.408 [1.391, 1.425] 2.010 58 [55, 60] ················██████",
		"left unexplained":          "left unexplained – 1.000 2.010 0",
		"the whole":                 "the whole 26.19 2.010 [1.986, 2.034] – 100 ██████████████████████",
		"reading the request":       "reading the request without n… 6.010 0.505 [0.499, 0.512] 0.536 113 [110, 116] ···········░░░░░░░░░░░",
	} {
		assert.Equal(t, start, lineOf(t, got, start), want)
	}
	for _, want := range []string{
		"\n    a terminal that the lines are written to, one write each (gin-default over gin-default-discard)\n", "\n    gin-default over nethttp, its interval at 95 %\n",
		"F3.1: What did the published comparison measure? (time on get-7, step by step from nethttp to gin-default)\n",
		"capacity: time on get-7/1500, step by step from nethttp to fasthttp\n  The time of fasthttp against nethttp on get-7/1500 is not taken apart: ",
	} {
		assert.Contains(t, "text", got, want)
	}
	for _, format := range []string{"text", "md", "research"} {
		assert.Contains(t, format+" says it first", strings.Join(strings.Fields(written(t, format, r)), " "), "a line of log per request 36 % (34 to 39)")
	}
	assert.Contains(t, "research", section(t, written(t, "research", r), "Key finding"), "- **why**: Where 2.01× comes from (time on get-7, gin-default over nethttp; in brackets the share of the difference): a terminal that the lines are written to, one write each 1.41× (58 %), a line of log per request 1.35× (36 %) and the framework 1.06× (5.9 %); multiplied they leave nothing unexplained.")
	assert.Contains(t, "the other way", strings.Join(explainDifferences(r), " "), ": reading the request without net/http 0.505× (113 %); the framework 1.06× (-13 %) the other way; multiplied")

	for i := range r.Decomposition[0].Steps { // the whole is not told from nothing
		s := &r.Decomposition[0].Steps[i]
		s.Share, s.ShareLow, s.ShareHigh, s.Low, s.High = 0, 0, 0, 0, 0
	}
	r.Decomposition[0].Steps[0].FromValue = 13809
	r.Findings = append(r.Findings, tare.Finding{Check: "little", Severity: tare.Void, Contender: "gin-default", Workload: visits, Metric: "time", Message: "void"})
	got = sectionText(t, r, heading)
	assert.Equal(t, "no shares", lineOf(t, got, "a line of log"), "a line of log per request 18.60 1.347 [no interval yet] 1.427 – ············████")
	assert.Equal(t, "too thin to see", lineOf(t, got, "the framework"), "the framework 13.81 1.060 [no interval yet] 1.060 – ············▏")
	assert.Equal(t, "void", lineOf(t, got, "a terminal"), "a terminal that the lines are… ~26.19~ ~1.408~ – – ················██████")
	assert.Contains(t, "why", got, "\n    gin-default is void by little\n")
	assert.Equal(t, "the whole of it", lineOf(t, got, "the whole"), "the whole ~26.19~ ~2.010~ – – ██████████████████████")
	for _, row := range rowsOf(t, r) {
		if row["section"] == "decomposition" && row["contender"] == "gin-default" {
			assert.Equal(t, row["text"], row["void_by"], "little")
			assert.Equal(t, row["text"], row["metric"], "time")
		}
	}
}

func TestWaterfallOfOddFigures(t *testing.T) {
	for _, d := range []tare.Decomposition{{}, {Steps: []tare.Cause{{}}}, {Whole: tare.Cause{FromValue: -1, ToValue: -2}, Steps: []tare.Cause{{FromValue: -1, ToValue: 5}}}} {
		bars := drawWaterfall(d)
		assert.Equal(t, "bars", len(bars), len(d.Steps)+2)
		for _, b := range bars {
			if textWidth(b) > barWidth {
				t.Errorf("%q is too long", b)
			}
		}
	}
}

func TestProfiles(t *testing.T) {
	const heading = "WHERE TIME AND MEMORY WENT"
	assert.Equal(t, "none", sectionText(t, base(), heading), "")
	got := sectionText(t, tiny(), heading)
	for _, want := range []string{
		"CPU time of nethttp on get-7: 11.29 µs/request over 264,000 requests\n",
		"  40.6        40.6  syscall.Syscall6\n", "   3.0        84.2  http.(*conn).serve\n", "gin.(*Context).Next\n",
		"Next to the result document: nethttp.get-7.cpu.pprof (pprof) and nethttp.get-7.cpu.svg (flame graph).\n",
		"Allocated memory of gin-default on get-7: 1,908 B/request over 131,000 requests\n",
	} {
		assert.Contains(t, "text", got, want)
	}
	if strings.Contains(got, "runtime.futex") {
		t.Error("more functions than are of use")
	}
	assert.Contains(t, "md", written(t, "md", tiny()), "| 3.0 | 84.2 | `net/http.(*conn).serve` |")
	assert.Contains(t, "csv", written(t, "csv", tiny()), "cpu_own,nanoseconds,5000000,,,,,,,,,,,,,,,,,,profile,,,,,,,,runtime.futex\n")
	for name, want := range map[string]string{
		"github.com/a/b.(*T).M": "b.(*T).M", "b.F[go.shape.struct { a/b.K string }]": "b.F[go.shape.struct { a/b.K…", "main.main": "main.main", "": "",
	} {
		assert.Equal(t, name, shortenFunction(name, 28), want)
	}
}

func TestClaimsOfCountsAndTrends(t *testing.T) {
	got := sectionText(t, routing(), "PUBLISHED CLAIMS")
	for start, want := range map[string]string{
		"F0.3 ":      "F0.3 holds time, trend – 0.911 [0.894, 0.929]",
		"F0.3-early": "F0.3-early inconclusive cpu, trend – 0.970 [no interval yet]",
		"F0.7 ":      "F0.7 holds modules 30 modules 33 modules",
		"F0.7-own":   "F0.7-own refuted modules 1 module 0 modules",
		"F0.7-gone":  "F0.7-gone not measured modules 12 modules –",
	} {
		assert.Equal(t, start, lineOf(t, got, start), want)
	}
	assert.Contains(t, "trend", got, "the factor by which that ratio moves from the first workload to the last")
	assert.Contains(t, "count", got, "adds to those of nethttp.")
	md := written(t, "md", routing())
	assert.Contains(t, "md", md, "| gin-new | holds | modules | 30 modules | 33 modules |")
	if text := explainClaims(six()); strings.Contains(text, "count") || strings.Contains(text, "trend") {
		t.Errorf("explained though there is none: %s", text)
	}
}

// If there are many rulings, the top counts them and a table has each. Rulings that were not met
// are named at the top all the same.
func TestManyRulings(t *testing.T) {
	r := routing()
	got := text(t, r, Style{Width: 400})
	top, _, _ := strings.Cut(got, "\nWHAT WAS ASKED")
	assert.Equal(t, "not met", strings.Count(top, "NOT MET       gorilla-mux: time difference <= 5% of socket/5 is not met: it costs 6.2 %"), 3)
	assert.Contains(t, "most", top, "\n  MET           time difference <= 5% of socket/5: in 21 of 25 cases.\n")
	assert.Contains(t, "all", top, "\n  MET           time difference <= 1000% of socket/5: for all 5 contenders on all 5 workloads.\n")
	table := sectionText(t, r, "WHAT WAS ASKED OF EACH")
	assert.Equal(t, "a row", lineOf(t, table, "serve/500"), "serve/500 met open met met not met")
	assert.Contains(t, "means", strings.Join(strings.Fields(table), " "), "a share of what nethttp takes for a whole request on socket/5: the part of it that the choice decides.")
	research := written(t, "research", r)
	assert.Contains(t, "asked", section(t, research, "Objective"), "- all 5 contenders on all 5 workloads: time difference <= 5% of socket/5\n")
	assert.Contains(t, "tally", section(t, research, "Key finding"), "Of 50 criteria: 46 met, 3 not met, 1 inconclusive.")
	assert.Contains(t, "open", section(t, research, "What this does not say"), "- Whether time difference <= 5% of socket/5 holds is open in 1 of 25 cases")
	r.Verdicts = r.Verdicts[:maxRulings]
	got = text(t, r, Style{Width: 400})
	if strings.Contains(got, "WHAT WAS ASKED OF EACH") {
		t.Error("few rulings have a table")
	}
	assert.Equal(t, "each told", strings.Count(got, "\n  MET "), maxRulings)
	assert.Contains(t, "the word is explained", got, "\n  difference   how much more a contender takes than nethttp on that workload, as a share")
}
