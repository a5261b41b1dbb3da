package historycmd

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/report"
)

// hostile is a name in a result that somebody else made.
const hostile = "=HYPERLINK(\"https://evil.example\",\"CANARY\")\x1b]52;c;CANARY\a\x1b[2J\u202e\nCANARY"

func hostileTrend() history.Trend {
	last := &history.Point{Ratio: 1.5, Low: 1.4, High: 1.6}
	return history.Trend{
		Study: hostile, Metric: hostile, Against: hostile,
		Machines: []history.Machine{{
			Name:       hostile,
			Runs:       []history.TrendRun{{Started: time.Unix(0, 0), Path: hostile, Stale: []string{hostile}}},
			Series:     []history.Series{{Workload: hostile, Contender: hostile, Points: []*history.Point{last}, Last: last, Change: history.First, Missing: hostile}},
			NotWeighed: []tare.NotWeighed{{What: hostile, Why: hostile}},
		}},
		Unreadable: []string{hostile},
	}
}

// checkPlain fails if a text can do anything to a terminal.
func checkPlain(t *testing.T, what, text string) {
	t.Helper()
	if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 {
		t.Errorf("%s has %q", what, text[i:min(len(text), i+8)])
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "CANARY") {
			t.Errorf("%s: a name begins a line: %s", what, line)
		}
	}
}

// Nothing that a result holds reaches a terminal as it is.
func TestHostileHistoryIsPrinted(t *testing.T) {
	var text bytes.Buffer
	writeTrend(&text, hostileTrend(), false, report.Style{})
	checkPlain(t, "trend", text.String())
	if !strings.Contains(text.String(), "⟨U+001B⟩") {
		t.Error("the names are not there")
	}
	var out bytes.Buffer
	rows := []runRow{{Study: hostile, Stopped: hostile, Verdicts: hostile, Path: hostile}}
	if err := printRuns(cmdenv.Env{Out: &out}, rows, nil); err != nil {
		t.Fatal(err)
	}
	checkPlain(t, "runs", out.String())
}

// No spreadsheet takes a name for a formula.
func TestHostileHistoryAsCSV(t *testing.T) {
	for _, begin := range []string{"=", "+", "-", "@", "\t=", "\r="} {
		trend := hostileTrend()
		trend.Machines[0].Series[0].Workload = begin + "1+1"
		var out bytes.Buffer
		if err := writeTrendCSV(&out, trend); err != nil {
			t.Fatal(err)
		}
		records, err := csv.NewReader(&out).ReadAll()
		if err != nil || len(records) != 2 {
			t.Fatal(records, err)
		}
		for i, field := range records[1] {
			if strings.ContainsAny(field[:min(1, len(field))], "=+-@\t\r") {
				t.Errorf("%s is a formula: %s", records[0][i], field)
			}
			checkPlain(t, records[0][i], field)
		}
	}
}
