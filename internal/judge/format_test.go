package judge

import (
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

func TestFormatNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{formatLevel(0.95), "95 %"},
		{formatLevel(0.975), "97.5 %"},
		{formatLevel(1 - 0.05/6), "99.17 %"},
		{formatLevel(0.999), "99.9 %"},
		{formatLevel(1), "100 %"},
		{format.Percent(0.0456), "4.6 %"},
		{format.Percent(0.664), "66 %"},
		{format.Percent(0.00123), "0.12 %"},
		{format.Percent(0), "0 %"},
		{format.Times(1.94), "1.9×"},
		{format.Times(2), "2.0×"},
		{format.Times(12.6), "13×"},
		{formatValue(45478, "ns/op"), "45.5 µs/op"},
		{formatValue(999, "ns/op"), "999 ns/op"},
		{formatValue(50e6, "ns"), "50 ms"},
		{formatValue(2.5e9, "ns/op"), "2.5 s/op"},
		{formatValue(33128, "B/op"), "33.1 kB/op"},
		{formatValue(602, "allocs/op"), "602 allocs/op"},
		{formatValue(0, "B/op"), "0 B/op"},
		{formatValue(0.0421, "ns/op"), "0.0421 ns/op"},
		{format.Count(1, "round"), "1 round"},
		{format.Count(18, "round"), "18 rounds"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestChange(t *testing.T) {
	for _, c := range []struct {
		metric string
		ratio  float64
		want   string
	}{
		{"time", 0.52, "1.9× faster"},
		{"time", 0.952, "4.8 % less time"},
		{"time", 1.05, "5 % more time"},
		{"time", 2.1, "2.1× slower"},
		{"time", 1, "the same"},
		{"cpu", 0.52, "48 % less CPU time"},
		{"bytes", 1.84, "84 % more memory"},
		{"allocs", 0.336, "66 % fewer allocations"},
		{"size", 1.1, "10 % more output"},
	} {
		if got := describeRatio(c.ratio, tare.MetricFor(c.metric)); got != c.want {
			t.Errorf("change(%v, %s) = %q, want %q", c.ratio, c.metric, got, c.want)
		}
	}
}
