package report

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
)

// texts calls see for every text of a value.
func texts(v reflect.Value, see func(string)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			texts(v.Elem(), see)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			switch v.Type().Field(i).Name {
			case "Who", "Key": // ids, for programs
			default:
				texts(v.Field(i), see)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			texts(v.Index(i), see)
		}
	case reflect.String:
		see(v.String())
	}
}

// All characters of an outline print, and each text is one line, even if a text of the result is
// hostile.
func TestOutlinePrints(t *testing.T) {
	for name, r := range taintedCases(t) {
		hostile := 0
		for _, s := range slices.Concat(newSections(r, forText), newSections(r, forMarkdown), Outline(r)) {
			about := s.About
			s.About = "" // an id
			texts(reflect.ValueOf(s), func(text string) {
				text = strings.ReplaceAll(text, "\n", "") // between the lines of a paragraph
				if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
					t.Errorf("%s, %s of %.20q: %q", name, s.Key, about, text[max(i-30, 0):min(i+30, len(text))])
				}
				if strings.Contains(text, "1+2") {
					hostile++
				}
			})
		}
		assert.Equal(t, name+" was tried", hostile > 0, true)
	}
}

// Nearly every table cell of an outline also stands in the text report or in the write-up.
func TestOutlineSaysWhatTheReportsSay(t *testing.T) {
	for name, r := range cases() {
		known := strings.Join(strings.Fields(written(t, "text", r)+written(t, "research", r)), " ")
		bare := func(text string) string {
			return strings.Join(strings.Fields(strings.NewReplacer(`\`, "", "`", "", "~", "", "*", "").Replace(text)), " ")
		}
		known = bare(known)
		cells, missing := 0, 0
		for _, s := range Outline(r) {
			if s.Key == KeyRulings || s.Key == KeyClaims { // a page has these in tables of its own
				continue
			}
			for _, b := range s.Blocks {
				if b.Table == nil {
					continue
				}
				for _, row := range b.Table.Rows {
					for _, c := range row.Cells {
						cells++
						if !strings.Contains(known, bare(c.Text)) {
							missing++
							t.Logf("%s, %s: %q", name, s.Key, c.Text)
						}
					}
				}
			}
		}
		if cells > 0 && missing*20 > cells { // lines of a terminal are folded
			t.Errorf("%s: %d of %d fields stand in no report", name, missing, cells)
		}
	}
}

// A block added by addOnly is in the given formats only. Other blocks are in all formats.
func TestBlocksOfMedia(t *testing.T) {
	s := Section{}
	s.addText(Plain, "for all", "")
	s.addSpace()
	s.addOnly(forMarkdown|forHTML, func() { s.addText(Plain, "for documents") })
	s.addOnly(forText, func() { s.addText(Plain, "for a terminal") })
	s.addText(Plain, "for all again")
	var got []string
	for _, b := range s.Blocks {
		got = append(got, fmt.Sprintf("%s: %t %t %t, spaced %t", b.Text, b.formats.overlaps(forText), b.formats.overlaps(forMarkdown), b.formats.overlaps(forHTML), b.spaceBefore))
	}
	assert.Equal(t, "blocks", strings.Join(got, "\n"), strings.Join([]string{
		"for all: true true true, spaced false", "for documents: false true true, spaced false",
		"for a terminal: true false false, spaced true", "for all again: true true true, spaced false",
	}, "\n"))
}

// A section that is not in the given order follows the section before it, and no section is placed
// twice.
func TestArrange(t *testing.T) {
	got := Arrange([]string{KeyRun, KeyMachines}, []string{KeyVerdict, KeyFindings})
	seen := map[string]int{}
	for _, keys := range got {
		for _, key := range keys {
			seen[key]++
		}
	}
	for _, p := range listSectionRules() {
		assert.Equal(t, p.key, seen[p.key], 1)
	}
	assert.Equal(t, "first group", strings.Join(got[0][:2], " "), KeyRun+" "+keyAnswer)
	assert.Equal(t, "after the verdict", strings.Join(got[1][:2], " "), KeyVerdict+" "+KeyRulings)
	all := listSectionRules()
	assert.Equal(t, "last", got[1][len(got[1])-1], all[len(all)-2].key)
}

// Every key in the order of a format is a section, and for every section some result has content.
func TestEverySectionIsWritten(t *testing.T) {
	all, written := map[string]bool{}, map[string]bool{}
	for _, p := range listSectionRules() {
		all[p.key] = true
	}
	for _, c := range researchChapters() {
		for _, key := range c.keys {
			assert.Equal(t, key+" is a section", all[key], true)
		}
	}
	results := append(slices.Collect(maps.Values(cases())), evened(), onMachines(), explained())
	for _, r := range results {
		for _, m := range []formatSet{forText, forPaper, forHTML} {
			for _, s := range newSections(r, m) {
				written[s.Key] = true
			}
		}
	}
	for key := range all {
		if !written[key] {
			t.Errorf("no result writes section %s", key)
		}
	}
}

// onMachines returns a result of two machines whose outcomes differ.
func onMachines() *tare.Result {
	r := base()
	r.Answer, r.Recommended = "It takes less on one of two machines.", "It was recommended, and that stands."
	r.Machines = []tare.OnMachine{{Name: "a", Machine: r.Machine, Rounds: 18}, {Name: "b", Machine: r.Machine, Rounds: 17}}
	r.OverMachines = []tare.OverMachines{{
		Workload: r.Workloads[0].ID, Contender: r.Contenders[1].ID, Metric: r.Metrics[0], Against: r.Contenders[0].ID,
		Less: []string{"a"}, Open: []string{"b"}, Differ: true, Sentence: "Less on a; open on b.",
	}}
	return r
}

func TestHeadline(t *testing.T) {
	criteria := cases()
	for name, r := range criteria {
		if first(Headline(r)) == "" {
			t.Errorf("%s has no headline", name)
		}
	}
	r := six()
	r.Verdicts = []tare.Verdict{{Criterion: "time ratio <= 1", Verdict: tare.Met, Sentence: "It is met."}}
	assert.Equal(t, "one criterion", first(Headline(r)), "It is met.")
	r.Verdicts = append(r.Verdicts, tare.Verdict{Criterion: "time ratio <= 2", Verdict: tare.NotMet})
	assert.Equal(t, "two", first(Headline(r)), "Of 2 criteria: 1 met, 1 not met.")
	assert.Equal(t, "nothing", first(Headline(&tare.Result{})), noVerdict)
}

// Contenders that can rank first are named; if there are several workloads, with the number of
// them.
func TestLeaders(t *testing.T) {
	ranked := func(workloads int, places map[string][2]int) *tare.Result {
		r := &tare.Result{Design: tare.Design{Metrics: []string{"time"}, Contenders: []tare.Contender{{ID: "a", Role: tare.RoleBaseline}, {ID: "b", Role: tare.RoleContender}, {ID: "c", Role: tare.RoleContender}}}, Measured: tare.Measured{RoundsDone: 12}}
		for i := range workloads {
			w := string(rune('u' + i))
			r.Workloads = append(r.Workloads, tare.Workload{ID: w})
			for _, c := range r.Contenders {
				r.Values = append(r.Values, tare.Value{Workload: w, Contender: c.ID, Metric: "time", Value: 1, Rounds: 12})
				against := "a"
				if c.ID == "a" {
					against = "b"
				}
				r.Comparisons = append(r.Comparisons, tare.Comparison{Workload: w, Contender: c.ID, Against: against, Metric: "time", Ratio: 0.9, Low: 0.8, High: 0.95, Rounds: 12, RankLow: places[c.ID][0], RankHigh: places[c.ID][1]})
			}
		}
		return r
	}
	assert.Equal(t, "alone", describeLeaders(ranked(1, map[string][2]int{"a": {2, 3}, "b": {1, 1}, "c": {2, 3}})), "By time, b was proven better than every other one ranked, on u.")
	assert.Equal(t, "alone on two", describeLeaders(ranked(2, map[string][2]int{"a": {2, 3}, "b": {1, 1}, "c": {2, 3}})), "By time, b was proven better than every other one ranked, on both workloads that allow a ranking.")
	assert.Equal(t, "tied", describeLeaders(ranked(1, map[string][2]int{"a": {1, 2}, "b": {1, 2}, "c": {3, 3}})), "By time, b or a can be first on u: they do not differ significantly.")
	assert.Equal(t, "tied on two", describeLeaders(ranked(2, map[string][2]int{"a": {1, 2}, "b": {1, 2}, "c": {3, 3}})), "By time, of 2 workloads that allow a ranking, these can be first: b on 2 and a on 2.")
}
