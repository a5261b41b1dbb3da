package profile

import (
	"encoding/xml"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Measures of a flame graph, in pixels unless they say otherwise.
const (
	graphWidth = 1200
	margin     = 10
	rowHeight  = 18
	headHeight = 54
	legendRow  = 18
	charWidth  = 6.63 // of the monospaced font at 11 px
	leastText  = 24   // narrower boxes have no text in them
	leastBox   = 0.5
	levelsMost = 120
	legendMost = 10 // packages
	hues       = 12 // in two shades each

	// maxSVG is the largest graph, in bytes: a page takes in no larger one.
	maxSVG = 150_000
)

// Flame draws the profile as one SVG that needs nothing else: callers above,
// what they call below, as wide as their share of the whole. A tooltip has the
// whole name and the figures. It reads in light and dark.
func (p *Profile) Flame(title string, ops int64) []byte {
	return p.fitting(title, func(boxes []box) look {
		colours := p.colours(boxes)
		return look{caption: p.caption(ops), legend: p.legend(colours), class: func(x box) string { return colours[packageOf(x.function)] }, said: p.said}
	})
}

// look is what a graph shows of its boxes.
type look struct {
	caption string
	legend  []entry
	style   string           // of classes that only this graph has
	class   func(box) string // its colour
	said    func(box) string // of its tooltip
}

// fitting draws as many boxes as a page has room for.
func (p *Profile) fitting(title string, look func([]box) look) []byte {
	tree := p.tree()
	for least := leastBox / (graphWidth - 2*margin); ; least *= 1.5 {
		boxes := tree.boxes(least, levelsMost)
		if svg := draw(title, boxes, look(boxes)); len(svg) <= maxSVG {
			return svg
		}
	}
}

// draw writes the graph of boxes.
func draw(title string, boxes []box, l look) []byte {
	rows := 0
	for _, b := range boxes {
		rows = max(rows, b.level+1)
	}
	legend := l.legend
	height := headHeight + rows*rowHeight + 2*margin + ((len(legend)+1)/2)*legendRow
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="tare-flame" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n",
		graphWidth, height, graphWidth, height, escaped(title))
	b.WriteString(style() + l.style)
	fmt.Fprintf(&b, `<rect class="ground" width="%d" height="%d"/>`+"\n", graphWidth, height)
	fmt.Fprintf(&b, `<text class="title" x="%d" y="22">%s</text>`+"\n", margin, escaped(cut(title, graphWidth-2*margin, 9.1)))
	fmt.Fprintf(&b, `<text class="small" x="%d" y="40">%s</text>`+"\n", margin, escaped(l.caption))
	for _, x := range boxes {
		drawBox(&b, x, l)
	}
	y := headHeight + rows*rowHeight + margin + 12
	for i, l := range legend {
		x := margin + (i%2)*(graphWidth-2*margin)/2
		at := y + (i/2)*legendRow
		fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%d" width="12" height="12" rx="2"/><text class="small" x="%d" y="%d">%s</text>`+"\n",
			l.class, x, at-10, x+18, at, escaped(cut(l.text, (graphWidth-2*margin)/2-24, charWidth)))
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// drawBox writes one box with its tooltip and as much of its name as fits.
func drawBox(b *strings.Builder, x box, l look) {
	const room = graphWidth - 2*margin
	left, width := margin+x.x*room, x.width*room
	top := headHeight + x.level*rowHeight
	fmt.Fprintf(b, `<g><title>%s</title><rect class="%s" x="%.1f" y="%d" width="%.1f" height="%d"/>`,
		escaped(l.said(x)), l.class(x), left, top, math.Max(width-0.5, 0.3), rowHeight-1)
	if width >= leastText {
		fmt.Fprintf(b, `<text x="%.1f" y="%d">%s</text>`, left+4, top+13, escaped(label(x.function, width-8)))
	}
	b.WriteString("</g>\n")
}

// said is what the tooltip of a box says.
func (p *Profile) said(x box) string {
	said := fmt.Sprintf("%s: %s, %s", x.function, p.amount(x.value), percent(x.value/p.Total))
	if x.own > 0 && x.own < x.value {
		said += fmt.Sprintf("; itself %s", p.amount(x.own))
	}
	return said
}

// label is as much of a function's name as fits: its package is left out first,
// which the colour tells too.
func label(function string, width float64) string {
	name := short(function)
	if _, own, ok := strings.Cut(name, "."); ok && own != "" && float64(utf8.RuneCountInString(name))*charWidth > width {
		name = own
	}
	return cut(name, width, charWidth)
}

// caption says what is drawn.
func (p *Profile) caption(ops int64) string {
	what := map[string]string{"nanoseconds": "of CPU time", "bytes": "allocated"}[p.Unit]
	if p.Total == 0 {
		return "nothing was seen " + map[string]string{"nanoseconds": "on a processor", "bytes": "to be allocated"}[p.Unit]
	}
	out := p.amount(p.Total) + " " + what
	if ops > 0 {
		out += fmt.Sprintf(" in %d operations, %s for each", ops, p.amount(p.Total/float64(ops)))
	}
	return out + ". Callers above, what they call below, as wide as their share; point at one for its figures."
}

// entry is a line of the legend.
type entry struct{ class, text string }

// legend names the packages that took most themselves. What belongs to the
// runtime is one of them, and system calls are.
func (p *Profile) legend(colours map[string]string) []entry {
	var shares []share
	own := map[string]float64{}
	for _, s := range p.packages() {
		name := legendName(s.name)
		if _, drawn := colours[s.name]; !drawn {
			continue
		}
		if _, has := own[name]; !has {
			shares = append(shares, share{s.name, 0})
		}
		own[name] += s.value
	}
	for i := range shares {
		shares[i].value = own[legendName(shares[i].name)]
	}
	slices.SortFunc(shares, func(a, b share) int { return order(a.value, b.value, a.name, b.name) })
	var out []entry
	for _, s := range shares[:min(legendMost, len(shares))] {
		out = append(out, entry{colours[s.name], fmt.Sprintf("%s: itself %s, %s", legendName(s.name), p.amount(s.value), percent(s.value/p.Total))})
	}
	return out
}

// Classes that are no package's.
const (
	ofRuntime = "rt"
	ofKernel  = "sys"
)

// common is the class of what is not a package of its own in a graph: system
// calls, and the runtime with the assembly that names no package. Empty: it is.
func common(name string) string {
	switch {
	case strings.HasPrefix(name, "internal/runtime/syscall"):
		return ofKernel
	case name == "" || name == "runtime" || strings.HasPrefix(name, "runtime/") || strings.HasPrefix(name, "internal/runtime/"):
		return ofRuntime
	}
	return ""
}

func legendName(name string) string {
	switch common(name) {
	case ofKernel:
		return "system calls"
	case ofRuntime:
		return "the Go runtime"
	}
	return name
}

// colours gives every package that is drawn a class: that of its name, or of
// the next free hue, those that took most first. Packages so keep their colours
// from one graph to the next, as far as there are hues enough.
func (p *Profile) colours(boxes []box) map[string]string {
	out := map[string]string{}
	taken := map[uint32]bool{}
	give := func(name string) {
		if _, has := out[name]; has {
			return
		}
		if out[name] = common(name); out[name] != "" {
			return
		}
		h := fnv.New32a()
		h.Write([]byte(name))
		hue := h.Sum32() % hues
		for i := range uint32(2 * hues) {
			at := (hue+5*i)%hues + i/hues*hues // 5 and 12 have no factor in common
			if !taken[at] {
				hue = at
				break
			}
		}
		taken[hue] = true
		out[name] = fmt.Sprintf("h%d", hue)
	}
	drawn := map[string]bool{}
	for _, b := range boxes {
		drawn[packageOf(b.function)] = true
	}
	for _, s := range p.packages() {
		if drawn[s.name] {
			give(s.name)
		}
	}
	for _, b := range boxes {
		give(packageOf(b.function))
	}
	return out
}

// style is the same in every graph, so that several can be part of one page.
func style() string {
	var b strings.Builder
	b.WriteString("<style>\n.tare-flame text{font:11px ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;fill:#1b1b1b;pointer-events:none}\n" +
		".tare-flame .title{font-size:15px;font-weight:600}.tare-flame .small{fill:#555}.tare-flame .ground{fill:#fff}.tare-flame .rt{fill:#d9d9d9}.tare-flame .sys{fill:#b4bcc6}\n" +
		".tare-flame g:hover rect{stroke:#000;stroke-width:1}\n")
	dark := "@media (prefers-color-scheme:dark){.tare-flame text{fill:#f0f0f0}.tare-flame .small{fill:#b0b0b0}.tare-flame .ground{fill:#16181c}.tare-flame .rt{fill:#44474c}.tare-flame .sys{fill:#5c6673}.tare-flame g:hover rect{stroke:#fff}\n"
	for i := range 2 * hues {
		hue, shade := i%hues*360/hues, i/hues
		fmt.Fprintf(&b, ".tare-flame .h%d{fill:hsl(%d,%d%%,%d%%)}", i, hue, 68-28*shade, 77-7*shade)
		dark += fmt.Sprintf(".tare-flame .h%d{fill:hsl(%d,%d%%,%d%%)}", i, hue, 45-15*shade, 34-6*shade)
	}
	b.WriteString("\n" + dark + "}\n</style>\n")
	return b.String()
}

// cut makes s fit so many pixels at so many a character.
func cut(s string, width, char float64) string {
	s = plain(s)
	fits := max(0, int(width/char))
	if utf8.RuneCountInString(s) <= fits {
		return s
	}
	if fits < 2 {
		return ""
	}
	return string([]rune(s)[:fits-1]) + "…"
}

// escaped is s as text or an attribute of XML.
func escaped(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(plain(s))); err != nil { // a Builder never fails
		return ""
	}
	return b.String()
}

// amount is a figure with its unit.
func (p *Profile) amount(v float64) string {
	scales := []struct {
		from float64
		unit string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}}
	if p.Unit == "bytes" {
		scales = []struct {
			from float64
			unit string
		}{{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}}
	}
	for _, s := range scales {
		if v >= s.from {
			return figure(v/s.from) + " " + s.unit
		}
	}
	return figure(v) + " " + scales[len(scales)-1].unit
}

// percent is a share of the whole.
func percent(x float64) string {
	if x >= 0.1 {
		return fmt.Sprintf("%.0f %%", 100*x)
	}
	return fmt.Sprintf("%.2g %%", 100*x)
}
