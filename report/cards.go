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

// Card is a small part of a page below the first chart: bars or a table, with a conclusion as title.
type Card struct {
	Key   string  // topic for the layout: why, memory, price, answers or adoption
	Eye   string  // topic in words, above the title
	Title string  // conclusion
	Means string  // explanation of the bars or the table
	Bars  []Bar   // nil if the card has no bars
	Table *Table  // nil if the card has no table
	After string  // text below; may be ""
	Rate  float64 // on a card of costs: operations per second; else 0
}

// Bar is a horizontal bar between the positions From and To. The longest bar ends at 1. From is greater than To
// for a decrease.
type Bar struct {
	Name     string
	From, To float64
	Side     string  // less, more or ""
	Text     string  // printed value
	NS       float64 // on a card of costs: ns of one operation; else 0
}

const (
	maxBars   = 6  // bars or table rows of a card
	maxCases  = 5  // semantic differences in the table of a card
	maxShares = 4  // causes with a share below the bars
	cellWidth = 28 // characters of a value in the table of semantic differences
)

// newCards returns the cards for which r has data. The first explains a difference or, without an explanation,
// memory.
func newCards(r *tare.Result, c Contest) []Card {
	var out []Card
	if card, ok := newCauseCard(r); ok {
		out = append(out, card)
	} else if card, ok := newMemoryCard(r); ok {
		out = append(out, card)
	}
	for _, newCard := range []func(*tare.Result, Contest) (Card, bool){newCostCard, newSemanticsCard, newAdoptionCard} {
		if card, ok := newCard(r, c); ok {
			out = append(out, card)
		}
	}
	return out
}

// newCauseCard draws the first usable decomposition as a waterfall. A decomposition splits the difference between
// two contenders into steps along a chain of contenders. Each step has a bar between the values before and after
// it.
func newCauseCard(r *tare.Result) (Card, bool) {
	i := slices.IndexFunc(r.Decomposition, func(d tare.Decomposition) bool {
		isVoid := func(step tare.Cause) bool { return isVoidStep(r, d, step) }
		return len(d.Steps) > 0 && d.Whole.FromValue > 0 && !slices.ContainsFunc(d.Steps, isVoid)
	})
	if i < 0 {
		return Card{}, false
	}
	d := r.Decomposition[i]
	card := Card{Key: "why", Eye: "Where the difference comes from", Bars: newStepBars(r, d)}
	var shares []string
	largest := d.Steps[0]
	for _, step := range d.Steps {
		if step.Share != 0 {
			share := fmt.Sprintf("%s %s (%s to %s)", step.Cause, formatPercent(step.Share), formatShare(step.ShareLow), formatShare(step.ShareHigh))
			shares = append(shares, share)
		}
		if math.Abs(step.Share) > math.Abs(largest.Share) {
			largest = step
		}
	}
	card.Title = upperFirst(largest.Cause) + " decides it"
	if largest.Share > 0 {
		card.Title = upperFirst(largest.Cause) + " is " + formatPercent(math.Round(largest.Share*100)/100) + " of the difference"
	}
	card.Means = fmt.Sprintf("%s on %s: %s takes %s× (%s–%s) that of %s.",
		upperFirst(tare.MetricFor(d.Metric).Noun), d.Workload, contenderTitle(r, d.Whole.To),
		format.Headline(d.Whole.Ratio), format.Headline(d.Whole.Low), format.Headline(d.Whole.High), contenderTitle(r, d.Whole.From))
	if len(shares) > 1 {
		card.After = "Of the difference: " + strings.Join(shares[:min(len(shares), maxShares)], ", ") + "."
	}
	return card, true
}

func newStepBars(r *tare.Result, d tare.Decomposition) []Bar {
	s := stepScale(r, d)
	unit, _, _ := strings.Cut(s.unit, "/")
	longest := max(d.Whole.FromValue, d.Whole.ToValue)
	for _, step := range d.Steps {
		longest = max(longest, step.FromValue, step.ToValue)
	}
	formatUnit := func(value float64) string { return s.formatValue(value) + " " + unit }
	bars := []Bar{{Name: contenderTitle(r, d.Whole.From), To: d.Whole.FromValue / longest, Text: formatUnit(d.Whole.FromValue)}}
	for _, step := range d.Steps {
		bar := Bar{From: step.FromValue / longest, To: step.ToValue / longest}
		if step.ToValue < step.FromValue {
			bar.Name = "− " + step.Cause
			bar.Side = "less"
			bar.Text = "−" + formatUnit(step.FromValue-step.ToValue)
		} else {
			bar.Name = "+ " + step.Cause
			bar.Side = "more"
			bar.Text = "+" + formatUnit(step.ToValue-step.FromValue)
		}
		bars = append(bars, bar)
	}
	return append(bars, Bar{Name: contenderTitle(r, d.Whole.To), To: d.Whole.ToValue / longest, Text: formatUnit(d.Whole.ToValue)})
}

