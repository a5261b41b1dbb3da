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

// Card is a part below the first chart: bars or a table with a conclusion as title.
type Card struct {
	Key               string // why, memory, price, answers or adoption
	Eye, Title, Means string
	Bars              []Bar
	Table             *Table
	After             string
	Rate              float64 // of the bars of a price, operations a second; else 0
}

// Bar reaches between two shares of the longest bar.
type Bar struct {
	Name     string
	From, To float64
	Side     string  // less or more; "" is neither
	Text     string  // figure
	NS       float64 // of one operation, for a price
}

const (
	maxBars  = 6
	maxCases = 5 // of semantic differences in a card
)

// newCards returns the cards for which r has data.
func newCards(r *tare.Result, c Contest) []Card {
	var out []Card
	if card, ok := newWhyCard(r); ok {
		out = append(out, card)
	} else if card, ok := newMemoryCard(r); ok {
		out = append(out, card)
	}
	for _, make := range []func(*tare.Result, Contest) (Card, bool){newPriceCard, newAnswersCard, newAdoptionCard} {
		if card, ok := make(r, c); ok {
			out = append(out, card)
		}
	}
	return out
}

// newWhyCard draws the first difference that was decomposed. It returns false if none was.
func newWhyCard(r *tare.Result) (Card, bool) {
	i := slices.IndexFunc(r.Decomposition, func(d tare.Decomposition) bool {
		return len(d.Steps) > 0 && d.Whole.FromValue > 0 && !slices.ContainsFunc(d.Steps, func(c tare.Cause) bool { return isVoidStep(r, d, c) })
	})
	if i < 0 {
		return Card{}, false
	}
	d := r.Decomposition[i]
	s := stepScale(r, d)
	unit, _, _ := strings.Cut(s.unit, "/")
	most := max(d.Whole.FromValue, d.Whole.ToValue)
	for _, x := range d.Steps {
		most = max(most, x.FromValue, x.ToValue)
	}
	whole := Bar{Name: contenderTitle(r, d.Whole.From), To: d.Whole.FromValue / most, Text: s.formatValue(d.Whole.FromValue) + " " + unit}
	card := Card{Key: "why", Eye: "Where the difference comes from", Bars: []Bar{whole}}
	var shared []string
	cause := d.Steps[0]
	for _, x := range d.Steps {
		b := Bar{Name: "+ " + x.Cause, From: x.FromValue / most, To: x.ToValue / most, Side: "more", Text: "+" + s.formatValue(x.ToValue-x.FromValue) + " " + unit}
		if x.ToValue < x.FromValue {
			b.Name, b.Side, b.Text = "− "+x.Cause, "less", "−"+s.formatValue(x.FromValue-x.ToValue)+" "+unit
		}
		card.Bars = append(card.Bars, b)
		if x.Share != 0 {
			shared = append(shared, x.Cause+" "+formatPercent(x.Share)+" ("+formatShare(x.ShareLow)+" to "+formatShare(x.ShareHigh)+")")
		}
		if math.Abs(x.Share) > math.Abs(cause.Share) {
			cause = x
		}
	}
	card.Bars = append(card.Bars, Bar{Name: contenderTitle(r, d.Whole.To), To: d.Whole.ToValue / most, Text: s.formatValue(d.Whole.ToValue) + " " + unit})
	card.Title = upperFirst(cause.Cause) + " decides it"
	if cause.Share > 0 {
		card.Title = upperFirst(cause.Cause) + " is " + formatPercent(math.Round(cause.Share*100)/100) + " of the difference"
	}
	card.Means = fmt.Sprintf("%s on %s: %s takes %s× (%s–%s) that of %s.", upperFirst(tare.MetricFor(d.Metric).Noun), d.Workload, contenderTitle(r, d.Whole.To), formatShortRatio(d.Whole.Ratio), formatShortRatio(d.Whole.Low), formatShortRatio(d.Whole.High), contenderTitle(r, d.Whole.From))
	if len(shared) > 1 {
		card.After = "Of the difference: " + strings.Join(shared[:min(len(shared), 4)], ", ") + "."
	}
	return card, true
}

