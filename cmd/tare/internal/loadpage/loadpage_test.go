package loadpage

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/load/hist"
)

// leg is a made-up leg of so many seconds; every fifth has errors.
func leg(seconds int) Page {
	r := &load.Result{Engine: load.Epoll, Connections: 4, Threads: 1, Latency: new(hist.Hist), Service: new(hist.Hist), FirstByte: new(hist.Hist), SendLag: new(hist.Hist), Connect: new(hist.Hist),
		Statuses: map[int]int64{200: 90, 503: 10}, Errors: map[load.Class]int64{load.ErrStatus: 10}, Wall: time.Duration(seconds) * time.Second, FirstError: `status: 503 <b>"x"</b>`}
	for i := range seconds {
		var h hist.Hist
		for v := int64(100_000); v < 80_000_000; v += v/20 + int64(i) {
			h.Record(v)
		}
		for _, to := range []*hist.Hist{r.Latency, r.Service, r.FirstByte} {
			to.Merge(&h)
		}
		s := load.Second{At: time.Duration(i) * time.Second, Requests: h.Count(), P50: time.Duration(h.Quantile(0.5)), P99: time.Duration(h.Quantile(0.99)), Max: time.Duration(h.Max()), Bins: h.Bins(4)}
		if i%5 == 4 {
			s.Errors, s.Classes = 2, map[load.Class]int64{load.ErrStatus: 2}
		}
		r.Timeline = append(r.Timeline, s)
	}
	r.Requests, r.Sent = r.Latency.Count(), r.Latency.Count()
	r.Steps = []load.StepResult{{Rate: 4321, Result: &load.Result{Wall: time.Second, Sent: 40, Requests: 40, Latency: r.Latency}}}
	slo, err := load.ParseSLO("p99<1ms,errors<50%")
	if err != nil {
		panic(err)
	}
	return Page{load.NewDocument(r, load.Documented{URL: "http://127.0.0.1:80/<x>", SLO: slo}), r, "closed loop on 4 connections", "2026-12-01 10:00:00 UTC: 2 <cores>"}
}

// A page is well-formed, says what the document says, escapes what a server
// sent, and asks no network.
func TestPage(t *testing.T) {
	for _, seconds := range []int{0, 1, 2, 7, 3600} {
		p := leg(seconds)
		var b bytes.Buffer
		if err := Write(&b, p); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		checkMarkup(t, text)
		for _, want := range []string{"status: 503 &lt;b&gt;", "http://127.0.0.1:80/&lt;x&gt;", "on 2026-12-01 10:00:00 UTC: 2 &lt;cores&gt;.", "HTTP 503", "Limit: ", "<summary>Steps", ">4,321<"} {
			if !strings.Contains(text, want) {
				t.Errorf("%d seconds: there is no %s", seconds, want)
			}
		}
		for _, not := range []string{"<script", "NaN", "Inf", "ZgotmplZ", "src=", "http-equiv=\"refresh\""} {
			if strings.Contains(text, not) {
				t.Errorf("%d seconds: there is %s", seconds, not)
			}
		}
		if drift := strings.Contains(text, "<summary>Drift"); drift != (seconds >= 60) {
			t.Errorf("%d seconds: drift is %v", seconds, drift)
		}
		if over := strings.Contains(text, `id="heat"`); over != (seconds > 1) {
			t.Errorf("%d seconds: a heat map is %v", seconds, over)
		}
		if seconds > 0 && !strings.Contains(text, FormatTime(p.Document.Latency.P99)) {
			t.Errorf("%d seconds: no p99", seconds)
		}
		if b.Len() > 600_000 {
			t.Errorf("%d seconds: %d bytes", seconds, b.Len())
		}
	}
}

// checkMarkup reads a page as strict markup: every element is closed.
func checkMarkup(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict, d.AutoClose, d.Entity = false, []string{"meta", "link"}, xml.HTMLEntity
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("markup: %v", err)
		}
	}
}

// Every request of a second is in the heat map, whatever the columns are.
func TestSpansKeepEveryRequest(t *testing.T) {
	p := leg(1000)
	for _, most := range []int{1, 7, 150, 5000} {
		var binned int64
		all := mergeSeconds(p.Result.Timeline, most)
		for _, s := range all {
			for _, b := range s.bins {
				binned += b.Count
			}
		}
		if binned != p.Result.Requests || len(all) > most {
			t.Errorf("%d columns of %d hold %d of %d requests", len(all), most, binned, p.Result.Requests)
		}
	}
}

// An objective for a latency is a line in the charts with its name, and the sign of
// all objectives stands before the headline.
func TestObjectivesAreDrawn(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, leg(7)); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{`<line class="at"`, "the line is the objective", `class="limit"`, ">p99&lt;1ms<", `<h1><span class="bad">✕</span>`, "✓ met"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s", want)
		}
	}
	if !strings.Contains(text, "latency = first byte") {
		t.Error("curves through the same places are drawn twice")
	}
}