// newMemoryCard draws the bytes that one operation allocates on the chart's first workload, the least first. Among
// many it keeps the least, the greatest, the baseline and the study's subject.
func newMemoryCard(r *tare.Result) (Card, bool) {
	works := contestWorks(r)
	if len(works) == 0 {
		return Card{}, false
	}
	v := newView(r, works[0])
	type usage struct {
		id            string
		bytes, allocs float64 // per operation
	}
	var all []usage
	for _, c := range v.ranked {
		bytes, hasBytes := v.findValue(c.ID, "bytes")
		allocs, hasAllocs := v.findValue(c.ID, "allocs")
		if hasBytes && hasAllocs && !bytes.Struck && len(v.voidsMetric(c.ID, "bytes")) == 0 {
			all = append(all, usage{c.ID, bytes.Value, allocs.Value})
		}
	}
	slices.SortStableFunc(all, func(a, b usage) int { return cmp.Compare(a.bytes, b.bytes) })
	if len(all) == 0 || all[len(all)-1].bytes == 0 {
		return Card{}, false
	}
	least, greatest := all[0], all[len(all)-1]
	card := Card{Key: "memory", Eye: "Memory", Means: fmt.Sprintf("Heap that one %s on %s allocates; next to it the number of allocations.", operationNoun(v), v.workload)}
	card.Title = fmt.Sprintf("%s allocates %s, %s %s", contenderTitle(r, least.id), formatHeap(least.bytes), contenderTitle(r, greatest.id), formatHeap(greatest.bytes))
	subject := findSubject(r)
	for i := len(all) - 2; i > 0 && len(all) > maxBars; i-- {
		if id := all[i].id; id != v.baseline && id != subject {
			all = slices.Delete(all, i, i+1)
		}
	}
	for _, x := range all {
		card.Bars = append(card.Bars, Bar{Name: contenderTitle(r, x.id), To: x.bytes / greatest.bytes, Text: formatHeap(x.bytes) + " in " + format.Grouped(math.Round(x.allocs), 0)})
	}
	return card, true
}

func formatHeap(bytes float64) string {
	switch {
	case bytes >= 1e6:
		return format.Digits(bytes/1e6, 3) + " MB"
	case bytes >= 1e3:
		return format.Digits(bytes/1e3, 3) + " kB"
	}
	return format.Grouped(bytes, 0) + " B"
}

// defaultRate is the number of operations per second if the user requested no rate.
const defaultRate = 1000

// newCostCard draws the share of a core that the contenders of the first chart use at a rate. It uses the time of
// an operation if CPU time was not measured.
func newCostCard(r *tare.Result, c Contest) (Card, bool) {
	if len(c.Panels) == 0 {
		return Card{}, false
	}
	works := contestWorks(r)
	v := newView(r, works[0])
	metric := "cpu"
	if !v.hasValues(metric) {
		metric = "time"
	}
	rate := float64(defaultRate)
	if i := slices.IndexFunc(r.Cost, func(x tare.Cost) bool { return x.Rate > 0 }); i >= 0 {
		rate = r.Cost[i].Rate
	}
	card := Card{Key: "price", Eye: "What it costs you", Title: costTitle(v, rate), Rate: rate}
	longest := 0.0
	for _, row := range c.Panels[0].Rows {
		if len(card.Bars) == maxBars && !row.Base { // keep room for the baseline
			continue
		}
		x, ok := v.findValue(row.ID, metric)
		if !ok || x.Struck || !(x.Value > 0) || len(v.voidsMetric(row.ID, metric)) > 0 {
			continue
		}
		cores := x.Value * rate / 1e9 // the value is ns per operation
		card.Bars = append(card.Bars, Bar{Name: row.Name, Text: formatCore(cores) + " %", NS: x.Value})
		longest = max(longest, x.Value)
	}
	if len(card.Bars) == 0 {
		return Card{}, false
	}
	for i := range card.Bars {
		card.Bars[i].To = card.Bars[i].NS / longest
	}
	noun := "Processor time"
	if metric == "time" {
		noun = "Time"
	}
	card.Means = fmt.Sprintf("%s of one core, in percent, at %s a second on %s.", noun, formatRate(rate), v.workload)
	card.After = "Other rates are proportional: tare report --at 5000/s."
	return card, true
}

