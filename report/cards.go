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

// Card is a part of a page below the first chart: bars or a table, with a conclusion as title.
type Card struct {
	Key   string  // why, memory, price, answers or adoption
	Eye   string  // topic, above the title
	Title string  // conclusion
	Means string  // explanation of the bars or the table
	Bars  []Bar   // nil if the card has a table
	Table *Table  // nil if the card has bars
	After string  // text below the bars or the table; "" if there is none
	Rate  float64 // operations per second that the bars of a price are for; 0 on other cards
}

// Bar is a horizontal bar. It reaches from From to To, which are shares of the longest bar.
type Bar struct {
	Name     string
	From, To float64
	Side     string  // less or more; "" means neither
	Text     string  // printed value
	NS       float64 // on the price card: time of one operation in ns; 0 on other cards
}

const (
	maxBars   = 6  // bars, or rows of a table, on a card
	maxCases  = 5  // semantic differences in the table of a card
	maxShares = 4  // causes whose shares are listed below the bars
	cellWidth = 28 // characters at which a value in the table of semantic differences is truncated
)

// newCards returns the cards for which r has data. The memory card replaces the card of causes if no difference
// was decomposed.
func newCards(r *tare.Result, c Contest) []Card {
	var out []Card
	if card, ok := newWhyCard(r); ok {
		out = append(out, card)
	} else if card, ok := newMemoryCard(r); ok {
		out = append(out, card)
	}
	for _, newCard := range []func(*tare.Result, Contest) (Card, bool){newPriceCard, newAnswersCard, newAdoptionCard} {
		if card, ok := newCard(r, c); ok {
			out = append(out, card)
		}
	}
	return out
}

// newWhyCard draws the first decomposition without void steps as a waterfall: a bar for the first contender, a bar
// per step at the height where the step adds or removes, and a bar for the last contender. It returns false if
// there is no such decomposition.
func newWhyCard(r *tare.Result) (Card, bool) {
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
			shares = append(shares, step.Cause+" "+formatPercent(step.Share)+" ("+formatShare(step.ShareLow)+" to "+formatShare(step.ShareHigh)+")")
		}
		if math.Abs(step.Share) > math.Abs(largest.Share) {
			largest = step
		}
	}
	card.Title = upperFirst(largest.Cause) + " decides it"
	if largest.Share > 0 {
		card.Title = upperFirst(largest.Cause) + " is " + formatPercent(math.Round(largest.Share*100)/100) + " of the difference"
	}
	card.Means = fmt.Sprintf("%s on %s: %s takes %s× (%s–%s) that of %s.", upperFirst(tare.MetricFor(d.Metric).Noun), d.Workload, contenderTitle(r, d.Whole.To), formatShortRatio(d.Whole.Ratio), formatShortRatio(d.Whole.Low), formatShortRatio(d.Whole.High), contenderTitle(r, d.Whole.From))
	if len(shares) > 1 {
		card.After = "Of the difference: " + strings.Join(shares[:min(len(shares), maxShares)], ", ") + "."
	}
	return card, true
}

// newStepBars returns the bars of a decomposition: its first contender, its steps and its last contender.
func newStepBars(r *tare.Result, d tare.Decomposition) []Bar {
	s := stepScale(r, d)
	unit, _, _ := strings.Cut(s.unit, "/")
	longest := max(d.Whole.FromValue, d.Whole.ToValue)
	for _, step := range d.Steps {
		longest = max(longest, step.FromValue, step.ToValue)
	}
	withUnit := func(value float64) string { return s.formatValue(value) + " " + unit }
	bars := []Bar{{Name: contenderTitle(r, d.Whole.From), To: d.Whole.FromValue / longest, Text: withUnit(d.Whole.FromValue)}}
	for _, step := range d.Steps {
		bar := Bar{Name: "+ " + step.Cause, From: step.FromValue / longest, To: step.ToValue / longest, Side: "more", Text: "+" + withUnit(step.ToValue-step.FromValue)}
		if step.ToValue < step.FromValue {
			bar.Name, bar.Side, bar.Text = "− "+step.Cause, "less", "−"+withUnit(step.FromValue-step.ToValue)
		}
		bars = append(bars, bar)
	}
	return append(bars, Bar{Name: contenderTitle(r, d.Whole.To), To: d.Whole.ToValue / longest, Text: withUnit(d.Whole.ToValue)})
}

