package publish_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/cmd/tare/internal/history/publish"
)

// simulated returns a trend of benchmarks on two kinds of machine; every tenth run is on the
// second. The first benchmark takes 10 % longer from run step on.
func simulated(t *testing.T, runs, benchmarks, step int) history.Trend {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 8))
	var stored []history.Stored
	level := map[int64][]float64{}
	for i := range runs {
		d := &tare.Result{
			Study: "bench example.com/<m>",
			Design: tare.Design{
				Metrics:    []string{"time"},
				Contenders: []tare.Contender{{ID: "base", Role: tare.RoleBaseline, Version: "v1.0.0 (000000000)"}, {ID: "head", Role: tare.RoleContender, Version: fmt.Sprintf("HEAD (%09x)", i+1)}},
			},
			Measured: tare.Measured{RoundsDone: 12}, Run: tare.Run{Machine: tare.Machine{OS: "linux", Arch: "amd64", CPU: "one", Cores: 2}},
		}
		if i%10 == 9 {
			d.Machine.CPU = "another"
		}
		for j := range benchmarks {
			d.Workloads = append(d.Workloads, tare.Workload{ID: fmt.Sprintf("example.com/m.Benchmark%d", j)})
			at := 0.005 * rng.NormFloat64()
			if j == 0 && i >= step {
				at += math.Log(1.1)
			}
			level[int64(i)] = append(level[int64(i)], at)
		}
		stored = append(stored, history.Stored{ID: int64(i), Started: time.Date(2026, 1, 1, i, 0, 0, 0, time.UTC), Digest: d})
	}
	trend, err := history.NewTrend(history.Query{Study: stored[0].Digest.Study}, stored, func(id int64, metric, against string) (pairs []history.Pair, err error) {
		for j, at := range level[id] {
			pairs = append(pairs, history.Pair{
				Workload: fmt.Sprintf("example.com/m.Benchmark%d", j), Contender: "head", Against: against,
				Ratio: math.Exp(at), Low: math.Exp(at - 0.01), High: math.Exp(at + 0.01), Level: 0.95, Void: j == 1 && id == 3,
			})
		}
		return pairs, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return trend
}

// A page of 200 runs of 40 benchmarks has less than 2 MB, and reports the planted step once,
// between the two commits around it. Of the 8,000 points without a change few are reported by
// chance: 0.06 %, as docs/history.md says.
func TestPage(t *testing.T) {
	trend := simulated(t, 200, 40, 150)
	var b bytes.Buffer
	if err := publish.Page(&b, "benchmarks of <m>", []history.Trend{trend}, time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	if len(page) > 2e6 {
		t.Errorf("the page has %d bytes, want at most 2 MB", len(page))
	}
	if n := strings.Count(page, `<svg class="trend"`); n != 80 {
		t.Errorf("%d charts, want 40 for each of two machines", n)
	}
	if !strings.Contains(page, "<h3>one (linux/amd64, 2 cores): 180 runs</h3>") || !strings.Contains(page, "<h3>another (linux/amd64, 2 cores): 20 runs</h3>") {
		t.Error("machines are not apart")
	}
	// Run 150, counted from zero, is the first of the new level; 149 ran elsewhere.
	if n := strings.Count(page, "commits 000000095..000000097"); n != 1 {
		t.Errorf("the commits of the step stand %d times in it", n)
	}
	if first := page[strings.Index(page, "<tbody>"):]; !strings.Contains(first[:strings.Index(first, "</tr>")], "Benchmark0<") {
		t.Error("what changed does not come first")
	}
	if n := strings.Count(page, "<li>"); n < 2 || n > 2+8 {
		t.Errorf("%d steps, want the planted one on two machines, and few by chance", n)
	}
	if strings.Contains(page, "<m>") || strings.Contains(page, "NaN") || strings.Contains(page, "Inf") || strings.Contains(page, "<script") {
		t.Error("something is not escaped, or no number")
	}
	if path := os.Getenv("TARE_KEEP_PAGE"); path != "" {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPageOfNothing(t *testing.T) {
	var b strings.Builder
	if err := publish.Page(&b, "x", nil, time.Time{}); err != nil || !strings.Contains(b.String(), "No result was kept yet") {
		t.Errorf("%v, %s", err, b.String())
	}
}

// A badge is well-formed XML, and names the worst change.
func TestBadge(t *testing.T) {
	for want, s := range map[string]publish.Standing{
		"2 worse": {Worse: 2, Better: 1, Steady: 3}, "1 better": {Better: 1, Steady: 3}, "3 benchmarks steady": {Steady: 3}, "no history": {Unknown: 1},
		"1 benchmark steady, 4 not known": {Steady: 1, Unknown: 4}, "2 worse, 1 not known": {Worse: 2, Unknown: 1}, "1 better, 1 not known": {Better: 1, Unknown: 1},
	} {
		var b strings.Builder
		if err := publish.Badge(&b, "a<b", s); err != nil || !strings.Contains(b.String(), ">"+want+"<") || strings.Contains(b.String(), "!(") {
			t.Errorf("%s: %v, %s", want, err, b.String())
		}
		for d := xml.NewDecoder(strings.NewReader(b.String())); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	slower := simulated(t, 40, 6, 39)
	if s := publish.StandingOf(slower); s.Worse+s.Better+s.Steady+s.Unknown != 6 {
		t.Errorf("%+v", s)
	}
	late := simulated(t, 42, 6, 40)
	if s := publish.StandingOf(late); s.Worse != 1 || s.Better != 0 {
		t.Errorf("of a benchmark that is slower since a run: %+v", s)
	}
	part := simulated(t, 20, 4, 99)
	part.Machines[0].Series[0].Missing = "left out of the newest run: no time"
	part.Machines[0].NotWeighed = []tare.NotWeighed{{What: "workload example.com/m.Benchmark0", Why: "no time"}, {What: "workload example.com/m.BenchmarkNew", Why: "no time"}}
	part.Unreadable = []string{"a result that cannot be read"}
	if s := publish.StandingOf(part); s.Unknown != 3 || s.Steady != 3 {
		t.Errorf("of what was left out: %+v", s)
	}
	var page strings.Builder
	if err := publish.Page(&page, "t", []history.Trend{part}, time.Time{}); err != nil || !strings.Contains(page.String(), "example.com/m.BenchmarkNew: no time") || !strings.Contains(page.String(), "a result that cannot be read") || !strings.Contains(page.String(), "left out of the newest run: no time") {
		t.Errorf("the page does not say what was left out: %v", err)
	}
	if s := publish.StandingOf(history.Trend{}); s != (publish.Standing{}) {
		t.Errorf("%+v", s)
	}
}

func TestOpenMetrics(t *testing.T) {
	trend := simulated(t, 20, 2, 5)
	trend.Study = "a\\b \"c\"\nd"
	var b strings.Builder
	if err := publish.OpenMetrics(&b, []history.Trend{trend}); err != nil {
		t.Fatal(err)
	}
	out := b.String()
	for _, want := range []string{
		"# TYPE tare_ratio gauge\n", `study="a\\b \"c\"\nd",metric="time"`, `workload="example.com/m.Benchmark0",contender="head",against="base"} 1.`,
		"tare_changed{", "tare_measured_timestamp_seconds{",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if !strings.HasSuffix(out, "\n# EOF\n") || strings.Count(out, "tare_ratio{") != 4 {
		t.Errorf("%s", out)
	}
}

// The policy of the page allows nothing but its own style, and names cannot add elements.
func TestPageHasAPolicy(t *testing.T) {
	trend := simulated(t, 3, 1, 99)
	trend.Study = `<script>CANARY</script><img src=x onerror=CANARY>`
	trend.Machines[0].Name = `"><iframe src=https://evil.example>`
	var page bytes.Buffer
	if err := publish.Page(&page, "t", []history.Trend{trend}, time.Time{}); err != nil {
		t.Fatal(err)
	}
	text := page.String()
	_, style, _ := strings.Cut(text, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	want := `<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; style-src &#39;sha256-` + strings.ReplaceAll(base64.StdEncoding.EncodeToString(sum[:]), "+", "&#43;")
	if !strings.Contains(text, want) || style == "" {
		t.Errorf("no %s in %.400s", want, text)
	}
	for _, bad := range []string{"<script", "<img", "<iframe", "style=", "javascript:"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %s", bad)
		}
	}
}
