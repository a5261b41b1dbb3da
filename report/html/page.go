package html

import (
	"html/template"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/plot"
	"github.com/tarebench/tare/report"
)

// page is the data of templates/page.html. It has a summary, and below it folds with the sections of the report.
type page struct {
	Title, Study string
	report.Summary
	Panels []panel
	Marks  template.HTML // SVG definitions of marks
	Quiet  []quiet
	Cards  []card
	Folds  []fold

	Policy string
	Style  template.CSS
	Script template.JS
	Held   template.HTML // result document from embedResult
	Saved  string        // file name of the saved document
	Lack   string        // what embedResult has shortened, or ""
}

// fold is a part of the page that a click opens.
type fold struct {
	ID, Title, Note string
	Parts           []part
}

type part struct {
	ID, Heading string // Heading is "" if the fold's title serves
	Blocks      []block
}

// block is one element of a part. One field is set, in addition to Mark.
type block struct {
	Mark   report.Mark // of Text
	Text   string
	Items  []report.Item
	Closer []finding // explained findings
	Grid   *grid
	Chart  template.HTML // a drawing
	Ratios template.HTML // the table of all ratios
	Flame  *flame
	Repeat []string // commands that repeat the run
}

type builder struct {
	r        *tare.Result
	options  Options
	sections []report.Section // of the report
}

// newPage returns the data of a page about r. document is r as embedded.
func newPage(r *tare.Result, options Options, document embedded) *page {
	b := &builder{r: r, options: options, sections: report.Outline(r)}
	folds := b.newFolds()
	style, script := styleText()+labelColumns(listGrids(folds)), scriptText()
	p := &page{
		Title: report.Legible(r.Study), Study: report.Legible(r.Study), Summary: report.NewSummary(r), Folds: folds, Marks: plot.MarkSymbols(),
		Policy: Policy(style, script), Style: template.CSS(style), Script: template.JS(script), //nolint:gosec // compiled in, and quoted by quoteCSS
		Held: template.HTML(document.Text), Saved: documentName(r), Lack: document.Without, //nolint:gosec // base64
	}
	p.Quiet = newQuiet(p.Contest.Quiet)
	for i, chart := range p.Contest.Panels {
		p.Panels = append(p.Panels, newPanel(p.Contest, chart, i))
	}
	for _, c := range p.Summary.Cards {
		p.Cards = append(p.Cards, newCard(c))
	}
	return p
}

func listGrids(folds []fold) []*grid {
	var out []*grid
	for _, f := range folds {
		for _, p := range f.Parts {
			for _, x := range p.Blocks {
				if x.Grid != nil {
					out = append(out, x.Grid)
				}
			}
		}
	}
	return out
}

// Asked explains the mark of criteria in the first chart, or returns "".
func (p *page) Asked() string {
	asked, _ := p.Contest.ExplainMarks()
	return asked
}

// Published explains the mark of published ratios in the first chart, or returns "".
func (p *page) Published() string {
	_, published := p.Contest.ExplainMarks()
	return published
}

// documentName returns a file name that every file system allows.
func documentName(r *tare.Result) string {
	name := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
			return c
		}
		return -1
	}, r.Study)
	const maxLength = 60
	if len(name) > maxLength {
		name = name[:maxLength]
	}
	if name == "" {
		name = "study"
	}
	return name + ".result.json"
}

// Keys of parts that no section of a report has.
const (
	keyRatios  = "ratios"
	keyLatency = "latency"
	keySweep   = "sweep"
	keyRepeat  = "repeat"
)

type foldRule struct {
	id, title string
	note      func(*builder) string // returns the text next to the title
	keys      []string              // keys of parts, in order
}

func listFolds() []foldRule {
	noNote := func(*builder) string { return "" }
	return []foldRule{
		{"machines", "Over machines", noNote, []string{report.KeyMachines}},
		{"all", "All ratios", (*builder).ratiosNote, []string{keyRatios, report.KeyRecommendation, report.KeyReading}},
		{"criteria", "Criteria", func(b *builder) string { return report.TallyRulings(b.r) }, []string{report.KeyRulings, report.KeyCriteria}},
		{"claims", "Published claims", func(b *builder) string { return report.ClaimsCount([]*tare.Result{b.r}) }, []string{report.KeyClaims}},
		{"causes", "Where differences come from", (*builder).causesNote, []string{report.KeyDecomposition, report.KeyExplanations, report.KeyProfiles}},
		{"curves", "Size, load and latency", noNote, []string{keyLatency, keySweep, report.KeyScaling}},
		{"differences", "Different answers", noNote, []string{report.KeySemantics}},
		{"price-more", "Costs", noNote, []string{report.KeyCost, report.KeyBreakEven}},
		{"adoption-more", "What comes with each", noNote, []string{report.KeyAdoption}},
		{"checks", "Checks", (*builder).checksNote, []string{report.KeyChecked, report.KeyLimits}},
		{"run", "This run, and how to repeat it", (*builder).runNote, []string{keyRepeat, report.KeyRun, report.KeyNotWeighed, report.KeyResolution, report.KeyDrives}},
	}
}

