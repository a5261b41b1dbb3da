package html

import (
	"encoding/base64"
	"fmt"
	"html/template"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/report"
)

// finding is what a check saw, and what the check looks at.
type finding struct {
	report.Item
	Explained string
}

func (b *builder) findings(items []report.Item) []finding {
	var out []finding
	told := map[string]bool{}
	for _, it := range items {
		f := finding{Item: it}
		if b.o.Explain != nil && !told[it.Check] {
			told[it.Check] = true
			f.Explained = report.Legible(b.o.Explain(it.Check))
		}
		out = append(out, f)
	}
	return out
}

// choices are what the page can be narrowed to.
type choices struct {
	Contenders, Workloads, Metrics, Baselines []choice
	Baseline, Metric                          string
}

// choice is a value and how it is called.
type choice struct{ Value, Name string }

func (b *builder) choices() choices {
	var c choices
	c.Baseline = b.contender(b.base)
	for _, x := range b.r.Contenders {
		named := choice{b.contender(x.ID), report.Legible(x.Title())}
		c.Contenders = append(c.Contenders, named)
		if slices.ContainsFunc(b.r.Rounds, func(e tare.Effects) bool { return e.A == x.ID || e.B == x.ID }) {
			c.Baselines = append(c.Baselines, named)
		}
	}
	for _, w := range b.r.Workloads {
		c.Workloads = append(c.Workloads, choice{b.workload(w.ID), report.Legible(w.ID)})
	}
	for _, m := range b.r.Metrics {
		if slices.ContainsFunc(b.r.Comparisons, func(x tare.Comparison) bool { return x.Metric == m }) {
			c.Metrics = append(c.Metrics, choice{b.metric(m), report.Legible(m)})
		}
	}
	return c
}

// rate is the table that the reader's own rate is compared with.
type rate struct {
	Metric   string
	Requests string // what operations are called
	Asked    string // rate to begin with
	Grid     *grid
}

// rate is what contenders cost at a rate that the reader gives: the page only
// multiplies.
func (b *builder) rate() part {
	p := part{ID: keyRate, Key: keyRate, Heading: "What it costs at your rate", Level: 2}
	metric := "cpu"
	if !slices.Contains(b.r.Metrics, metric) {
		metric = "time"
	}
	g := &grid{Key: keyRate, Caption: "CPU time per operation, and what it comes to", Head: []report.Column{
		{Name: "contender"}, {Name: "workload"}, {Name: metric, Unit: "ns/op", Right: true},
		{Name: "cores in use", Right: true}, {Name: "core-hours", Unit: "a month", Right: true}, {Name: "price", Unit: "a month", Right: true},
	}}
	for _, w := range b.r.Workloads {
		for _, c := range b.r.Contenders {
			v, ok := b.value(w.ID, c.ID, metric)
			if !ok || c.Role != tare.RoleBaseline && c.Role != tare.RoleContender && c.Role != tare.RoleApart {
				continue
			}
			g.Rows = append(g.Rows, line{
				Row: report.Row{Who: c.ID, Cells: []report.Field{
					{Text: report.Legible(c.Title())}, {Text: report.Legible(w.ID)}, {Text: report.Grouped(v.Value)}, {Text: "–"}, {Text: "–"}, {Text: "–"},
				}},
				Data: map[string]string{"ns": strconv.FormatFloat(v.Value, 'g', -1, 64), "work": w.ID},
			})
		}
	}
	if len(g.Rows) == 0 {
		return p
	}
	asked := "1000"
	for _, c := range b.r.Cost {
		if c.Rate > 0 {
			asked = strconv.FormatFloat(c.Rate, 'f', -1, 64)
			break
		}
	}
	p.Blocks = []block{
		{Text: fmt.Sprintf("cores in use = rate × %s per operation ÷ 1,000,000,000 ns; core-hours a month = cores × 730 h; price = core-hours × the price of one. "+
			"The %[1]s per operation is the result's median over rounds, measured under this study's load; a service that does other work besides uses that too.", metric)},
		{Rate: &rate{Metric: metric, Requests: "operations", Asked: asked, Grid: g}},
	}
	return p
}

// flame is a flame graph.
type flame struct {
	Title  string
	Source template.URL // the picture itself
}

// mostFlame is how long a flame graph may be that a page takes in, in bytes.
const mostFlame = 150_000

// flamed is where the files of a profile are, and its flame graph.
func (b *builder) flamed(x report.Block) []block {
	if i, err := strconv.Atoi(x.About); err == nil && i >= 0 && i < len(b.r.Profiles) {
		p := b.r.Profiles[i]
		return b.picture(x, p.Flame, fmt.Sprintf("Flame graph of %s on %s, %s: width is share; the table above it names the functions with the most of their own, and the file beside the result shows the figures of what is pointed at", p.Contender, p.Workload, p.Of))
	}
	return b.picture(x, "", "")
}

// differences is the flame graph of an explanation.
func (b *builder) differences(x report.Block) []block {
	if i, err := strconv.Atoi(x.About); err == nil && i >= 0 && i < len(b.r.Explanations) {
		e := b.r.Explanations[i]
		return b.picture(x, e.Flame, fmt.Sprintf("Flame graph of %s and %s on %s: width is what both take together; red is more in %[2]s, blue is less. The list above it names what differs", e.Against, e.Contender, e.Workload))
	}
	return b.picture(x, "", "")
}

// picture is a flame graph where it can be read, and what else x says.
func (b *builder) picture(x report.Block, file, title string) []block {
	var out []block
	if b.o.Files != nil && fs.ValidPath(file) && file != "." {
		svg, err := fs.ReadFile(b.o.Files, file)
		if err == nil && len(svg) > 0 && len(svg) <= mostFlame && strings.Contains(string(svg), "<svg") {
			out = append(out, block{Flame: &flame{
				Title:  report.Legible(title),
				Source: template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg)), //nolint:gosec // a picture: scripts in it do not run
			}})
		}
	}
	if x.Text != "" {
		out = append(out, block{Text: x.Text, Mark: x.Mark})
	}
	return out
}

// repeat says how to do it again.
func (b *builder) repeat() part {
	p := part{ID: keyRepeat, Key: keyRepeat, Heading: "Do it again", Level: 2}
	p.Blocks = []block{
		{Text: "Download the result document and let tare repeat the run and compare the new figures with these:"},
		{Repeat: []string{"tare rerun ./" + saved(b.r)}},
	}
	if b.r.Seed != "" {
		p.Blocks = append(p.Blocks, block{Text: "The order of rounds, trials and slices follows from the seed " + report.Legible(b.r.Seed) + "; --seed takes another.", Mark: report.Dim})
	}
	if b.r.Tare != "" {
		p.Blocks = append(p.Blocks, block{Text: "Measured by tare " + report.Legible(b.r.Tare) + ".", Mark: report.Dim})
	}
	var built []report.Item
	for _, c := range b.r.Contenders {
		text := c.String()
		if c.Go != "" {
			text += ", built with " + c.Go
		}
		if len(c.Flags) > 0 {
			text += ", " + strings.Join(c.Flags, " ")
		}
		if c.SHA256 != "" {
			text += ", sha256 " + c.SHA256
		}
		built = append(built, report.Item{Label: report.Legible(c.Title()), Text: report.Legible(text)})
	}
	if len(built) > 0 {
		p.Blocks = append(p.Blocks, block{Folded: &folded{"Versions and binaries", []block{{Items: built}}}})
	}
	return p
}
