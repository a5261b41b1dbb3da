package loadcmd

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/load/hist"
)

// A panel fits into every terminal and shows what is known.
func TestPanelFits(t *testing.T) {
	r := &load.Result{Threads: 1, Connections: 1, Latency: new(hist.Hist), Service: new(hist.Hist), FirstByte: new(hist.Hist), SendLag: new(hist.Hist), Connect: new(hist.Hist)}
	for i := range 500 {
		var h hist.Hist
		for v := int64(1000); v < 1e9; v += v/9 + int64(i) {
			h.Record(v)
		}
		r.Latency.Merge(&h)
		r.Timeline = append(r.Timeline, load.Second{At: time.Duration(i) * time.Second, Requests: h.Count(), Errors: 1, P50: 5, P99: time.Duration(h.Quantile(0.99)), Max: time.Duration(h.Max()), Bins: h.Bins(4)})
	}
	r.Requests, r.Sent, r.Wall = r.Latency.Count(), r.Latency.Count(), 500*time.Second
	r.Errors = map[load.Class]int64{load.ErrReset: 7}
	d := load.NewDocument(r, load.Documented{URL: "http://127.0.0.1/" + strings.Repeat("long", 100)})
	for _, size := range [][2]int{{80, 24}, {200, 50}, {40, 10}, {31, 2}, {1, 1}, {0, 0}} {
		for _, seconds := range []int{0, 1, 500} {
			so := *r
			so.Timeline = r.Timeline[:seconds]
			lines := panel{document: d, result: &so, loadText: "closed loop", duration: time.Minute}.drawLines(size[0], size[1])
			if len(lines) == 0 || len(lines) > max(size[1]-1, 1) {
				t.Errorf("%v: %d lines", size, len(lines))
			}
			for _, line := range lines {
				if n := utf8.RuneCountInString(line); n > max(size[0]-1, minPanelColumns) || strings.ContainsAny(line, "\n\r") {
					t.Errorf("%v: %d columns: %q", size, n, line)
				}
			}
			text := strings.Join(lines, "\n")
			if size[0] >= 40 && (!strings.Contains(text, "reset 7") || !strings.Contains(text, "p99 ")) {
				t.Errorf("%v: %s", size, text)
			}
			if size[1] >= minHeatRows+1 && seconds == 500 && !strings.ContainsAny(text, "░▒▓") {
				t.Errorf("%v: no heat map in\n%s", size, text)
			}
		}
	}
}
