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

// Contest is the first chart of a page: ratios to the baseline on one axis. A panel shows one or two workloads. It
// has a row per contender (Rival), and a row has a line per workload (RivalLine). If the page compares two
// revisions, there is one panel, and a row is a benchmark.
type Contest struct {
	Title      string  // conclusion (contestTitle) without a full stop; fixed between revisions
	Means      string  // what the axis shows
	Headline   string  // between revisions: headline of the page; else ""
	Order      string  // order of the rows, in words
	Base       string  // title of the baseline
	Source     string  // source of the published ratios; "" if none or several
	Less, More string  // meaning of the sides of the axis
	Panels     []Panel // empty if nothing was compared
	Quiet      []Quiet // between revisions: unchanged benchmarks; else nil
}

// Quiet is a group of benchmarks without a visible change between two revisions. A change of Size or more would
// have shown in each.
type Quiet struct {
	Size  string  // percentage, or "more than 50 %"
	Names string  // first benchmarks of the group
	Count int     // number of benchmarks in the group
	Share float64 // Count as a share of all unchanged benchmarks
}

// Panel is the chart of one or two workloads. Between two revisions it has all benchmarks that differ.
type Panel struct {
	Name  string
	Noise []float64 // factor by which equal programs seem to differ, per workload; 0 means unknown
	Rows  []Rival   // in the Order of the Contest
	Rest  []Rival   // rows shown on request only
}

// Rival is the row of one contender or, between two revisions, of one benchmark.
type Rival struct {
	ID, Name string
	Note     string      // version or role (rivalNote), or values of the benchmark (benchNote)
	Base     bool        // this is the baseline
	Lines    []RivalLine // one for each workload with data
}

// RivalLine is the ratio of a contender to the baseline on one workload, in numbers and in the texts of a page.
// Examples of the texts:
//
//	              Side  Text   Says                Detail
//	baseline      ""    1×     2.31 µs             ""
//	void          ""    void   void by rate-held   ""
//	no ratio      ""    –      not compared        ""
//	less          less  0.71×  ▼ 29 % less         0.69–0.73
//	more          more  1.40×  ▲ 40 % more         exactly
//	no difference same  1.01×  ≈ inside the noise  no interval yet
type RivalLine struct {
	Work      int     // index in Panel.Noise
	Workload  string  // "" if the panel has only one workload
	Ratio     float64 // 0 if it is missing
	Low, High float64 // interval of Ratio; 0 if unknown
	Side      string  // less, more or same; "" without a ratio
	Text      string  // Ratio as printed
	Says      string  // result in words, or the baseline's value with its unit
	Detail    string  // interval or why it is missing; "" without a ratio
	Claims    []RivalClaim
}

// RivalClaim is a ratio that a line marks: a criterion's limit, a published ratio, or both.
type RivalClaim struct {
	Value     float64 // position on the axis
	Printed   float64 // published ratio, if any, which may differ slightly from Value; else Value
	Asked     string  // sign of the criterion, ≤ or ≥; "" without one
	Published bool
	Text      string // source and ratio, e.g. "published 0.5×"
}

const (
	panelWorks     = 2     // workloads of a panel
	maxPanels      = 2     // panels of a page; AllRatios has the other workloads
	maxRivals      = 8     // rows of a panel
	maxBestRivals  = 6     // best contenders among these rows
	panelSeparator = " · " // between the workloads in the name of a panel

	sameRatio = 0.03 // natural logarithms of ratios drawn as one: about 3 %
)

// newContest returns the first chart of r.
func newContest(r *tare.Result) Contest {
	if IsBench(r) {
		return newBenchContest(r)
	}
	works := contestWorks(r)
	c := Contest{Base: contenderTitle(r, r.Baseline()), Less: "less", More: "more", Order: "best first"}
	for pair := range slices.Chunk(works[:min(len(works), panelWorks*maxPanels)], panelWorks) {
		if p := newPanel(r, pair); len(p.Rows) > 1 { // the baseline alone is no comparison
			c.Panels = append(c.Panels, p)
		}
	}
	if len(c.Panels) == 0 {
		return c
	}
	v := newView(r, works[0])
	m := tare.MetricFor(v.leadingMetric())
	c.Less, c.More = orDefault(m.Less, "less"), orDefault(m.More, "more")
	c.Title = contestTitle(v, m)
	if sources := listDistinct(r.Claims, func(c tare.ClaimResult) string { return c.Source }); len(sources) == 1 {
		c.Source = sources[0]
	}
	c.Means = fmt.Sprintf("%s of one %s, as a multiple of %s’s. Logarithmic axis: the same distance is the same factor.", upperFirst(m.Noun), operationNoun(v), c.Base)
	return c
}

