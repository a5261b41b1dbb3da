package plot

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/tarebench/tare/internal/assert"
)

func TestAxisHoldsItsValues(t *testing.T) {
	a := NewLogAxis(0.05, 0.25, 4, 0, math.Inf(1))
	assert.Equal(t, "inside", a.At(0.25) > 0 && a.At(4) < 1 && a.At(0.25) < a.At(1) && a.At(1) < a.At(4), true)
	assert.Equal(t, "equal factors are as far apart", math.Abs((a.At(1)-a.At(0.5))-(a.At(2)-a.At(1))) < 1e-9, true)
	assert.Equal(t, "beyond", a.At(100) == 1 && a.At(0.001) == 0 && a.At(0) == 0 && a.At(math.NaN()) == 0, true)
	assert.Equal(t, "nothing", NewLogAxis(0.05), Axis{1, 10, true})
}

func TestTicksHaveRoom(t *testing.T) {
	for name, a := range map[string]Axis{"narrow": NewLogAxis(0.05, 0.97, 1.04), "powers of two": NewLogAxis(0.05, 0.2, 4), "decades": NewLogAxis(0.05, 0.001, 3)} {
		ticks := a.RatioTicks(tickDistance)
		if len(ticks) < 3 || ticks[0].Text != "1×" {
			t.Errorf("%s: %v", name, ticks)
		}
		for i, x := range ticks {
			for _, y := range ticks[:i] {
				if math.Abs(x.At-y.At) < tickDistance {
					t.Errorf("%s: %s and %s overlap", name, x.Text, y.Text)
				}
			}
		}
	}
}

// Words of claims lie over neither the mark nor each other; what has no room is
// handed back.
func TestClaimsHaveRoom(t *testing.T) {
	s := Scale{ID: "g", Axis: NewLogAxis(0, 0.1, 4)}
	svg, left := s.Row(Interval{Value: 1, Low: 0.9, High: 1.1, Class: Same, Claims: []Claim{{0.25, "asked ≤ 0.25×", true}}})
	assert.Equal(t, "one", len(left) == 0 && strings.Contains(string(svg), `dx="13"`), true)
	svg, left = s.Row(Interval{Value: 1, Class: More, Claims: []Claim{{0.34, "asked ≤ 0.34×", true}, {0.37, "published 0.37×", false}, {0.4, "said 0.4×", false}}})
	assert.Equal(t, "hollow diamonds", strings.Count(string(svg), `href="#ma"`), 1)
	assert.Equal(t, "full diamonds", strings.Count(string(svg), `href="#mp"`), 2)
	assert.Equal(t, "words", strings.Count(string(svg), "<text")+len(left), 3)
	assert.Equal(t, "some have no room", len(left) > 0, true)
	for _, text := range left {
		assert.Equal(t, text+" has its mark", strings.HasPrefix(text, "◇ asked") || strings.HasPrefix(text, "◆ "), true)
	}
	svg, _ = s.Row(Interval{Value: 0.5, Class: Less, Claims: []Claim{{2, `<b>"`, true}}})
	assert.Equal(t, "escaped", strings.Contains(string(svg), "&lt;b&gt;") && !strings.Contains(string(svg), "<b>"), true)
}

// The limit of a bar is a line on it, inside the drawing whether the value is below it or beyond.
func TestLimitIsOnTheBar(t *testing.T) {
	for value, want := range map[float64]string{10: "80%", 100: "50%"} {
		svg := string(LimitBar("b2", value, 50))
		if !strings.Contains(svg, `<line class="at" x1="`+want+`" x2="`+want+`" y2="100%"/>`) {
			t.Errorf("%v of 50: %s", value, svg)
		}
	}
}

// A row refers to marks that MarkSymbols defines.
func TestMarksAreDefined(t *testing.T) {
	symbols := string(MarkSymbols())
	for _, class := range []string{Less, More, Same, ""} {
		svg, _ := Scale{ID: "g", Axis: NewLogAxis(0, 0.1, 4)}.Row(Interval{Value: 1, Low: 0.9, High: 1.1, Class: class, Claims: []Claim{{2, "", true}, {3, "", false}}})
		for _, id := range regexp.MustCompile(`href="#(m\w*)"`).FindAllStringSubmatch(string(svg), -1) {
			if !strings.Contains(symbols, `<symbol id="`+id[1]+`"`) {
				t.Errorf("%q: no symbol %s", class, id[1])
			}
		}
	}
}

// Curves through the same places are drawn once, with both names, and no name lies
// over another.
func TestCurvesAreNamedAtTheirEnds(t *testing.T) {
	points := []Point{{0, 1}, {1, 10}}
	c := Chart{ID: "c", Title: "t", X: Axis{High: 1}, Y: NewLogAxis(0, 1, 10), Limits: []Limit{{5, "p99 < 5 ms"}}, Curves: []Curve{
		{Name: "sent", Points: points}, {Name: "first", Points: points}, {Name: "latency", Points: []Point{{0, 2}, {1, 10}}},
	}}
	svg := string(c.HTML())
	assert.Equal(t, "lines", strings.Count(svg, "<path"), 2)
	assert.Equal(t, "joined", strings.Contains(svg, "sent = first"), true)
	assert.Equal(t, "limit", strings.Contains(svg, `class="limit"`) && strings.Contains(svg, "p99 &lt; 5 ms"), true)
	ends := regexp.MustCompile(`class="end[^"]*" x="100%" dx="8" y="([\d.]+)%"`).FindAllStringSubmatch(svg, -1)
	c.Curves[0].Name = "service, from sending"
	assert.Equal(t, "a long name has a legend", strings.Contains(string(c.HTML()), "</svg> service, from sending = first</li>"), true)
	assert.Equal(t, "ends", len(ends) == 2 && ends[0][1] != ends[1][1], true)
}

func TestTrendLeavesGaps(t *testing.T) {
	svg := string(Trend{Axis: NewLogAxis(0, 0.5, 2), Runs: 4, Steps: []int{3}, Marks: []Mark{{0, 1, 0.9, 1.1, false}, {2, 1.2, 0, 0, false}, {3, 0, 0, 0, true}}}.HTML(`a"b`))
	line := regexp.MustCompile(`class="line" d="([^"]*)"`).FindStringSubmatch(svg)
	assert.Equal(t, "two pieces", strings.Count(line[1], "M"), 2)
	assert.Equal(t, "parts", strings.Contains(svg, `class="ribbon"`) && strings.Contains(svg, `class="cross"`) && strings.Contains(svg, `class="step"`), true)
	assert.Equal(t, "label", strings.Contains(svg, `aria-label="a&#34;b"`), true)
}