// newMemoryCard draws the allocations of one operation on the first workload.
func newMemoryCard(r *tare.Result) (Card, bool) {
	works := contestWorks(r)
	if len(works) == 0 {
		return Card{}, false
	}
	v := newView(r, works[0])
	type used struct {
		c             tare.Contender
		bytes, allocs float64
	}
	var all []used
	most := 0.0
	for _, c := range v.ranked {
		b, ok := v.findValue(c.ID, "bytes")
		a, also := v.findValue(c.ID, "allocs")
		if ok && also && !b.Struck && len(v.voidsMetric(c.ID, "bytes")) == 0 {
			all, most = append(all, used{c, b.Value, a.Value}), max(most, b.Value)
		}
	}
	if most == 0 {
		return Card{}, false
	}
	slices.SortStableFunc(all, func(a, b used) int { return cmp.Compare(a.bytes, b.bytes) })
	first, last := all[0], all[len(all)-1]
	card := Card{Key: "memory", Eye: "Memory", Means: fmt.Sprintf("Heap that one %s on %s allocates; beside it the number of allocations.", operationNoun(v), v.workload)}
	card.Title = fmt.Sprintf("%s allocates %s, %s %s", contenderTitle(r, first.c.ID), formatHeap(first.bytes), contenderTitle(r, last.c.ID), formatHeap(last.bytes))
	for i := len(all) - 2; i > 0 && len(all) > maxBars; i-- {
		if id := all[i].c.ID; id != v.baseline && id != findSubject(r) {
			all = slices.Delete(all, i, i+1)
		}
	}
	for _, x := range all {
		card.Bars = append(card.Bars, Bar{Name: contenderTitle(r, x.c.ID), To: x.bytes / most, Text: formatHeap(x.bytes) + " in " + format.Grouped(math.Round(x.allocs), 0)})
	}
	return card, true
}

// formatHeap prints an amount of memory with three digits.
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

// newPriceCard draws the share of a core that contenders use at a rate.
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
	most := 0.0
	for _, row := range c.Panels[0].Rows {
		x, ok := v.findValue(row.ID, metric)
		if !ok || x.Struck || !(x.Value > 0) || len(v.voidsMetric(row.ID, metric)) > 0 || len(card.Bars) == maxBars && !row.Base {
			continue
		}
		card.Bars = append(card.Bars, Bar{Name: row.Name, To: x.Value, Text: formatCore(x.Value*rate/1e9) + " %", NS: x.Value})
		most = max(most, x.Value)
	}
	if most == 0 {
		return Card{}, false
	}
	for i := range card.Bars {
		card.Bars[i].To /= most
	}
	asked := findSubject(r)
	done := operationsNoun(r)
	card.Title = fmt.Sprintf("At %s %s a second no difference of %s is shown", formatRate(rate), done, contenderTitle(r, asked))
	if x, ok := findCost(r, v.workload, asked); ok && x.OnePercent > 0 {
		word := "saves"
		if own, ok := v.findComparison(asked, x.Metric); ok && own.Ratio > 1 {
			word = "costs"
		}
		more := ""
		if word == "costs" {
			more = " more"
		}
		card.Title = fmt.Sprintf("At %s %s a second, %s %s %s of a core%s", formatRate(rate), done, contenderTitle(r, asked), word, formatPercent2(rate/x.OnePercent), more)
	}
	noun := "Processor time"
	if metric == "time" {
		noun = "Time"
	}
	card.Means = fmt.Sprintf("%s of one core, in percent, at %s a second on %s.", noun, formatRate(rate), v.workload)
	card.After = "Other rates are proportional: tare report --at 5000/s."
	return card, true
}

// formatPercent2 prints a percentage with two digits.
func formatPercent2(x float64) string {
	if x >= 10 {
		return format.Grouped(x, 0) + " %"
	}
	return formatDigits(x, 2) + " %"
}

// newAnswersCard shows semantic differences from the reference: the worst cases if the subject of the study
// changes values, otherwise the number of cases per contender.
func newAnswersCard(r *tare.Result, _ Contest) (Card, bool) {
	asked := slices.DeleteFunc(listBehaviours(r), func(c behaviour) bool {
		return c.Cases == 0 || c.contender.Role == tare.RoleTrap || len(voidsOfAll(r, c.contender.ID)) > 0
	})
	if len(asked) == 0 {
		return Card{}, false
	}
	card := Card{Key: "answers", Eye: "What they answer differently"}
	slices.SortStableFunc(asked, func(a, b behaviour) int { return cmp.Compare(len(a.Differences), len(b.Differences)) })
	worst := asked[len(asked)-1]
	if len(worst.Differences) == 0 {
		card.Title = "All answer as the reference"
		card.Means = fmt.Sprintf("%s made to find differences, compared with %s.", countNoun(worst.Cases, "case"), joinReferences(asked))
		return card, true
	}
	who := worst
	for _, c := range asked {
		if c.contender.ID == findSubject(r) && len(ofClass(c.Differences, tare.DiffersInValue)) > 0 {
			who = c
		}
	}
	values := ofClass(who.Differences, tare.DiffersInValue)
	card.Means = fmt.Sprintf("Odd cases, compared with %s.", joinReferences(asked))
	if len(values) > 0 && who.contender.ID == findSubject(r) {
		card.Title = fmt.Sprintf("%s changes values in %d of %s", who.contender.Title(), len(values), countNoun(who.Cases, "odd case"))
		t := Table{Columns: []Column{{Name: "given"}, {Name: "expected"}, {Name: "got"}}}
		for _, d := range values[:min(len(values), maxCases)] {
			t.Rows = append(t.Rows, Row{Cells: []Field{newCaseField(d.Asked), newCaseField(d.Reference), newCaseField(d.Got)}})
		}
		card.Table = &t
		var counts []string
		for _, c := range asked {
			counts = append(counts, fmt.Sprintf("%s %d", c.contender.Title(), len(c.Differences)))
		}
		slices.Reverse(counts)
		card.After = "All that differ, form included: " + strings.Join(counts[:min(len(counts), maxBars)], ", ") + "."
		return card, true
	}
	card.Title = fmt.Sprintf("%s answers %d of %s otherwise", worst.contender.Title(), len(worst.Differences), countNoun(worst.Cases, "odd case"))
	if len(asked) > maxBars {
		asked = slices.Concat(asked[:2], asked[len(asked)-maxBars+2:])
	}
	for _, c := range asked {
		card.Bars = append(card.Bars, Bar{Name: c.contender.Title(), To: float64(len(c.Differences)) / float64(c.Cases), Side: "more", Text: fmt.Sprintf("%d of %d", len(c.Differences), c.Cases)})
	}
	gravest := ofClass(worst.Differences, listClasses(worst.Differences)[0])
	card.After = worst.contender.Title() + " " + describeConsequences(gravest, 2) + "."
	return card, true
}

