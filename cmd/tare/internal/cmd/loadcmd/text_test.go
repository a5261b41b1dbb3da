package loadcmd

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/loadpage"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/cmd/tare/internal/traffic"
	"github.com/tarebench/tare/internal/golden"
	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/load/hist"
	"github.com/tarebench/tare/report"
)

// agreed compares output with a file that a person has read.
func agreed(t *testing.T, name string, write func(io.Writer) error) {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "load/"+name, b.Bytes())
}

// distribution is a made-up one: most values near typical, a tail of a tenth,
// and so on, to longest.
func distribution(n int, typical, longest time.Duration) *hist.Hist {
	h := new(hist.Hist)
	x := uint64(1)
	for i := range n {
		x = x*6364136223846793005 + 1442695040888963407
		v := int64(typical) * int64(70+x>>58) / 100
		for tenth := 10; i%tenth == tenth-1; tenth *= 10 {
			v = min(v*5/2, int64(longest))
		}
		h.Record(v)
	}
	h.Record(int64(longest))
	return h
}

// legOf is a made-up leg in a closed loop.
func legOf() *load.Result {
	lat := distribution(199_999, 820*time.Microsecond, 48*time.Millisecond)
	r := &load.Result{
		Engine: load.Epoll, Connections: 50, Threads: 2, Wall: 4 * time.Second, Sent: 200_012, Requests: 200_000,
		Statuses: map[int]int64{200: 199_000, 503: 1000}, Errors: map[load.Class]int64{load.ErrStatus: 1000, load.ErrReset: 8, load.ErrTimeout: 4},
		FirstError: "status: 503", Opened: 62, Reconnects: 12, Latency: lat, Service: lat, FirstByte: distribution(199_999, 750*time.Microsecond, 40*time.Millisecond),
		Connect: distribution(61, 80*time.Microsecond, time.Millisecond), SendLag: new(hist.Hist), Concurrency: 49.8,
		BytesIn: 32_400_000, BytesOut: 11_000_000, BodyIn: 2_400_000, CPU: 1700 * time.Millisecond,
	}
	for i := range 4 {
		r.Timeline = append(r.Timeline, load.Second{At: time.Duration(i) * time.Second, Requests: 49_000 + 500*int64(i), Errors: int64(i * 10), P50: 860 * time.Microsecond, P99: 2700 * time.Microsecond})
	}
	return r
}

// openLeg is the same in an open loop that was not held.
func openLeg() *load.Result {
	r := legOf()
	r.Asked, r.Sent, r.Requests, r.Late = 60_000, 200_000, 200_000, 40_000
	r.Statuses, r.Errors, r.FirstError = map[int]int64{200: 200_000}, nil, ""
	r.Latency, r.SendLag = distribution(199_999, 30*time.Millisecond, 700*time.Millisecond), distribution(199_999, 25*time.Millisecond, 650*time.Millisecond)
	r.Timeline = nil
	for i := range 45 {
		r.Timeline = append(r.Timeline, load.Second{At: time.Duration(i) * time.Second, Requests: 50_000, P50: time.Duration(i) * time.Millisecond, P99: time.Duration(i*10) * time.Millisecond})
	}
	return r
}

// stepLeg is one of two steps, the second of which is too much.
func stepLeg() *load.Result {
	r := openLeg()
	for i, typical := range []time.Duration{time.Millisecond, 60 * time.Millisecond} {
		rate := []float64{20_000, 80_000}[i]
		one := &load.Result{Wall: 2 * time.Second, Asked: rate, Sent: int64(2 * rate), Requests: int64(2 * rate), Latency: distribution(int(2*rate), typical, 3*typical)}
		r.Steps = append(r.Steps, load.StepResult{Rate: rate, At: time.Duration(i) * 2 * time.Second, Result: one})
	}
	return r
}

// farLeg is one in a closed loop over a path of 20 ms.
func farLeg() *load.Result {
	r := legOf()
	lat := distribution(8_099, 20500*time.Microsecond, 90*time.Millisecond)
	r.Sent, r.Requests, r.Statuses, r.Errors, r.FirstError = 8_100, 8_100, map[int]int64{200: 8_100}, nil, ""
	r.Latency, r.Service, r.FirstByte = lat, lat, lat
	r.BytesIn, r.BytesOut, r.BodyIn, r.CPU, r.Opened, r.Reconnects = 47_000_000, 500_000, 45_000_000, 90*time.Millisecond, 50, 0
	r.Timeline = r.Timeline[:1]
	return r
}

