// Package loadpage writes the result of a load test as an HTML page ([Write]) and as OpenMetrics
// ([WriteMetrics]). It serves the same page during the run ([Watch]). It also formats the numbers of
// reports.
package loadpage

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/plot"
	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/report/html"
)

//go:embed page.html
var pageText string

//go:embed watch.js
var watchScript string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"keepUnits": format.KeepUnits, "stepName": stepName}).Parse(pageText))

// stepName returns the title of a column of the table of steps.
func stepName(i int) string {
	return []string{"connections", "asked /s", "answered /s", "p50", "p99", "errors", "objectives"}[i]
}

// Page is the result of a load test, or of the part that is over.
type Page struct {
	Document load.Document
	Result   *load.Result // result for charts; may be nil
	How      string       // how requests are sent, in words
	Origin   string       // when and on what machine it was measured, in words; "" means the run is not over
}

// shell is the data of the template "page": the content, with the head of the HTML document.
type shell struct {
	Policy, URL string
	Style       template.CSS
	Script      template.JS
	Content     *content
}

// content contains the texts and charts of a page. page.html refers to its fields.
type content struct {
	URL, How, Headline string
	Origin             string
	Second             string // sentences below the headline: what limited the rate, and the number of requests
	Interrupted        string // message that the run was interrupted, or ""
	Sign, Mark         string // ✓, ✕ or ?, and its CSS class, for all objectives together; "" if there are none
	Overview           []pair
	Columns            []string // titles of the table of latencies
	Rows               []row
	Quantiles, Time    template.HTML // charts; "" if there is too little to draw
	Errors, Statuses   []pair
	FirstError         string
	Objectives         []verdict
	Drift              []pair       // measurements, with or without drift
	Generators         []pair       // load generators on several machines
	Search             *searchTable // nil if the run did not search for the highest rate
	Steps              [][]string   // rows of the steps of a rate profile
	Findings           []finding
	Warned             bool // a finding is void or a warning
}

type pair struct{ Name, Value string }

type row struct {
	Name  string
	Cells []string
}

// verdict is a row of the table of objectives. Mark is the CSS class of Sign.
type verdict struct {
	Mark, Sign, Ruling, Objective, Measured string
	Bar                                     template.HTML // measured value, with a line at the limit
}

type finding struct{ Mark, Severity, Check, Text string }

type searchTable struct {
	Mark, Ruling, Sentence, Objectives string
	Steps                              [][]string
}

// Write writes p as one standalone file without a script.
func Write(w io.Writer, p Page) error {
	const noScript, noDirectives = "", ""
	return writePage(w, p, noScript, noDirectives)
}

// writePage writes p as a page with a script, which may be "". The content security policy permits only
// the style, the script and directives.
func writePage(w io.Writer, p Page, script, directives string) error {
	style := html.Style()
	s := shell{
		Policy: html.Policy(style, script) + directives, URL: p.Document.URL, Content: newContent(p),
		Style: template.CSS(style), Script: template.JS(script), //nolint:gosec // compiled in
	}
	return writeTemplate(w, "page", s)
}