// newMemoryCard draws the allocations of one operation on the first workload of the contest, the least first. If
// there are too many contenders it keeps the least, the greatest, the baseline and the subject of the study.
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
	card := Card{Key: "memory", Eye: "Memory", Means: fmt.Sprintf("Heap that one %s on %s allocates; beside it the number of allocations.", operationNoun(v), v.workload)}
	card.Title = fmt.Sprintf("%s allocates %s, %s %s", contenderTitle(r, least.id), formatHeap(least.bytes), contenderTitle(r, greatest.id), formatHeap(greatest.bytes))
	for i := len(all) - 2; i > 0 && len(all) > maxBars; i-- {
		if id := all[i].id; id != v.baseline && id != findSubject(r) {
			all = slices.Delete(all, i, i+1)
		}
	}
	for _, x := range all {
		card.Bars = append(card.Bars, Bar{Name: contenderTitle(r, x.id), To: x.bytes / greatest.bytes, Text: formatHeap(x.bytes) + " in " + format.Grouped(math.Round(x.allocs), 0)})
	}
	return card, true
}

// formatHeap prints an amount of memory: with three digits as MB or kB, or below 1 kB in full.
func formatHeap(x float64) string {
	switch {
	case x >= 1e6:
		return formatDigits(x/1e6, 3) + " MB"
	case x >= 1e3:
		return formatDigits(x/1e3, 3) + " kB"
	}
	return format.Grouped(x, 0) + " B"
}

// defaultRate is the rate of costs, in operations per second, if the user requested none.
const defaultRate = 1000

// newPriceCard draws the share of a core that the contenders of the first chart use at a rate. It uses the time if
// CPU time was not measured.
func newPriceCard(r *tare.Result, c Contest) (Card, bool) {
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
	for _, x := range r.Cost {
		if x.Rate > 0 {
			rate = x.Rate
			break
		}
	}
	card := Card{Key: "price", Eye: "What it costs you", Rate: rate}
	longest := 0.0
	for _, row := range c.Panels[0].Rows {
		if len(card.Bars) == maxBars && !row.Base { // the baseline always has a bar
			continue
		}
		x, ok := v.findValue(row.ID, metric)
		if !ok || x.Struck || !(x.Value > 0) || len(v.voidsMetric(row.ID, metric)) > 0 {
			continue
		}
		cores := x.Value * rate / 1e9 // the value is in ns per operation
		card.Bars = append(card.Bars, Bar{Name: row.Name, To: x.Value, Text: formatCore(cores) + " %", NS: x.Value})
		longest = max(longest, x.Value)
	}
	if len(card.Bars) == 0 {
		return Card{}, false
	}
	for i := range card.Bars {
		card.Bars[i].To /= longest
	}
	subject, operations := findSubject(r), operationsNoun(r)
	card.Title = fmt.Sprintf("At %s %s a second no difference of %s is shown", formatRate(rate), operations, contenderTitle(r, subject))
	if cost, ok := findCost(r, v.workload, subject); ok && cost.OnePercent > 0 {
		verb, more := "saves", ""
		if x, ok := v.findComparison(subject, cost.Metric); ok && x.Ratio > 1 {
			verb, more = "costs", " more"
		}
		percent := rate / cost.OnePercent // the cost is proportional to the rate
		card.Title = fmt.Sprintf("At %s %s a second, %s %s %s of a core%s", formatRate(rate), operations, contenderTitle(r, subject), verb, formatTwoDigits(percent), more)
	}
	noun := "Processor time"
	if metric == "time" {
		noun = "Time"
	}
	card.Means = fmt.Sprintf("%s of one core, in percent, at %s a second on %s.", noun, formatRate(rate), v.workload)
	card.After = "Other rates are proportional: tare report --at 5000/s."
	return card, true
}

