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

// Contest is the first chart of a page: ratios to the baseline on one axis.
type Contest struct {
	Title, Means string
	Headline     string  // headline of a page without an answer; "" if the criteria have a better one
	Order        string  // order of the rows, in words
	Base         string  // title of the baseline
	Less, More   string  // meaning of the two sides of the axis
	Panels       []Panel // empty if nothing was compared
	Quiet        []Quiet // between two revisions: the benchmarks without a change; nil on other pages
}

// Quiet is a group of benchmarks that show no change, but would have shown a change of Size or more.
type Quiet struct {
	Size  string  // percentage
	Names string  // the first benchmarks of the group
	Count int     // number of benchmarks in the group
	Share float64 // Count as a share of all benchmarks that show no change
}

// Panel is the chart of one or two workloads.
type Panel struct {
	Name  string
	Noise []float64 // factor by which identical programs seem to differ, for each workload; 0 means unknown
	Rows  []Rival   // best first
	Rest  []Rival   // contenders that are omitted from Rows
}

// Rival is the row of one contender in a panel.
type Rival struct {
	ID, Name, Note string
	Base           bool        // the contender is the baseline
	Lines          []RivalLine // one for each workload of the panel that the contender has data of
}

// RivalLine is the ratio of a contender on one workload. If there is no ratio, Ratio is 0 and Says gives the
// reason. A line of the baseline has no Ratio either: its Text is 1× and Says is the value.
type RivalLine struct {
	Work             int    // index in Panel.Noise
	Workload         string // "" if the panel has only one workload
	Ratio, Low, High float64
	Side             string // less, more or same; "" if there is no ratio
	Text             string // printed ratio
	Says             string // ratio in words
	Detail           string // printed interval
	Claims           []RivalClaim
}

// RivalClaim is a ratio that is the limit of a criterion, a published ratio, or both.
type RivalClaim struct {
	Value     float64
	Printed   float64 // the published ratio if there is one, which can differ slightly from Value; otherwise Value
	Asked     string  // sign of the criterion, ≤ or ≥; "" if no criterion has this limit
	Published bool
	Text      string // in words
}

const (
	panelWorks    = 2    // workloads of a panel
	maxPanels     = 2    // panels of a page; the other workloads are among all ratios (AllRatios)
	maxRivals     = 8    // rows of a panel
	maxBestRivals = 6    // of these rows, the best contenders
	sameRatio     = 0.03 // ratios whose logarithms differ by less are drawn as one
)

