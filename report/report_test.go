package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/golden"
)

func cases() map[string]*tare.Result {
	return map[string]*tare.Result{
		"decided": base(), "inconclusive": inconclusive(), "traps": traps(), "control-void": controlVoid(),
		"interrupted": interrupted(), "unbuilt": unbuilt(), "exploring": exploring(),
		"six": six(), "twelve": twelve(), "binary": binary(),
		"tiny": tiny(), "faces": faces(), "quick": quick(), "routing": routing(), "peers": peers(),
	}
}

func text(t *testing.T, r *tare.Result, s Style) string {
	t.Helper()
	var b bytes.Buffer
	assert.NoError(t, "Text", Text(&b, r, s))
	return b.String()
}

func TestText(t *testing.T) {
	for name, r := range cases() {
		t.Run(name, func(t *testing.T) { golden.Check(t, name+".txt", []byte(text(t, r, Style{}))) })
	}
	t.Run("narrow", func(t *testing.T) { golden.Check(t, "narrow.txt", []byte(text(t, traps(), Style{Width: 72}))) })
}

func TestTextFitsItsWidth(t *testing.T) {
	for name, r := range cases() {
		for _, width := range []int{80, 100, 120} {
			for i, line := range strings.Split(text(t, r, Style{Width: width}), "\n") {
				if n := textWidth(line); n > width {
					t.Errorf("%s at %d: line %d has %d columns: %q", name, width, i+1, n, line)
				}
			}
		}
	}
}

// marks stands in for a terminal's colours.
func marks() Style {
	mark := func(open, shut string) func(string) string {
		return func(s string) string { return open + s + shut }
	}
	return Style{
		Bold: mark("\x1b[1m", "\x1b[0m"), Dim: mark("\x1b[2m", "\x1b[0m"), Strike: mark("\x1b[9m", "\x1b[0m"),
		Good: mark("\x1b[32m", "\x1b[0m"), Bad: mark("\x1b[31m", "\x1b[0m"), Warn: mark("\x1b[33m", "\x1b[0m"),
	}
}

func TestColourChangesNoColumn(t *testing.T) {
	escape := regexp.MustCompile("\x1b\\[[0-9]+m")
	for name, r := range cases() {
		painted := text(t, r, marks())
		if !escape.MatchString(painted) {
			t.Errorf("%s: nothing was painted", name)
		}
		s := marks()
		s.Strike = nil // tildes take columns, crossing out does not
		if plain := text(t, r, Style{}); escape.ReplaceAllString(text(t, r, s), "") != plain {
			t.Errorf("%s: without its colours the report is not the plain one", name)
		}
	}
	assert.Contains(t, "traps", text(t, traps(), marks()), "\x1b[9m60.44\x1b[0m")
	assert.Contains(t, "decided", text(t, base(), marks()), "\x1b[32mMET\x1b[0m")
}

func TestEveryFindingIsShown(t *testing.T) {
	for name, r := range cases() {
		got := strings.Join(strings.Fields(text(t, r, Style{})), " ")
		for _, f := range r.Findings {
			assert.Contains(t, name, got, f.Message)
			if f.Advice != "" && !f.Expected {
				assert.Contains(t, name, got, f.Advice)
			}
		}
		for _, c := range r.Claims {
			assert.Contains(t, name, got, c.Why)
			assert.Contains(t, name, got, c.Statement)
		}
	}
}

func TestVoidComesFirst(t *testing.T) {
	got := text(t, controlVoid(), Style{})
	if void, note := strings.Index(got, "VOID  control"), strings.Index(got, "NOTE  null-share"); void < 0 || note < void {
		t.Fatalf("void at %d, note at %d", void, note)
	}
}

func TestTextReportsTheWriter(t *testing.T) {
	assert.ErrorIs(t, "Text", Text(broken{}, base(), Style{}), errBroken)
	assert.ErrorIs(t, "JSON", JSON(broken{}, base()), errBroken)
}