func documented() load.Documented {
	return load.Documented{URL: "http://127.0.0.1:8080/v1/id/7", Facts: load.Facts{RoundTrip: 40 * time.Microsecond}}
}

func TestLoadText(t *testing.T) {
	slo, err := load.ParseSLO("p99<5ms,p99.9<=10ms,errors<0.1%")
	if err != nil {
		t.Fatal(err)
	}
	server := documented()
	server.SLO, server.Interrupted, server.Facts.ServerCPU, server.Facts.ServerCores = slo, true, 6800*time.Millisecond, 2
	server.ServerCPU = []time.Duration{1600 * time.Millisecond, 1700 * time.Millisecond, 1750 * time.Millisecond}
	far := documented()
	far.Facts.RoundTrip, far.Delay, far.Facts.Bandwidth = 20040*time.Microsecond, 20*time.Millisecond, 100e6
	steps := documented()
	steps.SLO, steps.Profile = slo, load.Step{Rates: []float64{20_000, 80_000}, Each: 2 * time.Second}
	rate := documented()
	rate.Profile = load.Constant{PerSecond: 60_000}
	for name, c := range map[string]struct {
		r  *load.Result
		o  load.Documented
		st report.Style
	}{
		"closed.txt":  {legOf(), server, report.Style{}},
		"open.txt":    {openLeg(), rate, report.Style{Width: 80}},
		"steps.txt":   {stepLeg(), steps, report.Style{}},
		"far.txt":     {farLeg(), far, report.Style{}},
		"nothing.txt": {&load.Result{Connections: 10, Errors: map[load.Class]int64{load.ErrReset: 5}, FirstError: "reset: connection reset by peer"}, documented(), report.Style{}},
	} {
		agreed(t, name, func(w io.Writer) error {
			return writeLoad(w, c.r, load.NewDocument(c.r, c.o), c.st, "as it was asked for")
		})
	}
}

func TestLoadTextOfASearch(t *testing.T) {
	slo, err := load.ParseSLO("p99<5ms")
	if err != nil {
		t.Fatal(err)
	}
	r := legOf()
	step := func(connections int, rate float64, ruling tare.Ruling, why string) load.SearchStep {
		return load.SearchStep{Trial: load.Trial{Connections: connections, Rate: rate}, Result: r, Assessment: load.Assess(r, load.Facts{}), Outcomes: slo.Hold(r), Ruling: ruling, Why: why}
	}
	o := documented()
	o.Search = &load.Search{
		SLO: slo, Ruling: tare.Met, PerSecond: 47_500, AtLeast: 50_000, Connections: 8, Sentence: "the server keeps p99<5ms at 47500 requests per second",
		Steps: []load.SearchStep{step(8, 0, tare.Met, ""), step(16, 0, tare.NotMet, "p99 was 6ms, not <5ms"), step(16, 47_500, tare.Met, "")},
	}
	agreed(t, "search.txt", func(w io.Writer) error {
		return writeLoad(w, r, load.NewDocument(r, o), report.Style{}, "closed loop on 1 to 1024 connections, then open loop, 3s a step")
	})
}

func TestPresets(t *testing.T) {
	r := legOf()
	d := load.NewDocument(r, documented())
	agreed(t, "wrk.txt", func(w io.Writer) error { return writeWrk(w, r, d) })
	agreed(t, "ab-keep.txt", func(w io.Writer) error {
		return writeAB(w, abReport{document: d, result: r, software: "nginx/1.2", length: 12, keepAlive: true})
	})
	each := legOf()
	each.Opened, each.Reconnects, each.Errors, each.Statuses = 200_000, 199_950, nil, map[int]int64{200: 200_000}
	each.Connect = distribution(199_999, 2*time.Millisecond, 9*time.Millisecond)
	agreed(t, "ab.txt", func(w io.Writer) error {
		return writeAB(w, abReport{document: load.NewDocument(each, documented()), result: each, length: 12, hasBodies: true})
	})
}

// The median of connect times, and with it that of the total, is that of all requests: if 60 % made a
// connection, the median is the quantile 1/6 of the connections, below which lie 40 % and 10 %.
func TestMedianOfConnectTimes(t *testing.T) {
	r := &load.Result{Latency: new(hist.Hist), Connect: new(hist.Hist), FirstByte: new(hist.Hist)}
	for i := range int64(1000) {
		r.Latency.Record(int64(time.Millisecond))
		if i < 600 {
			r.Connect.Record(i * int64(time.Millisecond))
		}
	}
	var b strings.Builder
	d := load.NewDocument(r, load.Documented{URL: "http://x/"})
	if err := writeAB(&b, abReport{document: d, result: r}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"Connect:": 100, "Total:": 101, "50%": 101, "75%": 351} {
		_, row, _ := strings.Cut(b.String(), name)
		row, _, _ = strings.Cut(row, "\n")
		fields := strings.Fields(row)
		got := fields[0]
		if len(fields) > 1 {
			got = fields[3] // min, mean, ±SD, median, max
		}
		if n, err := strconv.Atoi(got); err != nil || n < want*99/100 || n > want*101/100+1 {
			t.Errorf("%s %s, want %d; the output:\n%s", name, got, want, b.String())
		}
	}
}

