package html

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/report"
)

// page is what the templates are given.
type page struct {
	Title, Study, Question, Headline, Second, Departure string

	Policy string
	Style  template.CSS
	Script template.JS
	Held   template.HTML // the document, as the text of an element
	Saved  string        // name of the file it is saved as
	Lack   string        // what the document in the page lacks

	Choices choices
	Parts   []part
}

// part is one section of the page.
type part struct {
	ID      string // of the element; unique
	Key     string // as in package report, or one of the page's own
	On      string // workload it is about
	Heading string
	Level   int // of the heading
	Blocks  []block
}

// block is one thing in a part: exactly one field is set, but for Mark.
type block struct {
	Mark   report.Mark
	Text   string
	Items  []report.Item
	Closer []finding
	Grid   *grid
	Chart  *chart
	Band   string
	Rate   *rate
	Flame  *flame
	Repeat []string
	Folded *folded
}

// folded is what stands behind a line that opens it.
type folded struct {
	Summary string
	Blocks  []block
}

// Keys of the page's own parts.
const (
	keyAllocs   = "allocations"
	keyTimeline = "timeline"
	keySweep    = "sweep"
	keyRate     = "rate"
	keyRepeat   = "repeat"
	keyWorks    = "workloads"
	keyGlance   = "glance"
)

// builder holds what the parts of a page are made from.
type builder struct {
	r    *tare.Result
	o    Options
	base string
	out  []report.Section
}

func newPage(r *tare.Result, o Options, document holding) *page {
	b := &builder{r: r, o: o, out: report.Outline(r)}
	for _, c := range r.Contenders {
		if c.Role == tare.RoleBaseline {
			b.base = c.ID
		}
	}
	style, script := styleText(), scriptText()
	p := &page{
		Title: report.Legible(r.Study), Study: report.Legible(r.Study), Question: report.Legible(r.Question), Headline: first(report.Headline(r)), Second: report.Second(r), Departure: report.Departure(r),
		Policy: Policy(style, script), Style: template.CSS(style), Script: template.JS(script), //nolint:gosec // compiled in
		Held: template.HTML(document.Text), Saved: saved(r), Lack: document.Without, //nolint:gosec // base64
		Choices: b.choices(), Parts: b.parts(),
	}
	b.number(p.Parts)
	return p
}

// saved is a name for the document that every file system takes.
func saved(r *tare.Result) string {
	name := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
			return c
		}
		return -1
	}, r.Study)
	if len(name) > 60 {
		name = name[:60]
	}
	if name == "" {
		name = "study"
	}
	return name + ".result.json"
}

// parts are the page from top to bottom: sections of the report, and the page's
// own between them.
func (b *builder) parts() []part {
	own := map[string]func() part{
		keyGlance: func() part {
			return part{ID: keyGlance, Key: keyGlance, Heading: "Ratios at a glance", Level: 2, Blocks: b.glance()}
		},
		keyWorks: b.works, keySweep: b.sweep, keyAllocs: b.allocations, keyTimeline: b.timeline, keyRate: b.rate, keyRepeat: b.repeat,
		report.KeyReading: func() part { return part{} }, // in works
	}
	var out []part
	for _, key := range b.order() {
		if drawn, ok := own[key]; ok {
			if p := drawn(); len(p.Blocks) > 0 {
				out = append(out, p)
			}
			continue
		}
		for _, s := range b.out {
			if s.Key == key {
				out = append(out, b.part(s))
			}
		}
	}
	return out
}

// order is that of the page's parts. Drawings come before sentences: of one
// workload in full, of several at a glance.
func (b *builder) order() []string {
	keys := []string{report.KeyMachines, keyGlance, report.KeyVerdict, keyWorks, report.KeyWorkload}
	if len(b.r.Workloads) == 1 {
		keys = []string{report.KeyMachines, keyGlance, keyWorks, report.KeyWorkload, report.KeyVerdict}
	}
	return report.Arrange(append(keys, keySweep, keyAllocs, keyTimeline, report.KeyCriteria, report.KeyRecommendation, report.KeyScaling, report.KeyBreakEven,
		report.KeyDecomposition, report.KeyTradeOffs, report.KeyAdoption, report.KeyCost, keyRate, report.KeySemantics, report.KeyClaims, report.KeyPublished, report.KeyDrives,
		report.KeyFindings, report.KeyLimits, report.KeyNotWeighed, report.KeyExplanations, report.KeyProfiles, report.KeyResolution, report.KeyRun, keyRepeat))[0]
}

// works opens the workloads.
func (b *builder) works() part {
	if len(b.r.Workloads) == 0 {
		return part{}
	}
	return part{ID: keyWorks, Key: keyWorks, Heading: "Ratios and medians", Level: 2, Blocks: b.legend()}
}

// legend is how tables and drawings are read, behind a line that opens it.
func (b *builder) legend() []block {
	var inner []block
	for _, s := range b.out {
		if s.Key == report.KeyReading {
			inner = b.part(s).Blocks
		}
	}
	inner = append(inner, block{Text: "In the drawings a dot is a ratio and the stroke through it the interval, on a logarithmic axis: blue is less than the baseline, orange more, grey not significant. The shaded band is what the control shows."})
	return []block{{Folded: &folded{"How to read this", inner}}}
}