var errBroken = errors.New("broken pipe")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestTextOfAnEmptyResult(t *testing.T) {
	assert.Contains(t, "empty", text(t, &tare.Result{Study: "x", Design: tare.Design{Workloads: []tare.Workload{{ID: "w", Fixture: "f", Op: "o"}}}}, Style{}), "No contender was measured on it.")
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	assert.NoError(t, "JSON", JSON(&b, base()))
	golden.Check(t, "decided.json", b.Bytes())
	for name, r := range cases() {
		b.Reset()
		assert.NoError(t, name, JSON(&b, r))
		if strings.Contains(b.String(), ": null") {
			t.Errorf("%s: a list without elements is null", name)
		}
		var back tare.Result
		assert.NoError(t, name, json.Unmarshal(b.Bytes(), &back))
		assert.Equal(t, name, text(t, &back, Style{}), text(t, r, Style{}))
	}
	r := base()
	r.Schema = ""
	b.Reset()
	assert.NoError(t, "no schema", JSON(&b, r))
	assert.Contains(t, "no schema", b.String(), `"schema": "tare.result/1"`)
	assert.Equal(t, "the result itself", r.Schema, "")
	r.Schema = "tare.result/9"
	assert.ErrorContains(t, "other schema", JSON(&b, r), "is not tare.result/1")
	r = base()
	r.Comparisons[0].Low = math.NaN()
	assert.ErrorContains(t, "NaN", JSON(&b, r), "write result")
}

func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		format.Ratio(0.46284): "0.463", format.Ratio(1): "1.000", format.Ratio(21.06): "21.1", format.Ratio(2450): "2,450", format.Ratio(0.00213): "0.0021", format.Ratio(math.NaN()): "–",
		formatPercent(0.0121): "1.2 %", formatPercent(0.37): "37 %", formatPercent(0): "0 %", formatPercent(0.00042): "0.04 %", formatPercent(0.03): "3 %",
		formatLevel(0.95): "95 %", formatLevel(0.999): "99.9 %",
		format.Span(7.42): "7.4 s", format.Span(38.2): "38 s", format.Span(252): "4 min 12 s",
		format.Grouped(1234567.5, 1): "1,234,567.5", format.Grouped(-1234, 0): "-1,234", format.Grouped(999, 0): "999",
		countNoun(1, "round"): "1 round", countNoun(1200, "round"): "1,200 rounds",
		formatInterval(0, 0): "[no interval yet]", formatInterval(0.4, 0.5): "[0.400, 0.500]",
	} {
		assert.Equal(t, "number", got, want)
	}
}

func TestScale(t *testing.T) {
	for _, c := range []struct {
		unit   string
		values []float64
		show   float64
		head   string
		want   string
	}{
		{"ns/op", []float64{43260, 93480}, 93480, "µs/op", "93.48"},
		{"ns/op", []float64{43260, 93480}, 2.1, "µs/op", "0.0021"},
		{"ns/op", []float64{45.15, 950.8}, 950.8, "ns/op", "950.80"},
		{"ns/op", []float64{2.5e6}, 2.5e6, "ms/op", "2.500"},
		{"ns/op", []float64{3.2e9}, 3.2e9, "s/op", "3.200"},
		{"B/op", []float64{25523, 33128}, 33128, "B/op", "33,128"},
		{"allocs/op", []float64{1, 601.079}, 601.079, "allocs/op", "601.1"},
		{"B/op", []float64{12288.5, 33093.5}, 33093.4, "B/op", "33,093"},
		{"ns/op", nil, 0, "ns/op", "0"},
	} {
		s := newScale(c.unit, c.values)
		assert.Equal(t, c.unit, s.unit, c.head)
		assert.Equal(t, c.unit, s.formatValue(c.show), c.want)
	}
}

func TestFold(t *testing.T) {
	assert.Slices(t, "fold", wrapWords("one two  three averyverylongword x", 7, 9), []string{"one two", "three", "averyverylongword", "x"})
	assert.Slices(t, "fold", wrapWords("at 95 %, x", 5, 5), []string{"at", "95 %,", "x"})
	assert.Slices(t, "fold", wrapWords("  ", 5, 5), nil)
}