// newFolds returns the folds with contents. The last one also gets sections that no fold names.
func (b *builder) newFolds() []fold {
	partBuilders := map[string]func() part{
		keyRatios: b.newRatiosPart, keyLatency: b.newLatencyPart, keySweep: b.newSweepPart, keyRepeat: b.newRepeatPart,
	}
	all := listFolds()
	isBench := report.IsBench(b.r)
	if isBench {
		all = slices.DeleteFunc(all, func(f foldRule) bool { return f.id == "price-more" || f.id == "adoption-more" })
	}
	omittedOfBench := []string{report.KeyCost, report.KeyBreakEven, report.KeyAdoption, report.KeyRecommendation}
	for _, s := range b.sections {
		if isBench && slices.Contains(omittedOfBench, s.Key) {
			continue
		}
		isNamed := slices.ContainsFunc(all, func(f foldRule) bool { return slices.Contains(f.keys, s.Key) })
		if !isNamed {
			all[len(all)-1].keys = append(all[len(all)-1].keys, s.Key)
		}
	}
	var out []fold
	for _, rule := range all {
		f := fold{ID: rule.id, Title: rule.title, Note: rule.note(b)}
		for _, key := range rule.keys {
			if newPart, ok := partBuilders[key]; ok {
				if p := newPart(); len(p.Blocks) > 0 {
					f.Parts = append(f.Parts, p)
				}
				continue
			}
			isOmitted := isBench && key == report.KeyRecommendation
			for _, s := range b.sections {
				if s.Key == key && !isOmitted {
					f.Parts = append(f.Parts, b.newPart(s))
				}
			}
		}
		if len(f.Parts) > 0 {
			f.Parts[0].Heading = "" // the fold has a title
			out = append(out, f)
		}
	}
	return out
}

func (b *builder) ratiosNote() string {
	return countNoun(len(b.r.Workloads), "workload") + ", " + countNoun(len(b.r.Metrics), "measure") + ", with intervals, ranks and medians"
}

func (b *builder) causesNote() string {
	var parts []string
	for _, x := range []struct {
		n    int
		noun string
	}{{len(b.r.Decomposition), "difference"}, {len(b.r.Explanations), "explanation"}, {len(b.r.Profiles), "profile"}} {
		if x.n > 0 {
			parts = append(parts, countNoun(x.n, x.noun))
		}
	}
	return strings.Join(parts, ", ")
}

func (b *builder) checksNote() string {
	count := map[tare.Severity]int{}
	for _, f := range b.r.Findings {
		if !f.Expected {
			count[f.Severity]++
		}
	}
	var parts []string
	for _, x := range []tare.Severity{tare.Void, tare.Warn, tare.Note} {
		if count[x] > 0 {
			parts = append(parts, strconv.Itoa(count[x])+" "+string(x))
		}
	}
	return strings.Join(parts, ", ")
}

func (b *builder) runNote() string {
	if n := len(b.r.NotWeighed); n > 0 {
		return countNoun(n, "thing") + " not measured"
	}
	return "machine, versions, seed"
}