// part is a section with its drawings.
func (b *builder) part(s report.Section) part {
	p := part{ID: s.Key, Key: s.Key, On: s.About, Heading: s.Heading, Level: 2}
	if s.Key == report.KeyWorkload {
		i := slices.IndexFunc(b.r.Workloads, func(w tare.Workload) bool { return w.ID == s.About })
		p.ID, p.Level = "workload-"+short(float64(i+1)), 3
	}
	tables := 0
	for _, x := range s.Blocks {
		if s.Key == report.KeyVerdict {
			p.Blocks = append(p.Blocks, b.sentences(x)...)
			continue
		}
		p.Blocks = append(p.Blocks, b.drawn(s, x, tables)...)
		if x.Table != nil {
			tables++
		}
	}
	if s.Key == report.KeyWorkload {
		p.Blocks = append(p.Blocks, b.strips(s.About)...)
	}
	return p
}

// sentencesMost is how many differences the top of a page tells one by one where
// a table says all of them at a glance.
const sentencesMost = 6

// rowsMost is how many rows of sentences stand open.
const rowsMost = 12

// sentences are the statements of the verdict; where there are many, those that
// only say a difference stand behind a line that opens them.
func (b *builder) sentences(x report.Block) []block {
	isFound := func(it report.Item) bool { return it.Label == "found" || it.Label == "apart" }
	found := slices.DeleteFunc(slices.Clone(x.Items), func(it report.Item) bool { return !isFound(it) })
	if len(found) <= sentencesMost || len(b.r.Workloads) < 2 {
		if x.Items != nil {
			return []block{{Items: x.Items}}
		}
		return []block{{Text: x.Text, Mark: x.Mark}}
	}
	var out []block
	folds := func(it report.Item) bool { return isFound(it) || it.Label == "" } // without a label: how many are left out
	if rest := slices.DeleteFunc(slices.Clone(x.Items), folds); len(rest) > 0 {
		out = append(out, block{Items: rest})
	}
	inner := slices.DeleteFunc(slices.Clone(x.Items), func(it report.Item) bool { return !folds(it) })
	return append(out, block{Folded: &folded{fmt.Sprintf("%d differences that were found, in sentences", len(found)), []block{{Items: inner}}}})
}

// drawn is a block with what is drawn of it; tables is how many stand before it
// in its section.
func (b *builder) drawn(s report.Section, x report.Block, tables int) []block {
	g := tabled(s, x)
	switch {
	case x.Key == "others":
		return []block{{Folded: &folded{"Ratios of the other measures on " + report.Legible(s.About), []block{{Grid: g}}}}}
	case x.Key == "trade-offs" && len(g.Rows) > rowsMost:
		return []block{{Folded: &folded{fmt.Sprintf("All %d rows", len(g.Rows)), []block{{Grid: g}}}}}
	case s.Key == report.KeyBreakEven && g != nil:
		return b.breakEven(g, tables)
	case s.Key == report.KeyDrives && g != nil:
		return []block{{Folded: &folded{"How each was driven on this workload", []block{{Grid: g}}}}}
	case x.Key == "findings":
		return []block{{Closer: b.findings(x.Items)}}
	case x.Key == "flame":
		return b.flamed(x)
	case x.Key == "difference":
		return b.differences(x)
	case x.Key == "primary":
		b.forest(g, s.About)
		return []block{{Grid: g}, {Band: b.band(s.About)}}
	case x.Key == "latencies":
		if c := b.latencies(s.About); c != nil {
			return []block{{Chart: c}, {Grid: g}}
		}
	case x.Key == "exponents":
		return append(b.growths(), block{Grid: g})
	case x.Key == "steps":
		b.waterfall(g, x.About)
	case x.Key == "claims":
		b.claims(g)
	}
	switch {
	case x.Table != nil:
		return []block{{Grid: g}}
	case x.Items != nil:
		return []block{{Items: x.Items}}
	}
	return []block{{Text: x.Text, Mark: x.Mark}}
}

// grid is a table of the page, maybe with a column of drawings after the first.
type grid struct {
	Key     string
	Caption string
	Head    []report.Column
	Leading string // metric of a workload's ratios
	Plot    *plot
	Rows    []line
	On      []string // workload that each column is about, empty where it is about none; nil: none is
}

// plot heads a column of drawings.
type plot struct {
	Title string
	Ticks []tick
}

// line is a row of a grid.
type line struct {
	report.Row
	Plot template.HTML
	Bars map[int]template.HTML // drawings beneath what fields say, by column
	Data map[string]string     // for the script, by name
}

// Span is how many columns there are.
func (g *grid) Span() int {
	if g.Plot != nil {
		return len(g.Head) + 1
	}
	return len(g.Head)
}

func tabled(s report.Section, x report.Block) *grid {
	if x.Table == nil {
		return nil
	}
	g := &grid{Key: x.Key, Caption: s.Heading, Head: x.Table.Columns}
	if x.About != "" {
		g.Caption += ": " + strings.TrimSuffix(x.About, ":")
	}
	for _, r := range x.Table.Rows {
		g.Rows = append(g.Rows, line{Row: r})
	}
	return g
}

// first returns the first of two texts.
func first(text, _ string) string { return text }