// newContest returns the first chart of r. It has no panels if nothing was compared.
func newContest(r *tare.Result) Contest {
	if IsBench(r) {
		return newBenchContest(r)
	}
	works := contestWorks(r)
	c := Contest{Base: contenderTitle(r, r.Baseline()), Less: "less", More: "more", Order: "best first"}
	for pair := range slices.Chunk(works[:min(len(works), panelWorks*maxPanels)], panelWorks) {
		if p := newPanel(r, pair); len(p.Rows) > 1 {
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
	c.Means = fmt.Sprintf("%s of one %s, as a multiple of %s’s. Logarithmic axis: the same distance is the same factor.", upperFirst(m.Noun), operationNoun(v), c.Base)
	return c
}

// operationNoun returns the name of one operation of the workload: request or operation.
func operationNoun(v *view) string {
	if v.hasRequests() {
		return "request"
	}
	return "operation"
}

// contestWorks returns the workloads with a ratio: those of criteria first, then those of claims, then the others.
// It exchanges the first two if the second has more ratios.
func contestWorks(r *tare.Result) []string {
	var out []string
	add := func(id string) {
		isMeasured := slices.ContainsFunc(r.Workloads, func(w tare.Workload) bool { return w.ID == id })
		if !isMeasured || slices.Contains(out, id) {
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
	for _, v := range listRulings(r) {
		add(v.Workload)
	}
	for _, c := range r.Claims {
		if c.Kind == tare.ClaimRatio && c.Measured > 0 {
			add(c.Workload)
		}
	}
	for _, w := range r.Workloads {
		add(w.ID)
	}
	if len(out) > 1 && countCompared(r, out[1]) > countCompared(r, out[0]) {
		out[0], out[1] = out[1], out[0]
	}
	return out
}

// countCompared returns the number of ranked contenders with a ratio to the baseline on a workload.
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

// contestTitle returns the number of contenders that take significantly less and more than the baseline on the
// workload, as a sentence without a full stop.
func contestTitle(v *view, m tare.Metric) string {
	less, more, all := 0, 0, 0
	for _, c := range slices.Concat(v.ranked, v.statusOnly) {
		x, ok := v.findComparison(c.ID, m.Name)
		if !ok || c.ID == v.baseline || len(v.voidsMetric(c.ID, m.Name)) > 0 {
			continue
		}
		all++
		switch {
		case !v.isDifferent(x): // only counted in all
		case x.Ratio < 1:
			less++
		default:
			more++
		}
	}
	base, on := contenderTitle(v.r, v.baseline), "On "+v.workload+", "
	others := ""
	if more > 0 {
		others = fmt.Sprintf("; %d %s more", more, chooseForm(more, "takes", "take"))
	}
	switch {
	case all == 0:
		return oneLine("Nothing counts on " + v.workload)
	case less+more == 0:
		return oneLine(fmt.Sprintf("%sno difference from %s is shown", on, base))
	case less == 0:
		return oneLine(fmt.Sprintf("%snone of %d takes %s than %s%s", on, all, m.Less, base, others))
	}
	return oneLine(fmt.Sprintf("%s%d of %d %s %s than %s%s", on, less, all, chooseForm(less, "takes", "take"), m.Less, base, others))
}

// chooseForm returns the form of a word for n things.
func chooseForm(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// newPanel returns the chart of one or two workloads. A contender has one row with a line for each workload.
func newPanel(r *tare.Result, works []string) Panel {
	p := Panel{Name: oneLine(strings.Join(works, " · "))}
	var rows []Rival
	for i, id := range works {
		v := newView(r, id)
		noise := tare.NoiseFloor(r.Comparisons, id, v.leadingMetric())
		if noise > 0 {
			noise = math.Exp(noise)
		}
		p.Noise = append(p.Noise, noise)
		for _, c := range slices.Concat(v.ranked, v.statusOnly) {
			row := slices.IndexFunc(rows, func(x Rival) bool { return x.ID == c.ID })
			if row < 0 {
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

// sortKey returns the ratio that rows are sorted by; rows without a ratio come last.
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

// chooseRivals splits sorted rows into those that are shown and the rest. If there are more than maxRivals rows, it
// shows the best maxBestRivals, the baseline, the worst with a ratio, and the subject of the study.
func chooseRivals(rows []Rival, subject string) (shown, rest []Rival) {
	if len(rows) <= maxRivals {
		return rows, nil
	}
	worst := 0
	for i, x := range rows {
		if !math.IsInf(x.sortKey(), 1) {
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

// findSubject returns the id of the contender that the study's question is about: the contender of the first
// criterion or, without criteria, of the first measured claim about a ratio, otherwise the best contender on the
// first workload. It returns "" if nothing was compared.
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

const maxRivalNote = 26 // characters

// rivalNote returns the last part of a contender's module path and its version, "baseline" or "status only". It
// returns "" for packages of the standard library, which have the version of Go.
func rivalNote(v *view, c tare.Contender) string {
	if c.ID == v.baseline {
		return "baseline"
	}
	if c.Role == tare.RoleApart {
		return "status only"
	}
	if c.Version == "" || c.Version == c.Go {
		return ""
	}
	parts := strings.Split(c.Name, "/")
	name := parts[len(parts)-1]
	if isMajor := strings.HasPrefix(name, "v") && len(name) < len("v100"); isMajor && len(parts) > 1 {
		name = parts[len(parts)-2]
	}
	return truncateText(oneLine(name+" "+c.Version), maxRivalNote)
}

// newRivalLine returns the ratio of a contender by the leading metric, or the reason why it has no ratio.
func (v *view) newRivalLine(c tare.Contender) RivalLine {
	metric := v.leadingMetric()
	line := RivalLine{Claims: v.newRivalClaims(c.ID, metric)}
	if c.ID == v.baseline {
		line.Text = "1×"
		if x, ok := v.findValue(c.ID, metric); ok {
			s := newScale(x.Unit, []float64{x.Value})
			unit, _, _ := strings.Cut(s.unit, "/")
			line.Says = formatDigits(x.Value/s.divisor, 3) + " " + unit
		}
		return line
	}
	x, ok := v.findComparison(c.ID, metric)
	voids := append(v.voidsMetric(c.ID, metric), v.voidsMetric(v.baseline, metric)...)
	switch {
	case len(voids) > 0:
		line.Text, line.Says = "void", "void by "+voids[0].Check
		return line
	case !ok || !(x.Ratio > 0):
		line.Text, line.Says = nothing, "not compared"
		return line
	}
	line.Ratio, line.Text = x.Ratio, formatShortRatio(x.Ratio)+"×"
	switch {
	case x.Exact:
		line.Detail = "exactly"
	case x.Bounded():
		line.Low, line.High, line.Detail = x.Low, x.High, formatShortRatio(x.Low)+"–"+formatShortRatio(x.High)
	default:
		line.Detail = "no interval yet"
	}
	switch {
	case !v.isDifferent(x):
		line.Side, line.Says = "same", "≈ inside the noise"
		if tare.NoiseFloor(v.r.Comparisons, v.workload, metric) == 0 {
			line.Says = "≈ no difference shown"
		}
	case x.Ratio < 1:
		line.Side, line.Says = "less", "▼ "+formatLess(x.Ratio)
	default:
		line.Side, line.Says = "more", "▲ "+formatMore(x.Ratio)
	}
	return line
}

// formatLess prints a ratio below 1 as the percentage that is saved, or below 0.1 as a fraction.
func formatLess(x float64) string {
	if x < 0.1 {
		return "1/" + formatDigits(1/x, 2) + " of it"
	}
	return formatPercent(math.Round((1-x)*100)/100) + " less"
}

// formatMore prints a ratio above 1 as the percentage that is added, or from 2 on as a multiple.
func formatMore(x float64) string {
	if x >= 2 {
		return formatDigits(x, 2) + " times"
	}
	return formatPercent(math.Round((x-1)*100)/100) + " more"
}

// formatShortRatio prints a ratio for a headline: two decimals, or two significant digits.
func formatShortRatio(x float64) string {
	switch {
	case !(x > 0) || math.IsInf(x, 1):
		return nothing
	case x >= 10:
		return format.Grouped(x, 0)
	case x >= 0.1:
		return formatFixed(x, 2)
	}
	return formatDigits(x, 2)
}

// listNamedRatios returns the limits of criteria and the published ratios of a contender on a workload, the
// smallest first and with an empty Text. Ratios that differ by less than sameRatio are merged.
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
	for _, x := range listRulings(r) {
		isAbout := x.Contender == contender && x.Workload == workload && x.Metric == metric
		if !isAbout || x.Rule.Kind != tare.RuleRatio || !(x.Rule.Limit > 0) {
			continue
		}
		sign := "≥"
		if x.Rule.AtMost {
			sign = "≤"
		}
		findOrAdd(x.Rule.Limit).Asked = sign
	}
	for _, c := range r.Claims {
		isAbout := c.Contender == contender && c.Workload == workload && c.Metric == metric
		if !isAbout || c.Kind != tare.ClaimRatio || !(c.Published > 0) || c.Published == 1 { // 1 is where the baseline is drawn
			continue
		}
		claim := findOrAdd(c.Published)
		claim.Published, claim.Printed = true, c.Published
	}
	slices.SortFunc(out, func(a, b RivalClaim) int { return cmp.Compare(a.Value, b.Value) })
	return out
}

// sourceText returns the source of the ratio: a criterion, a publication, or both.
func (c RivalClaim) sourceText() string {
	switch {
	case c.Asked != "" && c.Published:
		return "asked, published"
	case c.Published:
		return "published"
	}
	return "asked"
}

// formatValue prints the ratio, with its sign if it is only the limit of a criterion.
func (c RivalClaim) formatValue() string {
	text := formatLimit(c.Printed) + "×"
	if c.Asked != "" && !c.Published {
		text = c.Asked + "\u00a0" + text // a space at which lines do not break
	}
	return text
}

// newRivalClaims returns the named ratios of a contender, in words.
func (v *view) newRivalClaims(id, metric string) []RivalClaim {
	out := listNamedRatios(v.r, id, v.workload, metric)
	for i, c := range out {
		out[i].Text = c.sourceText() + " " + c.formatValue()
	}
	return out
}

// formatLimit prints a limit or published ratio without trailing zeros.
func formatLimit(x float64) string {
	text := formatShortRatio(x)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
