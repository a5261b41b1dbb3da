package report

import (
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
)

func TestTrafficLine(t *testing.T) {
	r := tiny()
	for want, traffic := range map[string]tare.Traffic{
		"Traffic: closed loop, 50 connections, loopback.":                                                                {Connections: 50},
		"Traffic: closed loop, 1 connection for 1.5 s, loopback.":                                                        {Connections: 1, Segment: 1500 * time.Millisecond},
		"Traffic: open loop, 1,500 requests/s for 5 s, 50 connections, loopback, TLS, 20 ms delay, 2.5 Gbit/s each way.": {Connections: 50, Rate: 1500, Segment: 5 * time.Second, TLS: true, Delay: 20 * time.Millisecond, Bandwidth: 25e8},
		"Traffic: open loop, 0.5 requests/s for 60 s, 2 connections, loopback, 250 µs delay, 999 bit/s each way.":        {Connections: 2, Rate: 0.5, Segment: time.Minute, Delay: 250 * time.Microsecond, Bandwidth: 999},
	} {
		assert.Equal(t, "traffic", describeDriver(r, tare.Workload{Traffic: &traffic}), want)
	}
	assert.Equal(t, "none", describeDriver(r, tare.Workload{}), "")
	for url, here := range map[string]bool{"http://127.0.0.1:8080/": true, "https://[::1]/": true, "http://localhost": true, "https://example.org/": false, "://": false} {
		r.Contenders[0].Launch, r.Contenders[0].URL = tare.LaunchURL, url
		assert.Equal(t, url, strings.Contains(describeDriver(r, r.Workloads[0]), "loopback"), here)
		assert.Equal(t, url, describeIdentity(r.Contenders[0]), "at "+url)
	}
}

func TestAskedOfRoutersAndServers(t *testing.T) {
	r := routing()
	assert.Equal(t, "in process", describeWorkload(r, r.Workloads[2]), "What is asked: serve of routes (in process, without a socket), 50 routes in the table, 64 different requests in turn, with depth: 3, middleware: 0, params: 1.")
	assert.Equal(t, "a socket", describeWorkload(r, r.Workloads[4]), "What is asked: socket of openapi.yaml (over one connection that is kept open, on loopback), 64 different requests in turn.")
	r.Kind = "codec"
	assert.Contains(t, "not all are requests", describeWorkload(r, r.Workloads[2]), "64 different bodies in turn")
	s := tiny()
	s.Workloads[0].N = 3
	assert.Equal(t, "a server", describeWorkload(s, s.Workloads[0]), "What is asked: get-7 of tiny, 3 items per request, one request over and over.")
}

// A finding about one metric strikes the figures of this metric and no others.
func TestVoidOfOneMetric(t *testing.T) {
	r := tiny()
	got := text(t, r, Style{Width: 400})
	assert.Equal(t, "in its table", lineOf(t, got, "fasthttp"), "fasthttp ~0.699~ – ~9.10~ ~109,866~ 6.010 6.090 0 24.7")
	assert.Contains(t, "beneath it", got, "\n    time void by the check generator-headroom: the load generator used 91 % of its cores")
	assert.Contains(t, "among the ratios", got, "\n  fasthttp             0.536 [0.529, 0.543]   0.995 [0.982, 1.008]   –")
	assert.Contains(t, "at the top", got, "VOID          time of fasthttp on get-7, by the check generator-headroom;")
	assert.Contains(t, "among the findings", got, "VOID  generator-headroom · fasthttp · get-7 · time: the load")
	if strings.Contains(strings.SplitN(got, "\nWORKLOAD", 2)[0], "fasthttp takes") {
		t.Error("a void difference is told")
	}
	assert.Contains(t, "its price stands", sectionText(t, r, "WHAT THE DIFFERENCE COMES TO"), "\n  fasthttp                   0.601")
	bench := written(t, "benchfmt", r)
	assert.Contains(t, "says why", bench, "# left out: time of fasthttp on get-7: void by generator-headroom: ")
	assert.Contains(t, "the others are there", bench, "contender=fasthttp\t175785\t6010 cpu-ns/op\t0 allocs/op")
	assert.Contains(t, "traded", section(t, written(t, "research", r), "Trade-offs"), "| fasthttp | get-7 | cpu 0.536 [0.529, 0.543]; allocs 0 against 12 per request;")
	for _, row := range rowsOf(t, r) {
		if row["contender"] == "fasthttp" && row["section"] == csvFigure && row["workload"] == visits {
			assert.Equal(t, row["metric"], row["void_by"] == "generator-headroom", row["metric"] == "time")
		}
	}
	r.Findings[1].Contender = "nethttp" // the baseline's own time
	got = section(t, written(t, "research", r), "Recommendation")
	assert.Contains(t, "no baseline", got, "On `get-7`: not decided. The baseline is void by the check generator-headroom")
	r.Findings[1].Metric = "cpu"
	assert.Contains(t, "the baseline's cpu", section(t, written(t, "research", r), "Recommendation"), "On `get-7`: stay with nethttp.")
	if strings.Contains(sectionText(t, r, "WHAT THE DIFFERENCE COMES TO"), "On get-7:") {
		t.Error("what the difference in CPU time comes to is told, though it is void")
	}
}

func rowsOf(t *testing.T, r *tare.Result) []map[string]string {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(written(t, "csv", r))).ReadAll()
	assert.NoError(t, "csv", err)
	var out []map[string]string
	for _, record := range records[1:] {
		row := map[string]string{}
		for i, name := range records[0] {
			row[name] = record[i]
		}
		out = append(out, row)
	}
	return out
}