// costTitle returns the difference in cost at a rate: "At 1,000 requests a second, chi saves 1.2 % of a core".
func costTitle(v *view, rate float64) string {
	id := findSubject(v.r)
	subject, start := contenderTitle(v.r, id), "At "+formatRate(rate)+" "+operationsNoun(v.r)+" a second"
	cost, ok := findCost(v.r, v.workload, id)
	if !ok || !(cost.OnePercent > 0) {
		return fmt.Sprintf("%s no difference of %s is shown", start, subject)
	}
	percent := formatTwoDigits(rate / cost.OnePercent) // at rate OnePercent the cost is 1 % of a core
	if x, ok := v.findComparison(id, cost.Metric); ok && x.Ratio > 1 {
		return fmt.Sprintf("%s, %s costs %s of a core more", start, subject, percent)
	}
	return fmt.Sprintf("%s, %s saves %s of a core", start, subject, percent)
}

func formatTwoDigits(percent float64) string {
	if percent >= 10 {
		return format.Grouped(percent, 0) + " %"
	}
	return format.Digits(percent, 2) + " %"
}

// newSemanticsCard shows in how many edge cases each contender's output differs from the reference. If the study's
// subject changes values, it shows a table of cases instead.
func newSemanticsCard(r *tare.Result, _ Contest) (Card, bool) {
	tested := slices.DeleteFunc(listBehaviours(r), func(c behaviour) bool {
		return c.Cases == 0 || c.contender.Role == tare.RoleTrap || len(voidsOfAll(r, c.contender.ID)) > 0
	})
	if len(tested) == 0 {
		return Card{}, false
	}
	card := Card{Key: "answers", Eye: "What they answer differently"}
	slices.SortStableFunc(tested, func(a, b behaviour) int { return cmp.Compare(len(a.Differences), len(b.Differences)) })
	worst := tested[len(tested)-1]
	if len(worst.Differences) == 0 {
		card.Title = "All answer as the reference"
		card.Means = fmt.Sprintf("%s made to find differences, compared with %s.", countNoun(worst.Cases, "case"), joinReferences(tested))
		return card, true
	}
	card.Means = fmt.Sprintf("Odd cases, compared with %s.", joinReferences(tested))
	subject := findSubject(r)
	for _, c := range tested {
		changes := ofClass(c.Differences, tare.DiffersInValue)
		if c.contender.ID != subject || len(changes) == 0 {
			continue
		}
		card.Title = fmt.Sprintf("%s changes values in %d of %s", c.contender.Title(), len(changes), countNoun(c.Cases, "odd case"))
		card.Means = fmt.Sprintf("It %s. Compared with %s.", describeConsequences(changes, maxInCell), joinReferences(tested))
		card.Table = newCaseTable(changes[:min(len(changes), maxCases)])
		card.After = "All that differ, form included: " + countDifferences(tested) + "."
		return card, true
	}
	card.Title = fmt.Sprintf("%s answers %d of %s otherwise", worst.contender.Title(), len(worst.Differences), countNoun(worst.Cases, "odd case"))
	shown := tested
	if len(tested) > maxBars { // keep those with the most differences and the two with the fewest
		const fewest = 2
		shown = slices.Concat(tested[:fewest], tested[len(tested)-(maxBars-fewest):])
	}
	for _, c := range shown {
		card.Bars = append(card.Bars, Bar{
			Name: c.contender.Title(),
			To:   float64(len(c.Differences)) / float64(c.Cases),
			Side: "more",
			Text: fmt.Sprintf("%d of %d", len(c.Differences), c.Cases),
		})
	}
	mostSevere := ofClass(worst.Differences, listClasses(worst.Differences)[0])
	const maxNamed = 2
	card.After = worst.contender.Title() + " " + describeConsequences(mostSevere, maxNamed) + "."
	return card, true
}