func operationNoun(v *view) string {
	if v.hasRequests() {
		return "request"
	}
	return "operation"
}

// contestWorks returns the workloads with comparisons. Workloads of criteria come first, then those of measured
// claims. The title of the chart is about the first, so that one should compare the most.
func contestWorks(r *tare.Result) []string {
	var out []string
	addWorkload := func(id string) {
		isInResult := slices.ContainsFunc(r.Workloads, func(w tare.Workload) bool { return w.ID == id })
		if !isInResult || slices.Contains(out, id) {
			return
		}
		v := newView(r, id)
		isCompared := func(c tare.Contender) bool {
			_, ok := v.findComparison(c.ID, v.leadingMetric())
			return ok && c.ID != v.baseline
		}
		if slices.ContainsFunc(slices.Concat(v.ranked, v.statusOnly), isCompared) {
			out = append(out, id)
		}
	}
	for _, verdict := range listRulings(r) {
		addWorkload(verdict.Workload)
	}
	for _, claim := range r.Claims {
		if claim.Kind == tare.ClaimRatio && claim.Measured > 0 {
			addWorkload(claim.Workload)
		}
	}
	for _, w := range r.Workloads {
		addWorkload(w.ID)
	}
	if len(out) > 1 && countCompared(r, out[1]) > countCompared(r, out[0]) {
		out[0], out[1] = out[1], out[0]
	}
	return out
}

func countCompared(r *tare.Result, workload string) int {
	v := newView(r, workload)
	n := 0
	for _, c := range v.ranked {
		if _, ok := v.findComparison(c.ID, v.leadingMetric()); ok {
			n++
		}
	}
	return n
}

// contestTitle counts the contenders that take significantly less and more than the baseline:
//
//	On small, 3 of 5 take less CPU time than stdlib; 1 takes more
//	On small, none of 5 takes less CPU time than stdlib; 2 take more
//	On small, no difference from stdlib is shown
//	Nothing counts on small
func contestTitle(v *view, m tare.Metric) string {
	less, more, compared := 0, 0, 0
	for _, c := range slices.Concat(v.ranked, v.statusOnly) {
		comparison, ok := v.findComparison(c.ID, m.Name)
		if !ok || c.ID == v.baseline || len(v.voidsMetric(c.ID, m.Name)) > 0 {
			continue
		}
		compared++
		switch {
		case !v.isDifferent(comparison): // only counts as compared
		case comparison.Ratio < 1:
			less++
		default:
			more++
		}
	}
	base := contenderTitle(v.r, v.baseline)
	moreClause := ""
	if more > 0 {
		moreClause = fmt.Sprintf("; %d %s more", more, format.Choose(more, "takes", "take"))
	}
	text := ""
	switch {
	case compared == 0:
		text = "Nothing counts on " + v.workload
	case less+more == 0:
		text = fmt.Sprintf("On %s, no difference from %s is shown", v.workload, base)
	case less == 0:
		text = fmt.Sprintf("On %s, none of %d takes %s than %s", v.workload, compared, m.Less, base) + moreClause
	default:
		text = fmt.Sprintf("On %s, %d of %d %s %s than %s", v.workload, less, compared, format.Choose(less, "takes", "take"), m.Less, base) + moreClause
	}
	return oneLine(text)
}

// noiseFactor returns the factor by which equal programs seem to differ, or 0 if unknown.
func noiseFactor(r *tare.Result, workload, metric string) float64 {
	floor := tare.NoiseFloor(r.Comparisons, workload, metric) // a natural logarithm; 0 means unknown
	if floor == 0 {
		return 0
	}
	return math.Exp(floor)
}

func newPanel(r *tare.Result, works []string) Panel {
	p := Panel{Name: oneLine(strings.Join(works, panelSeparator))}
	var rows []Rival
	for i, id := range works {
		v := newView(r, id)
		p.Noise = append(p.Noise, noiseFactor(r, id, v.leadingMetric()))
		for _, c := range slices.Concat(v.ranked, v.statusOnly) {
			row := slices.IndexFunc(rows, func(x Rival) bool { return x.ID == c.ID })
			if isNew := row < 0; isNew {
				row = len(rows)
				rows = append(rows, Rival{ID: c.ID, Name: oneLine(c.Title()), Note: rivalNote(v, c), Base: c.ID == v.baseline})
			}
			line := v.newRivalLine(c)
			line.Work = i
			if len(works) > 1 {
				line.Workload = oneLine(id)
			}
			rows[row].Lines = append(rows[row].Lines, line)
		}
	}
	slices.SortStableFunc(rows, func(a, b Rival) int { return cmp.Compare(a.sortKey(), b.sortKey()) })
	p.Rows, p.Rest = chooseRivals(rows, findSubject(r))
	return p
}

