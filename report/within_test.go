package report

import (
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
)

// A short write-up begins with the recommendation, stays near its number of words, and lists what
// it leaves out.
func TestResearchWithin(t *testing.T) {
	r := cases()["six"]
	r.Recommended = "It was recommended, and that stands."
	for _, name := range []string{"one", "one", "two", "without an address"} {
		c := tare.ClaimResult{ID: name, Source: name, SourceURL: "https://example.com/" + name}
		if name == "without an address" {
			c.SourceURL = ""
		}
		r.Claims = append(r.Claims, c)
	}
	write := func(words int) string {
		var b strings.Builder
		if err := ResearchWithin(&b, r, words, "the [whole](x.txt)"); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	short := write(400)
	assert.Contains(t, "the recommendation first", short, "## What was published, and whether it stands\n\nIt was recommended, and that stands.\n\nMeasured here: in 27 rounds on 2 cores (Example CPU 3.0 GHz) with go1.26.8. The programs are")
	assert.Contains(t, "the publications", short, "\n\nPublished: [one](https://example.com/one); [two](https://example.com/two).\n")
	assert.Contains(t, "the rest", short, "## The rest\n\nThe complete report is the [whole](x.txt). It also has: ")
	if n := len(strings.Fields(short)); n > 600 || n < 100 {
		t.Errorf("%d words", n)
	}
	var whole strings.Builder
	if err := Research(&whole, r); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(short[:strings.Index(short, "## The rest")]) {
		if !strings.Contains(whole.String(), line) {
			t.Errorf("not in the whole: %s", line)
		}
	}
	if long := write(1 << 20); len(long) < len(short)*2 || !strings.Contains(long, "### ") {
		t.Error("a long one has no more")
	}
}

// Without ranks the advice states only the differences from the baseline.
func TestAdviceWithoutRanks(t *testing.T) {
	r := cases()["six"]
	for i := range r.Comparisons {
		r.Comparisons[i].RankLow, r.Comparisons[i].RankHigh = 0, 0
	}
	text := written(t, "research", r)
	assert.Contains(t, "advice", text, "not decided. No ranking after "+countNoun(r.RoundsDone, "round")+". Each against encoding-json: less time: ")
}

// Long ranges of ns are printed in units that people read, and a warning on several workloads once.
func TestWarningsRead(t *testing.T) {
	f := tare.Finding{Check: "discriminating", Severity: tare.Warn, Workload: "stop", Message: "stop <= 5s could not fail: everything that was measured lies between 4437900 and 104743950 ns"}
	assert.Equal(t, "durations", describeWarning(f), "The check discriminating warns on stop: stop <= 5s could not fail: everything that was measured lies between 4.44 ms and 105 ms.")
	one := tare.Finding{Check: "sink", Severity: tare.Warn, Workload: "a", Message: "every operation works on the same body: pool is 1"}
	two := one
	two.Workload = "b"
	joined := joinWorkloads([]tare.Finding{one, f, two})
	if len(joined) != 2 {
		t.Fatalf("%d warnings", len(joined))
	}
	assert.Equal(t, "joined", describeWarning(joined[0]), "The check sink warns on a and b: every operation works on the same body: pool is 1, so that all requests have the same body, and caches may help all contenders.")
}