// What is printed never holds anything that a server could have put there to
// steer a terminal, and survives results of nothing.
func TestPresetsOfNothing(t *testing.T) {
	r := &load.Result{Latency: new(hist.Hist), Connect: new(hist.Hist)}
	d := load.NewDocument(r, load.Documented{URL: "http://x/"})
	var b strings.Builder
	if err := writeWrk(&b, r, d); err != nil {
		t.Fatal(err)
	}
	if err := writeAB(&b, abReport{document: d, result: r}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") || strings.Contains(b.String(), "%!") {
		t.Error(b.String())
	}
}

func TestFigures(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{loadpage.FormatTime(0), "0 ns"}, {loadpage.FormatTime(999), "999 ns"}, {loadpage.FormatTime(1000), "1.00 µs"}, {loadpage.FormatTime(46_400), "46.4 µs"}, {loadpage.FormatTime(20_040_000), "20.0 ms"}, {loadpage.FormatTime(2_500_000_000), "2.50 s"}, {loadpage.FormatTime(123_456_789_000), "123 s"},
		{loadpage.FormatDecimal(1234567.891, 1), "1,234,567.9"}, {loadpage.FormatDecimal(-1234, 0), "-1,234"}, {loadpage.FormatDecimal(999, 0), "999"}, {loadpage.FormatRate(99.5), "99.50"}, {loadpage.FormatRate(100_000), "100,000"},
		{loadpage.FormatBytes(0), "0 B"}, {loadpage.FormatBytes(999), "999 B"}, {loadpage.FormatBytes(1500), "1.50 kB"}, {loadpage.FormatBytes(16_700_000), "16.7 MB"}, {loadpage.FormatBitRate(70e6), "70.0 Mbit/s"}, {loadpage.FormatBitRate(0), "0 bit/s"},
		{wrkTime(251_000), "251.00us"}, {wrkTime(6_500_000), "6.50ms"}, {wrkTime(2e9), "2.00s"}, {wrkTime(90e9), "1.50m"}, {wrkMetric(11_610), "11.61k"}, {wrkMetric(999), "999.00"},
		{wrkBinary(2.6 * 1024 * 1024), "2.60M"}, {wrkWhole(10.02), "10s"}, {wrkWhole(120), "2m"},
		{padColumn("6.50ms", 8), "  6.50ms"}, {padColumn("1.00s", 8), "  1.00s "}, {padColumn("99.00", 8), " 99.00  "},
		{loadpage.FormatNines(0), "0"}, {loadpage.FormatNines(1), "90"}, {loadpage.FormatNines(3), "99.9"}, {loadpage.FormatNines(5), "99.999"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// TestDescribeFeed: what is not sent as the file has it is said.
func TestDescribeFeed(t *testing.T) {
	line := `h - - [%s:06:25:24 +0000] "GET /%d HTTP/1.1" 200 1` + "\n"
	log := fmt.Sprintf(line, "12/Mar/2026", 1) + fmt.Sprintf(line, "12/Mar/2024", 2)
	har := `{"log":{"entries":[{"request":{"method":"GET","url":"/a","headers":[{"name":"a b"},{"name":""}]}}]}}`
	for src, c := range map[string]struct {
		kind traffic.Kind
		want string
	}{
		log: {traffic.AccessLog, "a is an access log\nrequests are sent in the order of the file, not of their times: 1 request without a usable time\n"},
		har: {traffic.HAR, "a is an HTTP archive (HAR)\n2 headers without a valid name omitted\n"},
	} {
		f, err := traffic.Read(c.kind, "a", strings.NewReader(src), false)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		env := cmdenv.Env{Err: &out, Getenv: func(string) string { return "" }, Lab: cmdenv.Lab{Terminal: func(any) (int, int, bool) { return 0, 0, false }}}
		p := session.NewProgress(env, false)
		describeFeed(f, "a", p)
		p.End()
		if out.String() != c.want {
			t.Errorf("%s, want %s", out.String(), c.want)
		}
	}
}
