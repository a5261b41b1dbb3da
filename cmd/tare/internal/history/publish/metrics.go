package publish

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/internal/format"
)

// metricFamily is a metric of the output, with a line for each series (a program on a workload and a
// machine). A line is tare_ratio{study="…",workload="small",…} 1.23
type metricFamily struct {
	name, help string
	// value returns the value of a series, whose Last is not nil, or false if it has none.
	value func(m history.Machine, s history.Series) (float64, bool)
}

func allFamilies() []metricFamily {
	intervalEnd := func(end func(history.Point) float64) func(history.Machine, history.Series) (float64, bool) {
		return func(_ history.Machine, s history.Series) (float64, bool) { return end(*s.Last), s.Last.Bounded() }
	}
	return []metricFamily{
		{"tare_ratio", "Ratio of the newest run that counts.", func(_ history.Machine, s history.Series) (float64, bool) {
			return s.Last.Ratio, s.Last.Ratio > 0 || s.Last.Count != nil && s.Last.Count.Against > 0
		}},
		{"tare_ratio_low", "Lower end of its interval.", intervalEnd(func(p history.Point) float64 { return p.Low })},
		{"tare_ratio_high", "Upper end of its interval.", intervalEnd(func(p history.Point) float64 { return p.High })},
		{"tare_changed", "1 if the newest run is one of the first three of another level.", func(_ history.Machine, s history.Series) (float64, bool) {
			if s.Fresh {
				return 1, true
			}
			return 0, s.Change == history.NotShown || s.Change == history.Changed
		}},
		{"tare_steps", "Changes of level in the saved runs.", func(m history.Machine, s history.Series) (float64, bool) {
			return float64(len(s.Steps)), m.Known || s.Counted
		}},
		{"tare_measured_timestamp_seconds", "When the newest run that counts began.", func(m history.Machine, s history.Series) (float64, bool) {
			at := m.Runs[s.Last.Run].Started
			return float64(at.Unix()), !at.IsZero()
		}},
	}
}

// OpenMetrics writes the newest ratio of every series, for Prometheus and other readers of the format.
func OpenMetrics(w io.Writer, trends []history.Trend) error {
	out := bufio.NewWriter(w)
	for _, family := range allFamilies() {
		fmt.Fprintf(out, "# TYPE %s gauge\n# HELP %s %s\n", family.name, family.name, family.help)
		for _, t := range trends {
			for _, m := range t.Machines {
				for _, s := range m.Series {
					if s.Last == nil {
						continue
					}
					if x, ok := family.value(m, s); ok {
						fmt.Fprintf(out, "%s{study=%s,metric=%s,machine=%s,workload=%s,contender=%s,against=%s} %s\n",
							family.name, format.Label(t.Study), format.Label(t.Metric), format.Label(m.Name), format.Label(s.Workload), format.Label(s.Contender), format.Label(t.Against), strconv.FormatFloat(x, 'g', -1, 64))
					}
				}
			}
		}
	}
	fmt.Fprintln(out, "# EOF")
	return out.Flush()
}