func countNoun(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// newPart returns section s as a part, with drawings.
func (b *builder) newPart(s report.Section) part {
	p := part{ID: s.Key, Heading: s.Heading}
	for _, x := range s.Blocks {
		p.Blocks = append(p.Blocks, b.drawBlock(s, x)...)
	}
	return p
}

// drawBlock returns the blocks of the page for block x of section s. x.Key selects drawings.
func (b *builder) drawBlock(s report.Section, x report.Block) []block {
	switch x.Key {
	case "findings":
		return []block{{Closer: b.explainFindings(x.Items)}}
	case "flame":
		return b.newProfileBlocks(x)
	case "difference":
		return b.newExplanationBlocks(x)
	}
	switch {
	case x.Table != nil:
		var out []block
		if x.Key == "exponents" {
			out = b.newGrowthCharts()
		}
		tables := []report.Table{*x.Table}
		if x.Key != report.KeyDrives { // the load table is narrow enough
			tables = splitTable(*x.Table)
		}
		for _, t := range tables {
			g := newGrid(s, x, t)
			switch x.Key {
			case "steps":
				b.drawWaterfall(g, x.About)
			case "claims":
				drawClaims(g, "c1", report.OrderedClaims(b.r.Claims))
			}
			out = append(out, block{Grid: g})
		}
		return out
	case x.Items != nil:
		return []block{{Items: x.Items}}
	}
	return []block{{Text: x.Text, Mark: x.Mark}}
}

// maxColumns is the number of columns after the first that fit a page.
const maxColumns = 6

// splitTable splits a table into tables that fit a page. Each repeats the first column.
func splitTable(t report.Table) []report.Table {
	if len(t.Columns) <= maxColumns+1 {
		return []report.Table{t}
	}
	rest := len(t.Columns) - 1                    // without the first
	parts := (rest + maxColumns - 1) / maxColumns // rounded up
	perPart := (rest + parts - 1) / parts         // rounded up, so that the parts are of equal width
	var out []report.Table
	for from := 1; from < len(t.Columns); from += perPart {
		to := min(from+perPart, len(t.Columns))
		part := report.Table{Columns: slices.Concat(t.Columns[:1], t.Columns[from:to])}
		for _, r := range t.Rows {
			cut := r
			if len(r.Cells) > 1 {
				cut.Cells = slices.Concat(r.Cells[:1], r.Cells[min(from, len(r.Cells)):min(to, len(r.Cells))])
			}
			if from > 1 { // only the first part has notes
				cut.Notes = nil
			}
			part.Rows = append(part.Rows, cut)
		}
		part.Rows = mergeRows(part.Rows)
		out = append(out, part)
	}
	return out
}

// mergeRows merges rows that differ only in their first cell. The merged row has all names.
func mergeRows(rows []report.Row) []report.Row {
	var out []report.Row
	for _, r := range rows {
		i := slices.IndexFunc(out, func(o report.Row) bool {
			return len(o.Cells) == len(r.Cells) && len(r.Cells) > 1 && slices.Equal(o.Cells[1:], r.Cells[1:]) && len(o.Notes)+len(r.Notes) == 0 && o.Cells[0].Mark == r.Cells[0].Mark
		})
		if i < 0 {
			out = append(out, r)
			continue
		}
		cells := slices.Clone(out[i].Cells) // other rows share the cells
		cells[0].Text += ", " + r.Cells[0].Text
		out[i].Cells = cells
	}
	return out
}

// grid is a table of the page, perhaps with a column of drawings.
type grid struct {
	Key, Caption string
	Titled       bool // the caption is not only for screen readers
	Head         []report.Column
	Plot         *plotColumn // nil if nothing is drawn
	Rows         []line
	labels       string // CSS class from labelColumns
}

type plotColumn struct {
	Title string
	Axis  template.HTML
}

type line struct {
	report.Row
	Plot template.HTML
}

// Span returns the number of columns.
func (g *grid) Span() int {
	if g.Plot != nil {
		return len(g.Head) + 1
	}
	return len(g.Head)
}

// IsWide reports whether a narrow screen shows the table as labelled lines.
func (g *grid) IsWide() bool { return len(g.Head) > 3 && g.Key != "small" }

// newGrid returns t as a grid. t is the table of block x in section s, or a part of it.
func newGrid(s report.Section, x report.Block, t report.Table) *grid {
	g := &grid{Key: x.Key, Caption: s.Heading, Head: t.Columns}
	if x.About != "" {
		g.Caption, g.Titled = strings.TrimSuffix(x.About, ":"), true
	}
	for _, r := range t.Rows {
		g.Rows = append(g.Rows, line{Row: r})
	}
	return g
}

// drawWaterfall adds bars to the table of decomposition id. Each step begins where the step before ends. Bars have
// the classes b0 (total), b1 (adds) and b2 (takes away).
func (b *builder) drawWaterfall(g *grid, id string) {
	i := slices.IndexFunc(b.r.Decomposition, func(d tare.Decomposition) bool { return report.Legible(d.ID) == id })
	if i < 0 {
		return
	}
	d := b.r.Decomposition[i]
	longest := max(d.Whole.FromValue, d.Whole.ToValue)
	for _, s := range d.Steps {
		longest = max(longest, s.FromValue, s.ToValue)
	}
	minRows := len(d.Steps) + 2 // start and total; the unexplained rest has no bar
	if !(longest > 0) || len(g.Rows) < minRows {
		return
	}
	g.Plot = &plotColumn{Title: report.Legible(d.Metric + ", from 0")}
	g.Rows[0].Plot = plot.Bar("b0", 0, d.Whole.FromValue/longest)
	for i, s := range d.Steps {
		class := "b1"
		if s.ToValue < s.FromValue {
			class = "b2"
		}
		g.Rows[i+1].Plot = plot.Bar(class, s.FromValue/longest, s.ToValue/longest)
	}
	g.Rows[len(g.Rows)-1].Plot = plot.Bar("b0", 0, d.Whole.ToValue/longest)
}