// sortKey returns the ratio by which rows are sorted. Rows without a ratio come last.
func (x Rival) sortKey() float64 {
	if x.Base {
		return 1
	}
	for _, l := range x.Lines {
		if l.Ratio > 0 {
			return l.Ratio
		}
	}
	return math.Inf(1)
}

// chooseRivals splits sorted rows into shown ones and the rest. It always shows the best, the baseline, the worst,
// and the subject.
func chooseRivals(rows []Rival, subject string) (shown, rest []Rival) {
	if len(rows) <= maxRivals {
		return rows, nil
	}
	worst := 0 // index of the last row with a ratio
	for i, x := range rows {
		if hasRatio := !math.IsInf(x.sortKey(), 1); hasRatio {
			worst = i
		}
	}
	for i, x := range rows {
		if i < maxBestRivals || i == worst || x.Base || x.ID == subject {
			shown = append(shown, x)
			continue
		}
		rest = append(rest, x)
	}
	return shown, rest
}

// findSubject returns the contender that the study's question is about, or "" if nothing was compared. It is from the first
// criterion, else the first measured claim, else the best on the first workload.
func findSubject(r *tare.Result) string {
	for _, v := range listRulings(r) {
		if v.Contender != r.Baseline() {
			return v.Contender
		}
	}
	for _, c := range r.Claims {
		if c.Kind == tare.ClaimRatio && c.Measured > 0 && c.Outcome != tare.VoidAsPublished {
			return c.Contender
		}
	}
	for _, id := range contestWorks(r) {
		for _, c := range newView(r, id).ranked {
			if c.ID != r.Baseline() {
				return c.ID
			}
		}
	}
	return ""
}

const (
	maxRivalNote = 26 // characters of a note
	maxStepNote  = 70 // characters of a note about a step
)

// rivalNote returns the note of a contender in the chart. It is a step of a decomposition (stepNote), a role, or a
// module such as "chi v5.1.0". Packages of the standard library have none.
func rivalNote(v *view, c tare.Contender) string {
	if c.ID == v.baseline {
		return "baseline"
	}
	if note := stepNote(v.r, c.ID); note != "" {
		note = format.Clip(oneLine(note), maxStepNote)
		if c.Role == tare.RoleApart {
			note += "; status only"
		}
		return note
	}
	if c.Role == tare.RoleApart {
		return "status only"
	}
	if c.Version == "" || c.Version == c.Go {
		return ""
	}
	parts := strings.Split(c.Name, "/")
	name := parts[len(parts)-1]
	isMajor := strings.HasPrefix(name, "v") && len(name) < len("v100") // the path ends with /v2 to /v99
	if isMajor && len(parts) > 1 {
		name = parts[len(parts)-2]
	}
	return format.Clip(oneLine(name+" "+c.Version), maxRivalNote)
}

// stepNote returns the contender and the cause before id in a decomposition: "parse + encoding". Names alone do
// not show what a step adds. It returns "" if no step leads to id.
func stepNote(r *tare.Result, id string) string {
	for _, d := range r.Decomposition {
		for _, step := range d.Steps {
			if step.To == id {
				return contenderTitle(r, step.From) + " + " + step.Cause
			}
		}
	}
	return ""
}

// newRivalLine returns the ratio of a contender by the leading metric, or why it is missing. The caller sets Work
// and Workload.
func (v *view) newRivalLine(c tare.Contender) RivalLine {
	metric := v.leadingMetric()
	line := RivalLine{Claims: v.newRivalClaims(c.ID, metric)}
	if c.ID == v.baseline {
		line.Text = "1×"
		if value, ok := v.findValue(c.ID, metric); ok {
			line.Says = formatMedian(value)
		}
		return line
	}
	comparison, ok := v.findComparison(c.ID, metric)
	voids := append(v.voidsMetric(c.ID, metric), v.voidsMetric(v.baseline, metric)...)
	switch {
	case len(voids) > 0:
		line.Text = "void"
		line.Says = "void by " + voids[0].Check
	case !ok || !(comparison.Ratio > 0):
		line.Text = noValue
		line.Says = "not compared"
	default:
		v.addComparison(&line, comparison)
	}
	return line
}

