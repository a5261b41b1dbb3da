package format_test

import (
	"testing"

	"github.com/tarebench/tare/internal/format"
)

func TestEstimate(t *testing.T) {
	for _, c := range []struct {
		ratio, lo, hi float64
		edges         []float64
		want          string
	}{
		{0.5204, 0.5113, 0.5298, nil, "0.52 0.51 0.53"},
		{0.5204, 0.5183, 0.5228, nil, "0.520 0.518 0.523"},
		{0.4952, 0.4906, 0.4996, []float64{0.5}, "0.4952 0.4906 0.4996"}, // 0.50 would be the limit itself
		{0.99, 0.93, 1.0042, []float64{1}, "0.990 0.930 1.004"},
		{1.0321, 0.91, 1.21, nil, "1.03 0.91 1.21"},
		{12.61, 12.1, 13.3, nil, "12.6 12.1 13.3"},
		{250, 240, 262, nil, "250 240 262"},
		{0.335548, 0.335548, 0.335548, nil, "0.336 0.336 0.336"},
		{0.5, 0.5, 0.5, []float64{0.5}, "0.50 0.50 0.50"},
		{1, 0.9999999, 1.0000001, []float64{1}, "1.00000 1.00000 1.00000"}, // five decimals are enough
	} {
		r, l, h := format.Estimate(c.ratio, c.lo, c.hi, c.edges...)
		if got := r + " " + l + " " + h; got != c.want {
			t.Errorf("Estimate(%v, %v, %v, %v) = %q, want %q", c.ratio, c.lo, c.hi, c.edges, got, c.want)
		}
	}
}

func TestShapesOfRatios(t *testing.T) {
	for got, want := range map[string]string{
		format.Headline(0.0341): "0.034", format.Headline(0.943): "0.94", format.Headline(3.52): "3.52", format.Headline(123.4): "123", format.Headline(0): "–",
		format.Limit(0.5): "0.5", format.Limit(1): "1", format.Limit(20): "20",
		format.Part(1): "1.00×", format.Part(0.02346): "0.0235×", format.Part(-1): "–",
		format.Plain(2): "2×", format.Plain(0.3333): "0.333×",
		format.Counted(1.00006): "1.0001",
		format.Change(1.124, 1): "+12.4 %", format.Change(0.958, 1): "-4.2 %", format.Change(0.9999, 1): "±0.0 %", format.Change(0.9999, 2): "-0.01 %",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