// A metric that a workload does not measure has no column. The first metric that it measures has
// the first column.
func TestAGivenRateMeasuresNoTime(t *testing.T) {
	_, got, _ := strings.Cut(text(t, tiny(), Style{Width: 400}), "\nWORKLOAD "+segment+"\n")
	got, _, _ = strings.Cut(got, "\nWHO PAID")
	for _, not := range []string{"time / nethttp", "rank,", "requests/s)", "µs/op"} {
		if strings.Contains(got, not) {
			t.Errorf("%q is in\n%s", not, got)
		}
	}
	assert.Equal(t, "head", lineOf(t, got, "contender"), "contender cpu / nethttp cpu client-cpu allocs rss errors")
	assert.Contains(t, "why nobody is ranked", got, "No ranks: contenders are ranked by time, which is not measured on this workload.")
	assert.Equal(t, "errors of all rounds", lineOf(t, got, "gin-default "), "gin-default 2.079 [2.052, 2.106] 23.310 6.350 20 26.4 4 (3)")
	assert.Contains(t, "latencies", got, "has 7,498 requests, of which 74 lie above p99 and 7 above p99.9:\n")
	assert.Contains(t, "their rows", got, "\n  gin-default            36.49    38.82    41.70    54.63   154.29\n")
	for _, row := range rowsOf(t, tiny()) {
		if row["section"] == csvFigure && row["workload"] == visits && findMetric(row["metric"]).IsLatency() {
			t.Errorf("a latency of visits has a row: %v", row)
		}
	}
}

func TestLatencyScale(t *testing.T) {
	for _, c := range []struct {
		least, show float64
		want        string
	}{
		{640e3, 640.2e3, "0.640 ms"}, {640e3, 142.3e6, "142.300 ms"}, {45e3, 5.2e6, "5,200.00 µs"}, {99e3, 99e3, "99.00 µs"}, {100e3, 100e3, "0.100 ms"},
		{20.4e6, 250e6, "250.00 ms"}, {250e6, 250e6, "250.0 ms"}, {999e6, 999e6, "999.0 ms"}, {1.5e9, 1.5e9, "1.500 s"}, {20, 20, "20.00 ns"}, {0, 0, "0 ns"},
	} {
		s := latencyScale([]float64{c.least * 3, c.least})
		assert.Equal(t, "latency", s.formatValue(c.show)+" "+s.unit, c.want)
	}
}

func TestDriving(t *testing.T) {
	const heading = "HOW THE SERVERS WERE DRIVEN"
	assert.Equal(t, "no servers", sectionText(t, six(), heading), "")
	r := tiny()
	got := sectionText(t, r, heading)
	assert.Equal(t, "a server", lineOf(t, got, "gin-default "), "gin-default 183,276 49.7–49.9 50 58 142 82 89 24")
	assert.Equal(t, "one that is not ours", lineOf(t, got, "own "), "own 314,958 49.7–49.9 51 58 118 – – 40")
	if strings.Contains(got, tare.ControlID) {
		t.Error("the control, which is the baseline again, has a row")
	}
	assert.Contains(t, "the rate", got, "rate  sent late")
	assert.Contains(t, "explained", got, "Rate: requests answered per second, of those asked for.")
	r.Workloads = r.Workloads[:1]
	if strings.Contains(sectionText(t, r, heading), "Rate") {
		t.Error("a column that is not there is explained")
	}
	for i := range r.Trials {
		if s := r.Trials[i].Samples[visits]; r.Trials[i].Contender == "own" {
			s[tare.KeySharedProcess], s[tare.KeyLayers] = 1, 3
		}
	}
	got = sectionText(t, r, heading)
	assert.Contains(t, "one process", got, "\n    server and load generator are one process\n")
	assert.Contains(t, "layers", strings.Join(strings.Fields(got), " "), "Layers: calls of middleware that the server counted.")
	r.Trials[0].Error = &tare.TrialError{Class: tare.ErrExit}
	assert.Equal(t, "a round that was lost", lineOf(t, sectionText(t, r, heading), "nethttp (b"), "nethttp (baseline) 245,586 49.8–49.9 50 58 131 0 – 86 47")
	r.Trials = nil
	assert.Equal(t, "nothing recorded", sectionText(t, r, heading), "")
	count := map[string]int{}
	for _, row := range rowsOf(t, tiny()) {
		if row["section"] == "driving" && row["workload"] == segment && row["contender"] == "gin-default" {
			count[row["metric"]]++
			for name, want := range map[string][3]string{"errors": {"4", "", ""}, "send_lag_p99_ns": {"", "42000", "44000"}, "requests": {"22494", "", ""}} {
				if row["metric"] == name {
					assert.Equal(t, name, [3]string{row["value"], row["value_low"], row["value_high"]}, want)
				}
			}
		}
	}
	assert.Equal(t, "rows", len(count), 12)
}

func TestProbes(t *testing.T) {
	for _, format := range []string{"text", "md", "research"} {
		assert.Contains(t, format, strings.Join(strings.Fields(written(t, format, tiny())), " "), "Asked what must be refused (refusals), 7 of 8 contenders did as the reference does; not nethttp-plain† (4 of 5 otherwise).")
	}
	if got := text(t, tiny(), Style{}); strings.Contains(got, "5 cases") {
		t.Error("what must be refused is counted as an answer")
	}
}

func TestNotWeighedIsGrouped(t *testing.T) {
	assert.Slices(t, "quick", listNotMeasured(quick()), []string{
		"Left out at this budget (no claim and no criterion needs it): contenders chi, echo and hertz; workload get-random.",
		"Not measured at this budget (each contender takes 5s a round, alone; needs --budget full): workloads get-7/1500 and get-7/10000.",
	})
}
