package report

import (
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
)

// evened returns a result with a break-even for two shapes.
func evened() *tare.Result {
	r := base()
	r.BreakEven = []tare.BreakEvenResult{{
		Contender: "jsoniter-fastest", Against: "encoding-json", Metric: "cpu", Rates: []float64{10, 1e5}, Level: 0.95, Sentence: "It begins to matter.",
		Points: []tare.BreakEvenPoint{
			{Workload: "fields-1", Members: 1, Levels: 1, More: 812.4, MoreLow: 790.1, MoreHigh: 834.9, Cores: []float64{8.124e-6, 0.08124}, OnePercent: 12309, OnePercentLow: 11977, OnePercentHigh: 12657, Rounds: 18},
			{Workload: "nested-9", Members: 18, Levels: 9, More: -20, MoreLow: -60, MoreHigh: 20, Cores: []float64{-2e-7, -0.002}, Rounds: 18},
		},
	}}
	return r
}

func TestBreakEven(t *testing.T) {
	const heading = "FROM WHICH RATE ON IT MATTERS"
	assert.Equal(t, "none", sectionText(t, base(), heading), "")
	r := evened()
	got := sectionText(t, r, heading)
	assert.Contains(t, "what it means", got, "What encoding-json costs more than jsoniter-fastest, by cpu: per operation, in percent of one core at a number of operations per second")
	assert.Contains(t, "members", got, "Members are numbers, texts and arrays")
	assert.Contains(t, "heads", got, "at 10/s")
	assert.Equal(t, "a shape", lineOf(t, got, "fields-1"), "fields-1 1 1 812.4 [790.1, 834.9] 0.000812 8.12 12,300 [12,000, 12,700]")
	assert.Equal(t, "no difference", lineOf(t, got, "nested-9"), "nested-9 18 9 -20.0 [-60.0, 20.0] -0.0000200 -0.200 –")
	assert.Contains(t, "in words", got, "It begins to matter.")
	for _, format := range []string{"md", "research"} {
		assert.Contains(t, format, written(t, format, r), "| fields-1 | 1 | 1 | 812.4 [790.1, 834.9] | 0.000812 | 8.12 | 12,300 [12,000, 12,700] |")
	}
	assert.Contains(t, "csv", written(t, "csv", r), ",cpu_more,ns/op,812.4,790.1,834.9,")
	assert.Contains(t, "csv, rate", written(t, "csv", r), ",cpu_one_percent_rate,1/s,12309,11977,12657,")
	assert.Contains(t, "csv, shape", written(t, "csv", r), `"18 members, 9 levels"`)
	for i := range r.BreakEven[0].Points {
		r.BreakEven[0].Points[i].Members, r.BreakEven[0].Points[i].Levels = 0, 0
	}
	if got := sectionText(t, r, heading); strings.Contains(strings.ToLower(got), "members") || lineOf(t, got, "fields-1") != "fields-1 812.4 [790.1, 834.9] 0.000812 8.12 12,300 [12,000, 12,700]" {
		t.Errorf("nobody knows the shapes:\n%s", got)
	}
}

func TestWholes(t *testing.T) {
	r := base()
	if strings.Contains(written(t, "md", r), "parts of a whole") {
		t.Error("no claim has a whole")
	}
	r.Claims[0].Shares = &tare.Shares{
		Whole: 16.6, WholeOf: "a frame at 60 a second", Unit: "ms/frame", Against: "encoding-json", Published: 0.05, PublishedBaseline: 2.6,
		Measured: 0.0312, Low: 0.0301, High: 0.033, Baseline: 4.61, BaselineLow: 4.5, BaselineHigh: 4.8,
	}
	for _, format := range []string{"md", "research"} {
		got := written(t, format, r)
		assert.Contains(t, format, got, "| F0.9 | jsoniter-fastest | 0.05 ms/frame | 0.30 | 0.0312 ms/frame [0.0301, 0.0330] | 0.19 [0.18, 0.20] | 16.6 ms: a frame at 60 a second |")
		assert.Contains(t, format, got, "| encoding-json (baseline) | 2.6 ms/frame | 16 | 4.61 ms/frame [4.50, 4.80] | 28 [27, 29] |")
	}
	assert.Contains(t, "text", sectionText(t, r, "PUBLISHED CLAIMS"), "parts of a whole")
	r.Claims[0].Shares.Baseline = 125795.4
	assert.Contains(t, "thousands", written(t, "md", r), "| 125,795 ms/frame [")
}

// If sizes are not numbers of bytes, the section names what they count.
func TestScalingBy(t *testing.T) {
	r := base()
	r.Scaling = []tare.Scaling{{Contender: "encoding-json", Fixture: "nested", Op: "single", By: tare.ByLevels, Workloads: []string{"a", "b", "c"}, Exponent: 1, Low: 0.9, High: 1.1, Level: 0.95}}
	got := sectionText(t, r, "HOW TIME GROWS WITH SIZE")
	assert.Contains(t, "what it means", got, "size^exponent")
	assert.Contains(t, "by what", got, "single of nested by levels: over a, b and c.")
	r.Scaling[0].By = tare.ByBytes
	assert.Contains(t, "bytes", sectionText(t, r, "HOW TIME GROWS WITH SIZE"), "bytes^exponent")
}

// A replacement inside this repository is the normal case and is recognised.
func TestOwnModules(t *testing.T) {
	for _, c := range []struct {
		path, replace string
		want          bool
	}{
		{thisModule, "../../..", true},
		{thisModule + "/cgocopy", "../../../cgocopy", true},
		{thisModule + "/cgocopy", "/src/tare/cgocopy", true},
		{thisModule + "/cgocopy", "../faster", false},
		{"example.com/cgocopy", "../cgocopy", false},
	} {
		if got := isOfThisModule(tare.Module{Path: c.path, Replace: c.replace}); got != c.want {
			t.Errorf("%s => %s: %v", c.path, c.replace, got)
		}
	}
}