func TestMetrics(t *testing.T) {
	var b bytes.Buffer
	p := leg(5)
	p.Document.URL = "http://a/\"\\\n"
	p.Document.SLO[1].Verdict = tare.Inconclusive
	if err := WriteMetrics(&b, p.Document, time.Unix(7, 0)); err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`^(# (TYPE|HELP) tare_load_[a-z_]+ .+|# EOF|tare_load_[a-z_]+\{url="http://a/\\"\\\\\\n"(,[a-z_]+="[^"]+")?\} [-+0-9.e]+)$`)
	for text := range strings.Lines(b.String()) {
		if !line.MatchString(strings.TrimSuffix(text, "\n")) {
			t.Errorf("line %q", text)
		}
	}
	for _, want := range []string{`class="status"} 10`, `class="timeout"} 0`, `status="503"} 10`, `quantile="0.99"} 0.0`, "timestamp_seconds", "# EOF\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("there is no %s in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), `objective="errors`) {
		t.Error("an objective without a ruling is listed")
	}
}

// A load whose generator was the limit begins with it: neither rate nor latencies are those of the server.
func TestVoidLoadIsNamedFirst(t *testing.T) {
	d := load.Document{Limit: string(load.LimitClient), LimitWhy: "it was late", Requests: 5, Sent: 5, RequestsPerSecond: 5}
	if got := formatHeadline(d); !strings.HasPrefix(got, "Void, the load generator was too slow: 5.00 requests per second, ") {
		t.Error(got)
	}
	if got, want := formatLimit(d), "Limit: the load generator itself. It was late. Read neither rate nor latencies as those of the server."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	d.Limit = string(load.LimitNone)
	if got := formatHeadline(d) + formatLimit(d); strings.Contains(got, "Void") || !strings.Contains(got, "Do not read the rate as what the server can do.") {
		t.Error(got)
	}
}

// Before the first second is over there is no figure and no limit.
func TestNothingYet(t *testing.T) {
	if c := newContent(Page{}); c.Headline != "Nothing is measured yet." || c.Second != "" {
		t.Errorf("%q, %q", c.Headline, c.Second)
	}
}

// A browser that is connected gets each page, and is told when it is over.
func TestWatch(t *testing.T) {
	w, err := Listen("127.0.0.1:0", leg(0))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := http.Get(w.URL())
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(whole.Body)
	whole.Body.Close()
	if err != nil || !strings.Contains(string(text), "new EventSource(") || !strings.Contains(string(text), "connect-src &#39;self&#39;") {
		t.Errorf("%v: %s", err, text)
	}
	events, err := http.Get(w.URL() + "events")
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	lines := bufio.NewReader(events.Body)
	read := func(want string) {
		t.Helper()
		line, err := lines.ReadString('\n')
		if err != nil || !strings.Contains(line, want) {
			t.Fatalf("%v: want %q in %.200q", err, want, line)
		}
	}
	read("closed loop on 4 connections")
	read("\n")
	second := leg(2)
	second.How = "the second page"
	w.Show(second)
	read("the second page")
	read("\n")
	closed := make(chan error)
	go func() { closed <- w.Close() }()
	read("the second page")
	read("\n")
	read("event: over\n")
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// The page is for this machine: neither other addresses nor other names.
func TestWatchIsLocal(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.com:80", "8090"} {
		if w, err := Listen(addr, Page{}); err == nil {
			w.Close()
			t.Errorf("listens on %s", addr)
		}
	}
	w, err := Listen(":0", leg(1))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for host, want := range map[string]int{"evil.example": 403, "localhost": 200, "127.0.0.1:80": 200, "[::1]:80": 200} {
		q, _ := http.NewRequest(http.MethodGet, w.URL(), nil)
		q.Host = host
		a, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		a.Body.Close()
		if a.StatusCode != want {
			t.Errorf("%s: %d, want %d", host, a.StatusCode, want)
		}
	}
}

func TestDriftText(t *testing.T) {
	for _, c := range []struct {
		d    load.Drift
		want string
	}{
		{load.Drift{Unit: "ns", Change: -1500, Low: -3e6, High: 20, Level: 5e6}, "−1.50 µs [−3.00 ms, +20 ns] on 5.00 ms"},
		{load.Drift{Unit: "share", Change: 0.01, Low: 0, High: 0.02, Level: 0.5}, "+1.000 % [0.000 %, +2.000 %] on 50.000 %"},
		{load.Drift{Unit: "bytes", Change: 2e6, Low: 1e6, High: 3e9, Level: 5}, "+2.00 MB [+1.00 MB, +3.00 GB] on 5 B"},
	} {
		if got := DescribeDrift(c.d); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Machines that sent are a section of their own; a page of one machine has none.
func TestGeneratorsOnThePage(t *testing.T) {
	write := func(g []load.Generated) string {
		var b strings.Builder
		if err := Write(&b, Page{Document: load.Document{URL: "http://a/", Requests: 1, Seconds: 1, Generators: g}}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if text := write(nil); strings.Contains(text, "Load generators") {
		t.Error("a page of one machine has the section")
	}
	text := write([]load.Generated{{Name: "<b>rack", RequestsPerSecond: 2000, P50: 1e6, ClockOffset: 2e8, ClockUncertain: 5e4, Limit: "none"}, {Name: "gone", Lost: "no word from it"}})
	for _, want := range []string{"Load generators", "&lt;b&gt;rack", "&#43;200.00 ± 0.05 ms", "lost: no word from it"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q", want)
		}
	}
}