const caseLength = 28

// newCaseField returns an output letter by letter, truncated if it is long.
func newCaseField(text string) Field { return codeField(truncateText(showLiteral(text), caseLength)) }

// newAdoptionCard shows the size, modules and age that contenders add to a binary.
func newAdoptionCard(r *tare.Result, c Contest) (Card, bool) {
	type brought struct {
		c       tare.Contender
		isShown bool
	}
	var all []brought
	var largest tare.Contender
	idle := false
	shown := func(id string) bool {
		return len(c.Panels) > 0 && slices.ContainsFunc(c.Panels[0].Rows, func(x Rival) bool { return x.ID == id })
	}
	for _, x := range r.Contenders {
		if x.Role != tare.RoleBaseline && x.Role != tare.RoleContender || !(x.BinaryBytes > 0) || len(voidsOfAll(r, x.ID)) > 0 {
			continue
		}
		isTwin := func(b brought) bool {
			return b.c.String() == x.String() && b.c.Adoption.ModulesLinked == x.Adoption.ModulesLinked && b.c.Role != tare.RoleBaseline
		}
		if x.Role != tare.RoleBaseline && x.ID != findSubject(r) && slices.ContainsFunc(all, isTwin) {
			continue
		}
		all = append(all, brought{c: x, isShown: shown(x.ID) || x.Role == tare.RoleBaseline})
		idle = idle || x.Adoption.IdleRSSBytes > 0
		if x.BinaryBytes > largest.BinaryBytes {
			largest = x
		}
	}
	if len(all) < 2 {
		return Card{}, false
	}
	slices.SortStableFunc(all, func(a, b brought) int { return cmp.Compare(a.c.BinaryBytes, b.c.BinaryBytes) })
	for len(all) > maxBars { // the least interesting first
		i := slices.IndexFunc(all, func(b brought) bool { return !b.isShown && b.c.ID != largest.ID })
		if i < 0 {
			i = 1
		}
		all = slices.Delete(all, i, i+1)
	}
	t := Table{Columns: []Column{{Name: "contender"}, {Name: "binary", Right: true}, {Name: "modules", Right: true}, {Name: "released", Right: true}}}
	if idle {
		t.Columns[3] = Column{Name: "idle memory", Right: true}
	}
	for _, b := range all {
		last := Field{Text: orDefault(b.c.Adoption.Released[:min(len(b.c.Adoption.Released), 7)], nothing)}
		if idle {
			last.Text = nothing
			if b.c.Adoption.IdleRSSBytes > 0 {
				last.Text = formatHeap(float64(b.c.Adoption.IdleRSSBytes))
			}
		}
		t.Rows = append(t.Rows, Row{Who: b.c.ID, Cells: []Field{{Text: b.c.Title()}, {Text: formatHeap(float64(b.c.BinaryBytes))}, {Text: format.Grouped(float64(b.c.Adoption.ModulesLinked), 0)}, last}})
	}
	card := Card{Key: "adoption", Eye: "What comes with it", Table: &t, Means: "Of the whole program, the harness included; modules are those of third parties."}
	card.Title = fmt.Sprintf("%s is the largest: %s and %s", largest.Title(), formatHeap(float64(largest.BinaryBytes)), countNoun(largest.Adoption.ModulesLinked, "module"))
	return card, true
}
