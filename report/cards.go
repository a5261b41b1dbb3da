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

// Card is one of the four parts beneath the first chart: bars or a table with a
// finding for a title.
type Card struct {
	Key               string // why, memory, price, answers or adoption
	Eye, Title, Means string
	Bars              []Bar
	Table             *Table
	After             string
	Rate              float64 // of the bars of a price, operations a second; else 0
}

// Bar reaches between two shares of the whole.
type Bar struct {
	Name     string
	From, To float64
	Side     string  // less or more; "" is neither
	Text     string  // figure
	NS       float64 // of one operation, for a price
}

const (
	barsMost  = 6
	casesMost = 5 // of different answers in a card
)

// cards returns the cards that r has something for.
func cards(r *tare.Result, c Contest) []Card {
	var out []Card
	if card, ok := whyCard(r); ok {
		out = append(out, card)
	} else if card, ok := memoryCard(r); ok {
		out = append(out, card)
	}
	for _, make := range []func(*tare.Result, Contest) (Card, bool){priceCard, answersCard, adoptionCard} {
		if card, ok := make(r, c); ok {
			out = append(out, card)
		}
	}
	return out
}

// whyCard draws the first difference that was taken apart.
func whyCard(r *tare.Result) (Card, bool) {
	i := slices.IndexFunc(r.Decomposition, func(d tare.Decomposition) bool {
		return len(d.Steps) > 0 && d.Whole.FromValue > 0 && !slices.ContainsFunc(d.Steps, func(c tare.Cause) bool { return voidStep(r, d, c) })
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
	whole := Bar{Name: title(r, d.Whole.From), To: d.Whole.FromValue / most, Text: s.print(d.Whole.FromValue) + " " + unit}
	card := Card{Key: "why", Eye: "Where the difference comes from", Bars: []Bar{whole}}
	var shared []string
	cause := d.Steps[0]
	for _, x := range d.Steps {
		b := Bar{Name: "+ " + x.Cause, From: x.FromValue / most, To: x.ToValue / most, Side: "more", Text: "+" + s.print(x.ToValue-x.FromValue) + " " + unit}
		if x.ToValue < x.FromValue {
			b.Name, b.Side, b.Text = "− "+x.Cause, "less", "−"+s.print(x.FromValue-x.ToValue)+" "+unit
		}
		card.Bars = append(card.Bars, b)
		if x.Share != 0 {
			shared = append(shared, x.Cause+" "+percent(x.Share)+" ("+hundredths(x.ShareLow)+" to "+hundredths(x.ShareHigh)+")")
		}
		if math.Abs(x.Share) > math.Abs(cause.Share) {
			cause = x
		}
	}
	card.Bars = append(card.Bars, Bar{Name: title(r, d.Whole.To), To: d.Whole.ToValue / most, Text: s.print(d.Whole.ToValue) + " " + unit})
	card.Title = capital(cause.Cause) + " decides it"
	if cause.Share > 0 {
		card.Title = capital(cause.Cause) + " is " + percent(math.Round(cause.Share*100)/100) + " of the difference"
	}
	card.Means = fmt.Sprintf("%s on %s: %s takes %s× (%s–%s) that of %s.", capital(tare.MetricFor(d.Metric).Noun), d.Workload, title(r, d.Whole.To), shortRatio(d.Whole.Ratio), shortRatio(d.Whole.Low), shortRatio(d.Whole.High), title(r, d.Whole.From))
	if len(shared) > 1 {
		card.After = "Of the difference: " + strings.Join(shared[:min(len(shared), 4)], ", ") + "."
	}
	return card, true
}

// memoryCard draws what one operation allocates on the first workload.
func memoryCard(r *tare.Result) (Card, bool) {
	works := contestWorks(r)
	if len(works) == 0 {
		return Card{}, false
	}
	v := look(r, works[0], map[string]bool{})
	type used struct {
		c             tare.Contender
		bytes, allocs float64
	}
	var all []used
	most := 0.0
	for _, c := range v.ranked {
		b, ok := v.value(c.ID, "bytes")
		a, also := v.value(c.ID, "allocs")
		if ok && also && !b.Struck && len(v.voidsOf(c.ID, "bytes")) == 0 {
			all, most = append(all, used{c, b.Value, a.Value}), max(most, b.Value)
		}
	}
	if most == 0 {
		return Card{}, false
	}
	slices.SortStableFunc(all, func(a, b used) int { return cmp.Compare(a.bytes, b.bytes) })
	first, last := all[0], all[len(all)-1]
	card := Card{Key: "memory", Eye: "Memory", Means: fmt.Sprintf("Heap that one %s on %s allocates; beside it the number of allocations.", operation(v), v.workload)}
	card.Title = fmt.Sprintf("%s allocates %s, %s %s", title(r, first.c.ID), heapSize(first.bytes), title(r, last.c.ID), heapSize(last.bytes))
	for i := len(all) - 2; i > 0 && len(all) > barsMost; i-- {
		if id := all[i].c.ID; id != v.baseline && id != subject(r) {
			all = slices.Delete(all, i, i+1)
		}
	}
	for _, x := range all {
		card.Bars = append(card.Bars, Bar{Name: title(r, x.c.ID), To: x.bytes / most, Text: heapSize(x.bytes) + " in " + format.Grouped(math.Round(x.allocs), 0)})
	}
	return card, true
}

// heapSize prints an amount of memory with three digits.
func heapSize(x float64) string {
	switch {
	case x >= 1e6:
		return significant(x/1e6, 3) + " MB"
	case x >= 1e3:
		return significant(x/1e3, 3) + " kB"
	}
	return format.Grouped(x, 0) + " B"
}

// usualRate is the rate that costs are told at if nobody asked for another.
const usualRate = 1000

// priceCard draws the share of a core that contenders use at a rate.
func priceCard(r *tare.Result, c Contest) (Card, bool) {
	if len(c.Panels) == 0 {
		return Card{}, false
	}
	works := contestWorks(r)
	v := look(r, works[0], map[string]bool{})
	metric := "cpu"
	if !v.shows(metric) {
		metric = "time"
	}
	rate := float64(usualRate)
	for _, x := range r.Cost {
		if x.Rate > 0 {
			rate = x.Rate
			break
		}
	}
	card := Card{Key: "price", Eye: "What it costs you", Rate: rate}
	most := 0.0
	for _, row := range c.Panels[0].Rows {
		x, ok := v.value(row.ID, metric)
		if !ok || x.Struck || !(x.Value > 0) || len(v.voidsOf(row.ID, metric)) > 0 || len(card.Bars) == barsMost && !row.Base {
			continue
		}
		card.Bars = append(card.Bars, Bar{Name: row.Name, To: x.Value, Text: core(x.Value*rate/1e9) + " %", NS: x.Value})
		most = max(most, x.Value)
	}
	if most == 0 {
		return Card{}, false
	}
	for i := range card.Bars {
		card.Bars[i].To /= most
	}
	asked := subject(r)
	done := done(r)
	card.Title = fmt.Sprintf("At %s %s a second no difference of %s is shown", asRate(rate), done, title(r, asked))
	if x, ok := costOf(r, v.workload, asked); ok && x.OnePercent > 0 {
		word := "saves"
		if own, ok := v.comparison(asked, x.Metric); ok && own.Ratio > 1 {
			word = "costs"
		}
		more := ""
		if word == "costs" {
			more = " more"
		}
		card.Title = fmt.Sprintf("At %s %s a second, %s %s %s of a core%s", asRate(rate), done, title(r, asked), word, shortPercent(rate/x.OnePercent), more)
	}
	noun := "Processor time"
	if metric == "time" {
		noun = "Time"
	}
	card.Means = fmt.Sprintf("%s of one core, in percent, at %s a second on %s.", noun, asRate(rate), v.workload)
	card.After = "Other rates are proportional: tare report --at 5000/s."
	return card, true
}

// shortPercent prints a percentage with two digits.
func shortPercent(x float64) string {
	if x >= 10 {
		return format.Grouped(x, 0) + " %"
	}
	return significant(x, 2) + " %"
}

// answersCard shows what contenders answer otherwise than the reference: the worst
// cases of one that changes values, else how many cases each answers otherwise.
func answersCard(r *tare.Result, _ Contest) (Card, bool) {
	asked := slices.DeleteFunc(conducts(r), func(c conduct) bool {
		return c.Cases == 0 || c.who.Role == tare.RoleTrap || len(wholly(r, c.who.ID)) > 0
	})
	if len(asked) == 0 {
		return Card{}, false
	}
	card := Card{Key: "answers", Eye: "What they answer differently"}
	slices.SortStableFunc(asked, func(a, b conduct) int { return cmp.Compare(len(a.Differences), len(b.Differences)) })
	worst := asked[len(asked)-1]
	if len(worst.Differences) == 0 {
		card.Title = "All answer as the reference"
		card.Means = fmt.Sprintf("%s made to find differences, compared with %s.", plural(worst.Cases, "case"), references(asked))
		return card, true
	}
	who := worst
	for _, c := range asked {
		if c.who.ID == subject(r) && len(of(c.Differences, tare.DiffersInValue)) > 0 {
			who = c
		}
	}
	values := of(who.Differences, tare.DiffersInValue)
	card.Means = fmt.Sprintf("Odd cases, compared with %s.", references(asked))
	if len(values) > 0 && who.who.ID == subject(r) {
		card.Title = fmt.Sprintf("%s changes values in %d of %s", who.who.Title(), len(values), plural(who.Cases, "odd case"))
		t := Table{Columns: []Column{{Name: "given"}, {Name: "expected"}, {Name: "got"}}}
		for _, d := range values[:min(len(values), casesMost)] {
			t.Rows = append(t.Rows, Row{Cells: []Field{caseField(d.Asked), caseField(d.Reference), caseField(d.Got)}})
		}
		card.Table = &t
		var counts []string
		for _, c := range asked {
			counts = append(counts, fmt.Sprintf("%s %d", c.who.Title(), len(c.Differences)))
		}
		slices.Reverse(counts)
		card.After = "All that differ, form included: " + strings.Join(counts[:min(len(counts), barsMost)], ", ") + "."
		return card, true
	}
	card.Title = fmt.Sprintf("%s answers %d of %s otherwise", worst.who.Title(), len(worst.Differences), plural(worst.Cases, "odd case"))
	if len(asked) > barsMost {
		asked = slices.Concat(asked[:2], asked[len(asked)-barsMost+2:])
	}
	for _, c := range asked {
		card.Bars = append(card.Bars, Bar{Name: c.who.Title(), To: float64(len(c.Differences)) / float64(c.Cases), Side: "more", Text: fmt.Sprintf("%d of %d", len(c.Differences), c.Cases)})
	}
	gravest := of(worst.Differences, classes(worst.Differences)[0])
	card.After = worst.who.Title() + " " + consequences(gravest, 2) + "."
	return card, true
}

const caseLength = 28

// caseField is an answer letter by letter, cut off if it is long.
func caseField(text string) Field { return coded(shortened(literal(text), caseLength)) }

// adoptionCard shows what contenders bring into a binary.
func adoptionCard(r *tare.Result, c Contest) (Card, bool) {
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
		if x.Role != tare.RoleBaseline && x.Role != tare.RoleContender || !(x.BinaryBytes > 0) || len(wholly(r, x.ID)) > 0 {
			continue
		}
		isTwin := func(b brought) bool {
			return b.c.String() == x.String() && b.c.Adoption.ModulesLinked == x.Adoption.ModulesLinked && b.c.Role != tare.RoleBaseline
		}
		if x.Role != tare.RoleBaseline && x.ID != subject(r) && slices.ContainsFunc(all, isTwin) {
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
	for len(all) > barsMost { // the least interesting first
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
		last := Field{Text: or(b.c.Adoption.Released[:min(len(b.c.Adoption.Released), 7)], nothing)}
		if idle {
			last.Text = nothing
			if b.c.Adoption.IdleRSSBytes > 0 {
				last.Text = heapSize(float64(b.c.Adoption.IdleRSSBytes))
			}
		}
		t.Rows = append(t.Rows, Row{Who: b.c.ID, Cells: []Field{{Text: b.c.Title()}, {Text: heapSize(float64(b.c.BinaryBytes))}, {Text: format.Grouped(float64(b.c.Adoption.ModulesLinked), 0)}, last}})
	}
	card := Card{Key: "adoption", Eye: "What comes with it", Table: &t, Means: "Of the whole program, the harness included; modules are those of third parties."}
	card.Title = fmt.Sprintf("%s is the largest: %s and %s", largest.Title(), heapSize(float64(largest.BinaryBytes)), plural(largest.Adoption.ModulesLinked, "module"))
	return card, true
}