// formatTwoDigits prints a percentage with two significant digits, or without decimals from 10 on.
func formatTwoDigits(percent float64) string {
	if percent >= 10 {
		return format.Grouped(percent, 0) + " %"
	}
	return formatDigits(percent, 2) + " %"
}

// newAnswersCard shows semantic differences from the reference: some cases if the subject of the study changes
// values, otherwise the number of cases per contender.
func newAnswersCard(r *tare.Result, _ Contest) (Card, bool) {
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
		card.Table = newCaseTable(changes[:min(len(changes), maxCases)])
		card.After = "All that differ, form included: " + countDifferences(tested) + "."
		return card, true
	}
	card.Title = fmt.Sprintf("%s answers %d of %s otherwise", worst.contender.Title(), len(worst.Differences), countNoun(worst.Cases, "odd case"))
	shown := tested
	if len(tested) > maxBars { // the two with the fewest differences, and those with the most
		shown = slices.Concat(tested[:2], tested[len(tested)-maxBars+2:])
	}
	for _, c := range shown {
		card.Bars = append(card.Bars, Bar{Name: c.contender.Title(), To: float64(len(c.Differences)) / float64(c.Cases), Side: "more", Text: fmt.Sprintf("%d of %d", len(c.Differences), c.Cases)})
	}
	gravest := ofClass(worst.Differences, listClasses(worst.Differences)[0])
	card.After = worst.contender.Title() + " " + describeConsequences(gravest, 2) + "."
	return card, true
}

// newCaseTable returns a table with the input and both outputs of each difference.
func newCaseTable(differences []tare.Difference) *Table {
	t := Table{Columns: []Column{{Name: "given"}, {Name: "expected"}, {Name: "got"}}}
	for _, d := range differences {
		t.Rows = append(t.Rows, Row{Cells: []Field{newCaseField(d.Asked), newCaseField(d.Reference), newCaseField(d.Got)}})
	}
	return &t
}

// newCaseField returns an output letter by letter, truncated if it is long.
func newCaseField(text string) Field { return codeField(truncateText(showLiteral(text), cellWidth)) }

// countDifferences returns the number of differences of each contender, in reverse order and for at most maxBars.
func countDifferences(all []behaviour) string {
	var counts []string
	for _, c := range slices.Backward(all) {
		counts = append(counts, fmt.Sprintf("%s %d", c.contender.Title(), len(c.Differences)))
	}
	return strings.Join(counts[:min(len(counts), maxBars)], ", ")
}

// listAdopted returns the baseline and the contenders whose binaries are compared. Of contenders with the same
// library and number of modules, which only use it differently, it returns the first, and the subject of the study.
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

// newAdoptionCard shows the size and the modules of the contenders' binaries, and their idle memory or, if no idle
// memory is known, the month of the release.
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
	for len(all) > maxBars { // remove contenders that are not in the chart, then the smallest but one
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
		last := orDefault(x.Adoption.Released[:min(len(x.Adoption.Released), len("2006-01"))], nothing)
		if hasIdle {
			last = nothing
			if x.Adoption.IdleRSSBytes > 0 {
				last = formatHeap(float64(x.Adoption.IdleRSSBytes))
			}
		}
		t.Rows = append(t.Rows, Row{Who: x.ID, Cells: []Field{{Text: x.Title()}, {Text: formatHeap(float64(x.BinaryBytes))}, {Text: format.Grouped(float64(x.Adoption.ModulesLinked), 0)}, {Text: last}}})
	}
	card := Card{Key: "adoption", Eye: "What comes with it", Table: &t, Means: "Of the whole program, the harness included; modules are those of third parties."}
	card.Title = fmt.Sprintf("%s is the largest: %s and %s", largest.Title(), formatHeap(float64(largest.BinaryBytes)), countNoun(largest.Adoption.ModulesLinked, "module"))
	return card, true
}
