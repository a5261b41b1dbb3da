package report

import (
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
)

// The unfolded part of a page is short: a headline of at most fifteen words, three stamps and four
// cards at most, four facts, and charts of at most two workloads with nine rows each.
func TestSummaryIsShort(t *testing.T) {
	panels := 0
	for name, r := range cases() {
		s := NewSummary(r)
		if n := len(strings.Fields(s.Headline)); n == 0 || n > headlineWords {
			t.Errorf("%s: a headline of %d words: %s", name, n, s.Headline)
		}
		for _, stamp := range s.Stamps {
			assert.Equal(t, name+": the only criterion is not named", strings.Contains(stamp.Text, "1 of 1 "), false)
		}
		assert.Equal(t, name+" stamps, cards and facts", len(s.Stamps) <= 3 && len(s.Cards) <= 4 && len(s.Trust) == 4, true)
		for _, p := range s.Contest.Panels {
			panels++
			assert.Equal(t, name+" workloads and rows", len(p.Noise) <= panelWorks && len(p.Rows) <= maxRivals+1, true)
		}
	}
	assert.Equal(t, "panels", panels > 3, true)
}

// All characters of a summary print, even if a text of the result is hostile.
func TestSummaryPrints(t *testing.T) {
	for name, r := range taintedCases(t) {
		texts(reflect.ValueOf(NewSummary(r)), func(text string) {
			if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) && r != '\u00a0' }); i >= 0 {
				t.Errorf("%s: %q", name, text)
			}
		})
	}
}

// Rows are ordered by their ratio, void ones last. A row is marked as less or more only if it
// differs by more than the noise.
func TestContestRows(t *testing.T) {
	r := cases()["tiny"]
	c := NewSummary(r).Contest
	last, seen := 0.0, map[string]bool{}
	for _, row := range c.Panels[0].Rows {
		if at := row.sortKey(); at < last {
			t.Errorf("%s at %v stands after %v", row.Name, at, last)
		} else {
			last = at
		}
		for _, l := range row.Lines {
			seen[l.Side] = true
			x := tare.Comparison{Workload: r.Workloads[0].ID}
			for _, each := range r.Comparisons {
				if each.Contender == row.ID && each.Ratio == l.Ratio {
					x = each
				}
			}
			if l.Ratio > 0 && (l.Side != "same") != (&view{r: r, workload: x.Workload, baseline: x.Against}).isDifferent(x) {
				t.Errorf("%s: %s of %v", row.Name, l.Side, l.Ratio)
			}
		}
	}
	assert.Equal(t, "sides", len(seen) > 1, true)
}

// Claims are grouped by outcome, claims that another run must measure are counted, and every claim
// has its row.
func TestClaimsByOutcome(t *testing.T) {
	for name, r := range cases() {
		n := 0
		for _, g := range ClaimGroups([]*tare.Result{r}) {
			n += len(g.Claims)
			assert.Equal(t, name+" rows", len(g.Section.Blocks[0].Table.Rows), len(g.Claims))
		}
		assert.Equal(t, name+" claims", n, len(r.Claims))
		left := 0
		for _, c := range r.Claims {
			if isUnmeasured(c) {
				left++
				assert.Contains(t, name+" counted", describeUnmeasured(r), c.ID)
			}
		}
		assert.Equal(t, name+" listed", len(OrderedClaims(r.Claims)), len(r.Claims)-left)
	}
}

// TestDisturbedStudies: only what other programs used counts as a disturbance, not every warning.
func TestDisturbedStudies(t *testing.T) {
	share := func(x float64) *float64 { return &x }
	run := func(n tare.Noise) *tare.Result {
		r := &tare.Result{}
		r.Metrics, r.Workloads, r.Machine.Noise = []string{"time"}, []tare.Workload{{ID: "w"}}, n
		r.Comparisons = []tare.Comparison{{Workload: "w", Metric: "time", Contender: tare.ControlID, Ratio: 1, Low: 0.98, High: 1.02, Level: 0.95, Rounds: 12}}
		r.Findings = []tare.Finding{{Check: "little", Severity: tare.Warn, Message: "a warning about no contender"}}
		return r
	}
	waits, quiet, busy := run(tare.Noise{CPUPressure: 0.4, OtherCPU: share(0.01)}), run(tare.Noise{}), run(tare.Noise{CPUPressure: 0.01, OtherCPU: share(0.3)})
	assert.Equal(t, "quiet", describeNoiseOf([]*tare.Result{waits, quiet}), "noise ±2.0 % to ±2.0 %")
	assert.Equal(t, "busy", describeNoiseOf([]*tare.Result{waits, busy, run(tare.Noise{CPUPressure: 0.2})}), "! noise ±2.0 % to ±2.0 %; the machine disturbed 2 of 3 studies: trust ratios")
}
