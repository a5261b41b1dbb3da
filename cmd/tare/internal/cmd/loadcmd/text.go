package loadcmd

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/loadpage"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/report"
)

// This file writes the report about one server for a terminal: the rate, the latencies, the errors,
// and what limited the rate.

const grpcCodes = 17 // OK (0) to UNAUTHENTICATED (16)

// loadPage collects the lines of the report about one server. Each method writeX writes a section,
// or nothing if there is nothing to report.
type loadPage struct {
	b        strings.Builder
	style    report.Style
	document load.Document // describes result
	result   *load.Result
	unit     loadpage.Unit // unit of all latencies, chosen for their median
}

func writeLoad(w io.Writer, r *load.Result, d load.Document, st report.Style, loadText string) error {
	p := &loadPage{style: st, document: d, result: r, unit: loadpage.UnitFor(d.Latency.P50)}
	fmt.Fprintln(&p.b, cmdenv.Paint(st.Bold, d.URL))
	p.writeParagraph(loadText)
	if d.Interrupted {
		fmt.Fprintln(&p.b, "  "+cmdenv.Paint(st.Warn, "interrupted: this is what there was until then"))
	}
	if d.Search != nil {
		p.writeTransfer()
		p.writeSearch()
	} else {
		p.writeRate()
		p.writeLatency()
		p.writePlot()
		p.writeResponses()
		p.writeTransfer()
		p.writeTimeline()
		p.writeDrift()
		p.writeObjectives()
		p.writeProfile()
		p.writeGenerators()
	}
	p.writeLimit()
	_, err := io.WriteString(w, p.b.String())
	return err
}

func (p *loadPage) writeHeading(title string) {
	fmt.Fprintf(&p.b, "\n%s\n", cmdenv.Paint(p.style.Bold, title))
}

// whichStep returns " of the last step" for the headings of a search, whose report shows that step.
// Otherwise it returns "".
func (p *loadPage) whichStep() string {
	if p.document.Search != nil {
		return " of the last step"
	}
	return ""
}

func (p *loadPage) writeParagraph(text string) {
	cmdenv.Paragraph(&p.b, "  ", "    ", text, p.style.Width)
}

func (p *loadPage) writeLabelled(label, text string) {
	cmdenv.Paragraph(&p.b, fmt.Sprintf("  %-10s  ", label), strings.Repeat(" ", 14), text, p.style.Width)
}

func (p *loadPage) writeRate() {
	d := p.document
	p.writeHeading("RATE")
	p.writeLabelled("answered", loadpage.FormatRate(d.RequestsPerSecond)+" requests per second")
	if d.RateAsked > 0 {
		text := fmt.Sprintf("%s requests per second (%s)", loadpage.FormatRate(d.RateAsked), d.Profile)
		if d.Late > 0 {
			text += fmt.Sprintf("; %s were due and not sent when the time was over", loadpage.FormatCount(d.Late))
		}
		p.writeLabelled("asked", text)
	}
	p.writeLabelled("requests", fmt.Sprintf("%s sent, %s answered, %s failed", loadpage.FormatCount(d.Sent), loadpage.FormatCount(d.Requests), loadpage.FormatCount(d.Failed())))
	connections := format.Count(d.Connections, "connection")
	if d.Streams > 1 {
		connections += fmt.Sprintf(" of %d streams", d.Streams)
	}
	p.writeLabelled("under way", fmt.Sprintf("%s requests in the mean, on %s (%s opened)", loadpage.FormatDecimal(d.Concurrency, 2), connections, loadpage.FormatCount(d.ConnectionsOpened)))
	if d.Resent > 0 {
		p.writeLabelled("sent again", format.Count(int(d.Resent), "time")+", because the server said it had not looked at the request")
	}
}

