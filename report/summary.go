package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// Summary is the part of a page that is visible at once. Each of its texts is one printable line.
type Summary struct {
	Facts     []string // when and where the run was
	Question  string
	Headline  string
	Figures   string   // ratios below the headline; "" if nothing was compared
	Terms     []string // explanations of words in the headline and figures
	Departure string   // how settings differ from the default, or ""
	Stamps    []Item   // a few short results, e.g. "✓ Met: 3 of 8 criteria"; Label has the sign
	Contest   Contest  // first chart
	Cards     []Card
	Trust     []Item // why to believe the result: a fact in Label, its explanation in Text
}

// NewSummary returns the summary of r.
func NewSummary(r *tare.Result) Summary {
	c := newContest(r)
	var all []Card
	if !IsBench(r) {
		all = newCards(r, c)
	}
	s := Summary{Question: r.Question, Departure: describeDeparture(r), Contest: c, Cards: all, Facts: listFacts(r), Stamps: listStamps(r), Trust: listTrust(r)}
	s.Headline, s.Figures = topLines(r, c)
	s.Terms = listTerms(r, s.Headline, c)
	return LegibleAll(s)
}

// topLines returns the headline of a page and the line of ratios below. The ratios are from the answer, else from
// the study's subject.
func topLines(r *tare.Result, c Contest) (headline, figures string) {
	if c.Headline != "" && r.Answer == "" {
		return c.Headline, ""
	}
	if headline, _ = Headline(r); len(strings.Fields(headline)) > headlineWords && c.Title != "" {
		headline = cmp.Or(c.Headline, c.Title+".") // the page has the long sentence elsewhere
	}
	if r.Figures != "" {
		return headline, r.Figures
	}
	return headline, contestFigures(r, c)
}

// contestFigures returns the ratios of the study's subject in the first panel, with limits and published ratios:
// "Time, chi ÷ mux: static 0.71× (0.69–0.73), params 1.10× (1.05–1.15); asked ≤ 0.8×."
func contestFigures(r *tare.Result, c Contest) string {
	if len(c.Panels) == 0 || IsBench(r) {
		return ""
	}
	subject := findSubject(r)
	var parts []string     // one per workload
	var named []RivalClaim // limits and published ratios, each once
	for _, row := range c.Panels[0].Rows {
		if row.ID != subject {
			continue
		}
		for _, l := range row.Lines {
			text := strings.TrimSpace(l.Workload + " " + l.Text)
			if l.Low > 0 {
				text += " (" + l.Detail + ")"
			}
			parts = append(parts, text)
			for _, x := range l.Claims {
				named = appendNew(named, x)
			}
		}
	}
	if len(parts) == 0 {
		return ""
	}
	m := tare.MetricFor(newView(r, contestWorks(r)[0]).leadingMetric())
	text := fmt.Sprintf("%s, %s ÷ %s: %s", upperFirst(m.Noun), contenderTitle(r, subject), c.Base, strings.Join(parts, ", "))
	for _, source := range []string{"asked, published", "asked", "published"} { // results of sourceText
		var values []string
		for _, c := range named {
			if c.sourceText() == source {
				values = append(values, c.formatValue())
			}
		}
		if len(values) > 0 {
			text += "; " + source + " " + strings.Join(values, ", ")
		}
	}
	return text + "."
}

