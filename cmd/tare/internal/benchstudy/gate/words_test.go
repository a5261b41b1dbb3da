package gate

import (
	"strings"
	"testing"
)

// A ratio and its interval have one unit, in a table and in a sentence.
func TestOneUnitInARow(t *testing.T) {
	for _, tt := range []struct {
		row          Row
		by, interval string
	}{
		{Row{Ratio: 2.22, Low: 1.943, High: 2.5}, "2.22×", "1.94× to 2.50×"},
		{Row{Ratio: 1.943, Low: 1.5, High: 2.22}, "1.94×", "1.50× to 2.22×"},
		{Row{Ratio: 0.6, Low: 0.45, High: 0.7}, "0.60×", "0.45× to 0.70×"},
		{Row{Ratio: 1.124, Low: 0.9999, High: 1.3}, "+12.4 %", "±0.0 % to +30.0 %"},
		{Row{Ratio: 2.31}, "2.31×", ""},
		{Row{Ratio: 0.9}, "-10.0 %", ""},
	} {
		if by, interval := tt.row.formatChanges(); by != tt.by || interval != tt.interval {
			t.Errorf("%+v: %q, %q; want %q, %q", tt.row, by, interval, tt.by, tt.interval)
		}
		tt.row.Metric, tt.row.Unit, tt.row.Outcome = "time", "ns/op", Better // without a margin in per cent
		rep := &Report{}
		if text := rep.rowSentence(tt.row) + strings.Join(rep.rowCells(tt.row), " "); tt.row.Low > 0 && strings.Contains(text, "×") && strings.Count(text, "%") != 1 { // the level
			t.Errorf("two units: %s", text)
		}
	}
}