func (p *loadPage) writeLatency() {
	if p.document.Latency.Count == 0 {
		return
	}
	type column struct {
		title string
		l     load.Latencies
	}
	columns := []column{{"latency", p.document.Latency}, {"first byte", p.document.FirstByte}, {"connect", p.document.Connect}}
	if p.document.TLS != nil {
		columns = append(columns, column{"handshake", p.document.TLS.Handshake})
	}
	definition := "from sending a request to the last byte of its answer"
	if p.document.RateAsked > 0 {
		columns = slices.Insert(columns, 1, column{"service", p.document.Service})
		definition = "from the time a request was meant to be sent to the last byte of its answer; service counts from sending it"
	}
	p.writeHeading("LATENCY, " + p.unit.Name)
	p.writeParagraph(definition)
	writeRow := func(label string, value func(load.Latencies) float64) {
		fmt.Fprintf(&p.b, "  %-6s", label)
		for _, c := range columns {
			text := "–"
			if c.l.Count > 0 {
				text = p.unit.Format(value(c.l))
			}
			fmt.Fprintf(&p.b, "  %12s", text)
		}
		fmt.Fprintln(&p.b)
	}
	fmt.Fprintf(&p.b, "  %-6s", "")
	for _, c := range columns {
		fmt.Fprintf(&p.b, "  %12s", c.title)
	}
	fmt.Fprintln(&p.b)
	writeRow("min", func(l load.Latencies) float64 { return float64(l.Min) })
	writeRow("mean", func(l load.Latencies) float64 { return l.Mean })
	writeRow("sd", func(l load.Latencies) float64 { return l.SD })
	for _, q := range tablePercentiles() {
		writeRow(q.name, func(l load.Latencies) float64 { return float64(q.value(l)) })
	}
	writeRow("max", func(l load.Latencies) float64 { return float64(l.Max) })
	if p.document.RateAsked > 0 {
		p.writeParagraph(fmt.Sprintf("requests were sent up to %s %s late (p99), which is in their latencies", p.unit.Format(float64(p.document.SendLagP99)), p.unit.Name))
	}
}

type percentile struct {
	name  string
	value func(load.Latencies) int64 // in ns
}

func tablePercentiles() []percentile {
	return []percentile{
		{"p50", func(l load.Latencies) int64 { return l.P50 }},
		{"p75", func(l load.Latencies) int64 { return l.P75 }},
		{"p90", func(l load.Latencies) int64 { return l.P90 }},
		{"p95", func(l load.Latencies) int64 { return l.P95 }},
		{"p99", func(l load.Latencies) int64 { return l.P99 }},
		{"p99.9", func(l load.Latencies) int64 { return l.P999 }},
	}
}

func (p *loadPage) writeResponses() {
	p.writeHeading("ANSWERS")
	var statuses, errors []string
	for _, code := range slices.Sorted(maps.Keys(p.document.Statuses)) {
		statuses = append(statuses, code+": "+loadpage.FormatCount(p.document.Statuses[code]))
	}
	if len(p.document.Codes) > 0 {
		statuses = nil
		for code := range grpcCodes {
			if n := p.document.Codes[strconv.Itoa(code)]; n > 0 {
				statuses = append(statuses, fmt.Sprintf("%d %s: %s", code, load.CodeName(code), loadpage.FormatCount(n)))
			}
		}
	}
	for _, class := range load.Classes() {
		if n := p.document.Errors[string(class)]; n > 0 {
			errors = append(errors, string(class)+": "+loadpage.FormatCount(n))
		}
	}
	p.writeLabelled("statuses", joinOrNone(statuses))
	p.writeLabelled("errors", joinOrNone(errors))
	if p.document.FirstError != "" {
		p.writeLabelled("the first", oneLine(p.document.FirstError))
	}
}

func joinOrNone(texts []string) string { return cmp.Or(strings.Join(texts, ", "), "none") }

func (p *loadPage) writeTransfer() {
	d := p.document
	p.writeHeading("TRANSFER" + p.whichStep())
	p.writeLabelled("in", fmt.Sprintf("%s, %s per second; bodies %s", loadpage.FormatBytes(d.BytesIn), loadpage.FormatBytes(int64(d.Path.In/8)), loadpage.FormatBytes(d.BodyIn)))
	p.writeLabelled("out", fmt.Sprintf("%s, %s per second; bodies %s", loadpage.FormatBytes(d.BytesOut), loadpage.FormatBytes(int64(d.Path.Out/8)), loadpage.FormatBytes(d.BodyOut)))
	text := fmt.Sprintf("making a connection takes %s", loadpage.FormatTime(d.Path.RoundTrip))
	if d.Path.Delay > 0 {
		text = fmt.Sprintf("a round trip takes %s, of which the relay adds %s", loadpage.FormatTime(d.Path.RoundTrip), loadpage.FormatTime(d.Path.Delay))
	}
	text += fmt.Sprintf("; it carried %s in and %s out", loadpage.FormatBitRate(d.Path.In), loadpage.FormatBitRate(d.Path.Out))
	if d.Path.Bandwidth > 0 {
		text += fmt.Sprintf(", of the relay's %s", loadpage.FormatBitRate(float64(d.Path.Bandwidth)))
	}
	p.writeLabelled("path", text)
	if s := d.TLS; s != nil {
		p.writeLabelled("TLS", fmt.Sprintf("%s, %s of them resumed, in %s each (p50)", format.Count(int(s.Handshakes), "handshake"), loadpage.FormatCount(s.Resumed), loadpage.FormatTime(s.Handshake.P50)))
	}
	p.writeLabelled("client", loadpage.FormatCPU(d.ClientCPUSeconds, d.Requests))
	if d.ServerCPUSeconds > 0 {
		p.writeLabelled("server", loadpage.FormatCPU(d.ServerCPUSeconds, d.Requests))
	}
}