// listFacts returns when and where a run was.
func listFacts(r *tare.Result) []string {
	var out []string
	if !r.Started.IsZero() {
		out = append(out, r.Started.UTC().Format("2 Jan 2006"))
	}
	m := r.Machine
	if m.Cores > 0 {
		words := strings.Fields(strings.NewReplacer("(R)", "", "(TM)", "").Replace(m.CPU))
		const maxWords = 3 // words of the processor's name
		processor := strings.Join(words[:min(len(words), maxWords)], " ")
		out = append(out, strings.TrimPrefix(processor+", "+countNoun(m.Cores, "core"), ", "))
	}
	out = append(out, m.Go)
	if r.RoundsDone > 0 {
		out = append(out, countNoun(r.RoundsDone, "round")+describePlanned(r)+", "+format.Span(r.Seconds))
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

const (
	maxStamps      = 3
	maxWrongLength = 90 // characters of a list of wrong contenders
)

// listStamps returns the most important results in a few words.
func listStamps(r *tare.Result) []Item {
	var out []Item
	add := func(m Mark, label, text string) { out = append(out, Item{Label: label, Mark: m, Text: text}) }
	if isInterrupted := describeInterruption(r) != ""; isInterrupted {
		add(Bad, "✕ Interrupted:", "rests on "+countNoun(r.RoundsDone, "whole round"))
	}
	if r.Stopped == stoppedVoid {
		add(Bad, "✕ Void:", "the questions are not answered")
	}
	count, all := map[tare.Ruling]int{}, len(listRulings(r))
	for _, v := range listRulings(r) {
		count[v.Verdict]++
	}
	describeCount := func(n int) string {
		if all == 1 { // the answer may be about another contender
			only := listRulings(r)[0]
			return only.Contender + " on " + only.Workload
		}
		return fmt.Sprintf("%d of %s %s", n, format.Grouped(float64(all), 0), format.Choose(all, "criterion", "criteria"))
	}
	for _, x := range []struct {
		ruling tare.Ruling
		mark   Mark
		label  string
	}{
		{tare.VoidRuling, Bad, "✕ Void:"},
		{tare.NotMet, Bad, "✕ Not met:"},
		{tare.Inconclusive, Warned, "? Inconclusive:"},
		{tare.Met, Good, "✓ Met:"},
	} {
		if count[x.ruling] > 0 {
			add(x.mark, x.label, describeCount(count[x.ruling]))
		}
	}
	noise := noiseRange(r)
	if len(out) >= maxStamps || noise == "" {
		return out[:min(len(out), maxStamps)]
	}
	if r.Machine.Noise.IsBusy() {
		add(Warned, "! Busy machine:", "noise "+noise)
	} else {
		add(Plain, "Noise", noise)
	}
	return out
}

// noiseRange returns the noise floors of the first chart, ±8 to ±12 %, or "". A noise floor is the difference
// between two measurements of the baseline.
func noiseRange(r *tare.Result) string {
	low, high := math.Inf(1), 0.0
	works := contestWorks(r)
	for _, id := range works[:min(len(works), panelWorks*maxPanels)] {
		if floor := tare.NoiseFloor(r.Comparisons, id, newView(r, id).leadingMetric()); floor > 0 {
			share := math.Expm1(floor) // floor is a natural logarithm
			low, high = min(low, share), max(high, share)
		}
	}
	switch from, to := formatPercent(low), formatPercent(high); {
	case high == 0:
		return ""
	case from == to:
		return "±" + to
	default:
		return "±" + strings.TrimSuffix(from, " %") + " to ±" + to
	}
}

// listTrust returns facts about noise, correct answers, traps, and other load of the machine.
func listTrust(r *tare.Result) []Item {
	var out []Item
	add := func(m Mark, label, text string) { out = append(out, Item{Label: label, Mark: m, Text: text}) }
	if noise := noiseRange(r); noise != "" {
		add(Plain, "Noise "+noise, contenderTitle(r, r.Baseline())+" against itself. No smaller difference is claimed.")
	} else {
		add(Warned, "! Noise not known", "The baseline was not measured against itself.")
	}
	out = append(out, describeAnswers(r))
	switch caught, all := countTraps(r); {
	case all == 0:
		add(Plain, "No traps", "The study repeats no published mistake on purpose.")
	case caught == all:
		add(Good, "✓ "+format.Choose(all, "Trap caught", fmt.Sprintf("All %d traps caught", all)), "Contenders with a published mistake were found out.")
	default:
		add(Warned, fmt.Sprintf("! %d of %s caught", caught, countNoun(all, "trap")), "Checks says which was not, and why.")
	}
	noise := r.Machine.Noise
	share := noise.CPUPressure // below 0 means unknown
	busy, quiet := "Some task waited for a processor.", "Some task waited for a processor %s of the time."
	if noise.OtherCPU != nil {
		share = *noise.OtherCPU
		busy, quiet = "Other programs used the processors.", "Other programs used %s of the processors' time."
	}
	switch {
	case noise.IsBusy():
		add(Warned, "! "+formatPercent(share)+" busy", busy+" Trust ratios, not microseconds.")
	case share >= 0 && r.RoundsDone > 0:
		add(Good, "✓ Quiet machine", fmt.Sprintf(quiet, formatPercent(share)))
	default:
		add(Warned, "! Pressure not known", "This machine does not tell how long tasks wait.")
	}
	return out
}

// describeAnswers returns which contenders gave wrong responses before timing. Probes, which are requests that
// must be rejected, do not count.
func describeAnswers(r *tare.Result) Item {
	fewest, most := 0, 0 // cases of a contender on a workload
	var wrong []string
	for _, c := range r.Conformance {
		contender, _ := r.Contender(c.Contender)
		isBeforeTiming := !c.During && !c.Probe
		isContender := c.Contender != tare.NullID && contender.Role != tare.RoleTrap
		if !isBeforeTiming || !isContender {
			continue
		}
		most = max(most, c.Cases)
		if fewest == 0 || c.Cases < fewest {
			fewest = c.Cases
		}
		if name := contenderTitle(r, c.Contender); c.Wrong > 0 && !slices.Contains(wrong, name) {
			wrong = append(wrong, name)
		}
	}
	cases := countNoun(most, "case")
	if fewest != most {
		cases = fmt.Sprintf("%d to %s", fewest, cases)
	}
	switch {
	case most == 0:
		return Item{Label: "Answers not compared", Mark: Plain, Text: "There is no reference to compare them with."}
	case len(wrong) > 0:
		return Item{Label: "✕ Wrong answers", Mark: Bad, Text: format.Clip(joinNames(wrong), maxWrongLength) + ": what is wrong does not count."}
	}
	return Item{Label: "✓ Right answers first", Mark: Good, Text: cases + " a workload, before timing, all right."}
}

// countTraps counts traps (contenders with a deliberate mistake) and those that all expected checks caught.
func countTraps(r *tare.Result) (caught, all int) {
	for _, c := range r.Contenders {
		outcome := r.OutcomeOf(c.ID)
		if outcome != "" {
			all++
		}
		if outcome == tare.Caught {
			caught++
		}
	}
	if all == 0 { // earlier documents only have the caught ones
		for _, c := range r.Contenders {
			if c.Role == tare.RoleTrap && slices.ContainsFunc(r.Findings, func(f tare.Finding) bool { return f.Expected && f.Contender == c.ID }) {
				caught, all = caught+1, all+1
			}
		}
	}
	return caught, all
}