func writeTemplate(w io.Writer, name string, data any) error {
	var b bytes.Buffer
	if err := pageTemplate.ExecuteTemplate(&b, name, data); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

func newContent(p Page) *content {
	d := p.Document
	c := &content{URL: d.URL, How: p.How, Origin: p.Origin, Headline: formatHeadline(d), Second: formatLimit(d) + describeBasis(d), FirstError: d.FirstError, Overview: listCounts(d)}
	if d.Interrupted {
		c.Interrupted = "Interrupted: this is what there was until then."
	}
	c.addDistributions(d)
	if p.Result != nil {
		c.drawCharts(d, p.Result)
	}
	c.addResponses(d)
	c.judgeObjectives(d.SLO)
	c.addGenerators(d.Generators)
	for _, x := range d.Drift {
		text := DescribeDrift(x)
		if !x.Shown {
			text += ": no drift shown"
		}
		c.Drift = append(c.Drift, pair{DriftName(x), text})
	}
	c.addSearch(d.Search)
	c.Steps = stepRows(d.Steps)
	c.addFindings(d.Findings)
	return c
}

func (c *content) drawCharts(d load.Document, r *load.Result) {
	curves := []namedHist{{"latency", r.Latency}}
	if d.RateAsked > 0 {
		curves = append(curves, namedHist{"service, from sending", r.Service})
	}
	curves = append(curves, namedHist{"first byte", r.FirstByte})
	limits := limitsOf(d.SLO)
	c.Quantiles = drawQuantiles(curves, limits)
	if len(r.Timeline) > 1 {
		c.Time = drawTime(mergeSeconds(r.Timeline, maxSpans), limits)
	}
}

const grpcCodes = 17 // number of gRPC statuses, OK (0) to UNAUTHENTICATED (16)

func (c *content) addResponses(d load.Document) {
	for _, class := range load.Classes() {
		if n := d.Errors[string(class)]; n > 0 {
			c.Errors = append(c.Errors, pair{string(class), FormatCount(n)})
		}
	}
	for _, code := range slices.Sorted(maps.Keys(d.Statuses)) {
		c.Statuses = append(c.Statuses, pair{"HTTP " + code, FormatCount(d.Statuses[code])})
	}
	for code := range grpcCodes {
		if n := d.Codes[strconv.Itoa(code)]; n > 0 {
			c.Statuses = append(c.Statuses, pair{fmt.Sprintf("grpc-status %d %s", code, load.CodeName(code)), FormatCount(n)})
		}
	}
}

func (c *content) addGenerators(all []load.Generated) {
	for _, g := range all {
		text := fmt.Sprintf("%s requests per second, p50 %s, p99 %s; its clock was %+.2f ± %.2f ms off; limit: %s", FormatRate(g.RequestsPerSecond),
			FormatTime(g.P50), FormatTime(g.P99), float64(g.ClockOffset)/1e6, float64(g.ClockUncertain)/1e6, g.Limit)
		if g.Lost != "" {
			text = "lost: " + format.Line(g.Lost, format.LineLimit)
		}
		c.Generators = append(c.Generators, pair{format.Line(g.Name, 80), text})
	}
}

func (c *content) addFindings(all []load.Remark) {
	marks := map[tare.Severity]string{tare.Void: "bad", tare.Warn: "warn"} // CSS classes
	for _, f := range all {
		text := f.Message + "."
		if f.Advice != "" {
			text += " " + strings.ToUpper(f.Advice[:1]) + f.Advice[1:] + "."
		}
		c.Warned = c.Warned || f.Severity != tare.Note
		c.Findings = append(c.Findings, finding{Mark: marks[f.Severity], Severity: string(f.Severity), Check: f.Check, Text: text})
	}
}

// describeBasis returns a sentence with the number of requests, and that one run shows no interval.
// It returns "" without requests, or if several steps or machines show how far values vary.
func describeBasis(d load.Document) string {
	isRepeated := len(d.Steps) > 1 || len(d.Generators) > 1 || d.Search != nil
	if d.Requests == 0 || isRepeated {
		return ""
	}
	return fmt.Sprintf(" One run of %s requests, so without intervals: repeat it to see how far it varies.", FormatCount(d.Requests))
}

// judgeObjectives adds a row for each objective, and the worst sign of all: ✕, then ?, then ✓.
func (c *content) judgeObjectives(all []load.Kept) {
	for _, k := range all {
		v := verdict{Mark: classOf(k.Verdict), Sign: markOf(k.Verdict), Ruling: string(k.Verdict), Objective: k.Objective, Measured: FormatTime(int64(k.Value))}
		if strings.HasPrefix(k.Objective, "errors") {
			v.Measured = FormatDecimal(k.Value*100, 3) + " %"
		}
		if slo, err := load.ParseSLO(k.Objective); err == nil && slo[0].Limit > 0 { // one objective
			class := "b2" // CSS class of a bar within the limit
			if k.Value > slo[0].Limit {
				class = "b1" // the colour of too much
			}
			v.Bar = plot.LimitBar(class, k.Value, slo[0].Limit)
		}
		c.Objectives = append(c.Objectives, v)
		isWorse := v.Sign == "✕" || v.Sign == "?" && c.Sign == "✓"
		if c.Sign == "" || isWorse {
			c.Sign, c.Mark = v.Sign, v.Mark
		}
	}
}

func limitsOf(all []load.Kept) []plot.Limit {
	var out []plot.Limit
	for _, k := range all {
		if slo, err := load.ParseSLO(k.Objective); err == nil && !slo[0].Errors {
			out = append(out, plot.Limit{At: slo[0].Limit, Name: k.Objective})
		}
	}
	return out
}

func markOf(r tare.Ruling) string {
	switch classOf(r) {
	case "good":
		return "✓"
	case "bad":
		return "✕"
	}
	return "?"
}

func formatHeadline(d load.Document) string {
	switch {
	case d.Limit == "":
		return "Nothing is measured yet."
	case d.Requests == 0:
		return "No request was answered."
	}
	text := ""
	if d.Limit == string(load.LimitClient) {
		text = "Void, the load generator was too slow: "
	}
	text += FormatRate(d.RequestsPerSecond) + " requests per second"
	if d.RateAsked > 0 {
		text += " of " + FormatRate(d.RateAsked) + " asked for"
	}
	text += ", p50 " + FormatTime(d.Latency.P50) + ", p99 " + FormatTime(d.Latency.P99)
	if failed := d.Failed(); failed > 0 {
		return text + ", " + FormatCount(failed) + " errors."
	}
	return text + ", no errors."
}

func formatLimit(d load.Document) string {
	if d.Limit == "" {
		return ""
	}
	isClient := d.Limit == string(load.LimitClient)
	text := "Limit: " + d.Limit + ". "
	switch {
	case isClient:
		text = "Limit: the load generator itself. "
	case d.Limit == string(load.LimitNone) && d.Sent > 0:
		text = "Nothing limited the rate. " // "none" could be read as one of the objectives
	}
	if d.LimitWhy != "" {
		text += strings.ToUpper(d.LimitWhy[:1]) + d.LimitWhy[1:] + "."
	}
	switch {
	case isClient:
		text += " Read neither rate nor latencies as those of the server."
	case !d.Capacity && d.Sent > 0 && d.Search == nil:
		text += " Do not read the rate as what the server can do."
	}
	return text
}

func listCounts(d load.Document) []pair {
	out := []pair{
		{"measured", FormatDecimal(d.Seconds, 1) + " s"},
		{"requests", fmt.Sprintf("%s sent, %s answered, %s failed", FormatCount(d.Sent), FormatCount(d.Requests), FormatCount(d.Failed()))},
		{"under way", FormatDecimal(d.Concurrency, 2) + " in the mean"},
		{"connections", fmt.Sprintf("%s, opened %s times", FormatCount(int64(d.Connections)), FormatCount(d.ConnectionsOpened))},
	}
	if d.Profile != "" {
		out = append(out, pair{"asked", d.Profile})
	}
	if d.Late > 0 {
		out = append(out, pair{"not sent in time", FormatCount(d.Late)})
	}
	out = append(out, pair{"received", FormatBytes(d.BytesIn) + ", " + FormatBitRate(d.Path.In)}, pair{"sent", FormatBytes(d.BytesOut) + ", " + FormatBitRate(d.Path.Out)})
	if s := d.TLS; s != nil {
		out = append(out, pair{"handshakes", fmt.Sprintf("%s, %s resumed, %s each (p50)", FormatCount(s.Handshakes), FormatCount(s.Resumed), FormatTime(s.Handshake.P50))})
	}
	out = append(out, pair{"client", FormatCPU(d.ClientCPUSeconds, d.Requests)})
	if d.ServerCPUSeconds > 0 {
		out = append(out, pair{"server", FormatCPU(d.ServerCPUSeconds, d.Requests)})
	}
	return out
}

func (c *content) addDistributions(d load.Document) {
	if d.Latency.Count == 0 {
		return
	}
	type column struct {
		title     string
		latencies load.Latencies
	}
	unit := UnitFor(d.Latency.P50)
	columns := []column{{"latency, " + unit.Name, d.Latency}, {"service", d.Service}, {"first byte", d.FirstByte}}
	if d.Connect.Count > 0 {
		columns = append(columns, column{"connect", d.Connect})
	}
	for _, col := range columns {
		c.Columns = append(c.Columns, col.title)
	}
	for _, statistic := range []struct {
		name  string
		value func(load.Latencies) float64
	}{
		{"min", func(l load.Latencies) float64 { return float64(l.Min) }},
		{"mean", func(l load.Latencies) float64 { return l.Mean }},
		{"p50", func(l load.Latencies) float64 { return float64(l.P50) }},
		{"p90", func(l load.Latencies) float64 { return float64(l.P90) }},
		{"p95", func(l load.Latencies) float64 { return float64(l.P95) }},
		{"p99", func(l load.Latencies) float64 { return float64(l.P99) }},
		{"p99.9", func(l load.Latencies) float64 { return float64(l.P999) }},
		{"max", func(l load.Latencies) float64 { return float64(l.Max) }},
	} {
		r := row{Name: statistic.name}
		for _, col := range columns {
			r.Cells = append(r.Cells, unit.Format(statistic.value(col.latencies)))
		}
		c.Rows = append(c.Rows, r)
	}
}

func (c *content) addSearch(s *load.SearchSummary) {
	if s == nil {
		return
	}
	c.Search = &searchTable{Mark: classOf(s.Verdict), Ruling: string(s.Verdict), Sentence: s.Sentence, Objectives: s.Objectives}
	c.Search.Steps = stepRows(s.Steps)
}

// stepRows returns the rows of a table of steps, with cells in the order of stepName.
func stepRows(list []load.Stepped) (rows [][]string) {
	for _, step := range list {
		rate := "–" // a closed loop
		if step.RateAsked > 0 {
			rate = FormatRate(step.RateAsked)
		}
		text := string(step.Verdict)
		if step.Why != "" {
			text += ": " + step.Why
		}
		rows = append(rows, []string{
			strconv.Itoa(step.Connections), rate, FormatRate(step.RequestsPerSecond), FormatTime(step.P50), FormatTime(step.P99), FormatDecimal(step.ErrorShare*100, 2) + " %", text,
		})
	}
	return rows
}

func classOf(r tare.Ruling) string {
	switch r {
	case tare.Met:
		return "good"
	case tare.NotMet, tare.VoidRuling:
		return "bad"
	}
	return "warn"
}