func newCaseTable(differences []tare.Difference) *Table {
	t := Table{Columns: []Column{{Name: "given"}, {Name: "expected"}, {Name: "got"}}}
	for _, d := range differences {
		t.Rows = append(t.Rows, Row{Cells: []Field{newCaseField(d.Asked), newCaseField(d.Reference), newCaseField(d.Got)}})
	}
	return &t
}

// newCaseField returns an input or output letter by letter, shortened.
func newCaseField(text string) Field { return codeField(format.Clip(showLiteral(text), cellWidth)) }

// countDifferences returns the last maxBars contenders with their differences, the last first: "easyjson 12,
// stdlib 3".
func countDifferences(all []behaviour) string {
	var counts []string
	for _, c := range slices.Backward(all) {
		counts = append(counts, fmt.Sprintf("%s %d", c.contender.Title(), len(c.Differences)))
	}
	return strings.Join(counts[:min(len(counts), maxBars)], ", ")
}

// listAdopted returns the baseline and the contenders for newAdoptionCard. Some contenders only use the same
// library differently. Of these it returns the first and the study's subject.
func listAdopted(r *tare.Result) []tare.Contender {
	subject := findSubject(r)
	var out []tare.Contender
	for _, c := range r.Contenders {
		isCompared := c.Role == tare.RoleBaseline || c.Role == tare.RoleContender
		if !isCompared || !(c.BinaryBytes > 0) || len(voidsOfAll(r, c.ID)) > 0 {
			continue
		}
		isTwin := func(other tare.Contender) bool {
			return other.Role != tare.RoleBaseline && other.String() == c.String() && other.Adoption.ModulesLinked == c.Adoption.ModulesLinked
		}
		if c.Role != tare.RoleBaseline && c.ID != subject && slices.ContainsFunc(out, isTwin) {
			continue
		}
		out = append(out, c)
	}
	return out
}

// newAdoptionCard shows binary size and modules of a library, and idle memory. Without known idle memory it shows
// the release month.
func newAdoptionCard(r *tare.Result, c Contest) (Card, bool) {
	all := listAdopted(r)
	if len(all) < 2 {
		return Card{}, false
	}
	bySize := func(a, b tare.Contender) int { return cmp.Compare(a.BinaryBytes, b.BinaryBytes) }
	largest := slices.MaxFunc(all, bySize)
	slices.SortStableFunc(all, bySize)
	hasIdle := slices.ContainsFunc(all, func(c tare.Contender) bool { return c.Adoption.IdleRSSBytes > 0 })
	isInChart := func(id string) bool {
		return len(c.Panels) > 0 && slices.ContainsFunc(c.Panels[0].Rows, func(x Rival) bool { return x.ID == id })
	}
	for len(all) > maxBars { // remove one that is not in the chart, otherwise the second smallest
		i := slices.IndexFunc(all, func(x tare.Contender) bool {
			return !isInChart(x.ID) && x.Role != tare.RoleBaseline && x.ID != largest.ID
		})
		if i < 0 {
			i = 1
		}
		all = slices.Delete(all, i, i+1)
	}
	t := Table{Columns: []Column{{Name: "contender"}, {Name: "binary", Right: true}, {Name: "modules", Right: true}, {Name: "released", Right: true}}}
	if hasIdle {
		t.Columns[3] = Column{Name: "idle memory", Right: true}
	}
	for _, x := range all {
		month := x.Adoption.Released[:min(len(x.Adoption.Released), len("2006-01"))]
		lastCell := orDefault(month, noValue)
		switch {
		case hasIdle && x.Adoption.IdleRSSBytes > 0:
			lastCell = formatHeap(float64(x.Adoption.IdleRSSBytes))
		case hasIdle:
			lastCell = noValue
		}
		t.Rows = append(t.Rows, Row{Who: x.ID, Cells: []Field{
			{Text: x.Title()},
			{Text: formatHeap(float64(x.BinaryBytes))},
			{Text: format.Grouped(float64(x.Adoption.ModulesLinked), 0)},
			{Text: lastCell},
		}})
	}
	card := Card{Key: "adoption", Eye: "What comes with it", Table: &t, Means: "Of the whole program, the harness included; modules are those of third parties."}
	card.Title = fmt.Sprintf("%s is the largest: %s and %s", largest.Title(), formatHeap(float64(largest.BinaryBytes)), countNoun(largest.Adoption.ModulesLinked, "module"))
	return card, true
}