func (p *loadPage) writeDrift() {
	if len(p.document.Drift) == 0 {
		return
	}
	p.writeHeading(fmt.Sprintf("DRIFT over %s s, each interval at 95 %%", loadpage.FormatDecimal(p.document.Seconds, 0)))
	for _, d := range p.document.Drift {
		colour, word := p.style.Dim, "not shown"
		if d.Shown {
			colour, word = p.style.Warn, "shown"
		}
		fmt.Fprintf(&p.b, "  %s  %-14s %s\n", cmdenv.Paint(colour, fmt.Sprintf("%-10s", word)), loadpage.DriftName(d), loadpage.DescribeDrift(d))
	}
}

func (p *loadPage) writeObjectives() {
	if len(p.document.SLO) == 0 {
		return
	}
	p.writeHeading("OBJECTIVES")
	for _, k := range p.document.SLO {
		value := loadpage.FormatTime(int64(k.Value))
		if strings.HasPrefix(k.Objective, "errors") {
			value = loadpage.FormatDecimal(k.Value*100, 3) + " %"
		}
		fmt.Fprintf(&p.b, "  %s  %s: measured %s\n", p.formatRuling(k.Verdict), k.Objective, value)
	}
}

func (p *loadPage) formatRuling(r tare.Ruling) string {
	colour := p.style.Warn
	switch r {
	case tare.Met:
		colour = p.style.Good
	case tare.NotMet, tare.VoidRuling:
		colour = p.style.Bad
	}
	return cmdenv.Paint(colour, fmt.Sprintf("%-12s", strings.ToUpper(string(r))))
}

func (p *loadPage) writeSearch() {
	s := p.document.Search
	p.writeHeading("SEARCH for the most requests per second with " + s.Objectives)
	p.writeSteps(s.Steps)
	cmdenv.Paragraph(&p.b, "  "+p.formatRuling(s.Verdict)+"  ", strings.Repeat(" ", 16), s.Sentence, p.style.Width)
}

func (p *loadPage) writeProfile() {
	if len(p.document.Steps) > 0 {
		p.writeHeading("STEPS, each of the requests due in it")
		p.writeSteps(p.document.Steps)
	}
}

func (p *loadPage) writeSteps(list []load.Stepped) {
	fmt.Fprintf(&p.b, "  %11s  %10s  %11s  %9s  %9s  %8s  %s\n", "connections", "asked /s", "answered /s", "p50 ms", "p99 ms", "errors %", "objectives")
	for _, step := range list {
		rate := "–" // a closed loop
		if step.RateAsked > 0 {
			rate = loadpage.FormatRate(step.RateAsked)
		}
		text := string(step.Verdict)
		if step.Why != "" {
			text += ": " + step.Why
		}
		fmt.Fprintf(&p.b, "  %11d  %10s  %11s  %9s  %9s  %8s  %s\n", step.Connections, rate, loadpage.FormatRate(step.RequestsPerSecond),
			loadpage.FormatDecimal(float64(step.P50)/1e6, 3), loadpage.FormatDecimal(float64(step.P99)/1e6, 3), loadpage.FormatDecimal(step.ErrorShare*100, 2), text)
	}
}

func (p *loadPage) writeLimit() {
	p.writeHeading("LIMIT" + p.whichStep())
	name, colour := p.document.Limit, p.style.Bold
	if load.Limit(name) == load.LimitClient {
		colour = p.style.Bad
	}
	p.writePainted(name, colour, p.document.LimitWhy+".")
	for _, f := range p.document.Findings {
		colour := p.style.Dim
		switch f.Severity {
		case tare.Void:
			colour = p.style.Bad
		case tare.Warn:
			colour = p.style.Warn
		}
		text := f.Check + ": " + f.Message + "."
		if f.Advice != "" {
			text += " " + strings.ToUpper(f.Advice[:1]) + f.Advice[1:] + "."
		}
		p.writePainted(string(f.Severity), colour, text)
	}
	if !p.document.Capacity && p.document.Sent > 0 && p.document.Search == nil {
		p.writePainted("", nil, "Do not read the rate above as what the server can do.")
	}
}

func (p *loadPage) writePainted(label string, colour func(string) string, text string) {
	for i, line := range cmdenv.Wrap(text, p.style.Width, 14) {
		if i > 0 {
			label = ""
		}
		fmt.Fprintf(&p.b, "  %s  %s\n", cmdenv.Paint(colour, fmt.Sprintf("%-10s", label)), line)
	}
}