// addComparison sets the ratio, interval and side of line, with their texts. x.Ratio must be above 0.
func (v *view) addComparison(line *RivalLine, x tare.Comparison) {
	line.Ratio = x.Ratio
	line.Text = format.Headline(x.Ratio) + "×"
	switch {
	case x.Exact:
		line.Detail = "exactly"
	case x.Bounded():
		line.Low, line.High = x.Low, x.High
		line.Detail = format.Headline(x.Low) + "–" + format.Headline(x.High)
	default:
		line.Detail = "no interval yet"
	}
	isNoiseKnown := tare.NoiseFloor(v.r.Comparisons, v.workload, x.Metric) != 0
	switch {
	case !v.isDifferent(x) && isNoiseKnown:
		line.Side, line.Says = "same", "≈ inside the noise"
	case !v.isDifferent(x):
		line.Side, line.Says = "same", "≈ no difference shown"
	case x.Ratio < 1:
		line.Side, line.Says = "less", "▼ "+formatLess(x.Ratio)
	default:
		line.Side, line.Says = "more", "▲ "+formatMore(x.Ratio)
	}
}

// formatMedian prints a value with three digits and its unit: 2.31 µs.
func formatMedian(x tare.Value) string {
	s := newScale(x.Unit, []float64{x.Value})
	unit, _, _ := strings.Cut(s.unit, "/")
	return format.Digits(x.Value/s.divisor, 3) + " " + unit
}

// formatLess prints a ratio below 1: "29 % less", "1/12 of it".
func formatLess(x float64) string {
	if x < 0.1 {
		return "1/" + format.Digits(1/x, 2) + " of it"
	}
	return formatPercent(math.Round((1-x)*100)/100) + " less"
}

// formatMore prints a ratio above 1: "40 % more", "2.5 times".
func formatMore(x float64) string {
	if x >= 2 {
		return format.Digits(x, 2) + " times"
	}
	return formatPercent(math.Round((x-1)*100)/100) + " more"
}

// listNamedRatios returns the limits and published ratios for a contender, the smallest first. It merges those
// closer than sameRatio. newRivalClaims sets Text.
func listNamedRatios(r *tare.Result, contender, workload, metric string) []RivalClaim {
	var out []RivalClaim
	findOrAdd := func(value float64) *RivalClaim {
		for i, c := range out {
			if math.Abs(math.Log(c.Value/value)) < sameRatio {
				return &out[i]
			}
		}
		out = append(out, RivalClaim{Value: value, Printed: value})
		return &out[len(out)-1]
	}
	for _, verdict := range listRulings(r) {
		isAbout := verdict.Contender == contender && verdict.Workload == workload && verdict.Metric == metric
		hasLimit := verdict.Rule.Kind == tare.RuleRatio && verdict.Rule.Limit > 0
		if !isAbout || !hasLimit {
			continue
		}
		sign := "≥"
		if verdict.Rule.AtMost {
			sign = "≤"
		}
		findOrAdd(verdict.Rule.Limit).Asked = sign
	}
	for _, c := range r.Claims {
		isAbout := c.Contender == contender && c.Workload == workload && c.Metric == metric
		hasRatio := c.Kind == tare.ClaimRatio && c.Published > 0 && c.Published != 1 // the baseline is drawn at 1
		if !isAbout || !hasRatio {
			continue
		}
		named := findOrAdd(c.Published)
		named.Published, named.Printed = true, c.Published
	}
	slices.SortFunc(out, func(a, b RivalClaim) int { return cmp.Compare(a.Value, b.Value) })
	return out
}

func (c RivalClaim) sourceText() string {
	switch {
	case c.Asked != "" && c.Published:
		return "asked, published"
	case c.Published:
		return "published"
	}
	return "asked"
}

// formatValue prints the ratio. A limit has its sign.
func (c RivalClaim) formatValue() string {
	text := format.Limit(c.Printed) + "×"
	if c.Asked != "" && !c.Published {
		text = c.Asked + "\u00a0" + text // no-break space
	}
	return text
}

func (v *view) newRivalClaims(id, metric string) []RivalClaim {
	out := listNamedRatios(v.r, id, v.workload, metric)
	for i, c := range out {
		out[i].Text = c.sourceText() + " " + c.formatValue()
	}
	return out
}
