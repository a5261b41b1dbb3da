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

// This file draws flame graphs as SVG. Each function is a box, with its callees below it and a width
// in proportion to its cost.

// Dimensions of a flame graph, in pixels unless noted.
const (
	graphWidth   = 1200
	margin       = 10
	rowHeight    = 18
	headHeight   = 54
	legendRow    = 18
	charWidth    = 6.63 // monospaced font at 11 px
	minTextWidth = 24   // narrower boxes have no text
	minBoxWidth  = 0.5  // narrower boxes are omitted
	maxLevels    = 120  // rows of boxes
	maxLegend    = 10   // packages in the legend
	hues         = 12   // each in two shades

	// maxSVG limits a graph in bytes, so that a page can include several.
	maxSVG = 150_000
)

// graphLook has the colours and texts of a flame graph.
type graphLook struct {
	caption string
	legend  []legendEntry    // nil for no legend
	style   string           // CSS in addition to baseStyles
	class   func(box) string // CSS class of the colour of a box
	tooltip func(box) string
}

// Flame draws the profile of ops operations as a flame graph, a standalone SVG. Each function is a
// box, with its callees below it. The graph has colours for light and dark pages.
func (p *Profile) Flame(title string, ops int64) []byte {
	return p.drawToFit(title, func(boxes []box) graphLook {
		colours := p.chooseColours(boxes)
		return graphLook{
			caption: p.formatCaption(ops),
			legend:  p.buildLegend(colours),
			class:   func(x box) string { return colours[PackageOf(x.function)] },
			tooltip: p.tooltip,
		}
	})
}

// drawToFit draws the graph with as many boxes as fit: it raises their minimum width until the SVG
// has at most maxSVG bytes. look returns the look of a graph with some boxes.
func (p *Profile) drawToFit(title string, look func([]box) graphLook) []byte {
	tree := p.buildTree()
	for minWidth := minBoxWidth / (graphWidth - 2*margin); ; minWidth *= 1.5 {
		boxes := tree.layOut(minWidth, maxLevels)
		if svg := drawGraph(title, boxes, look(boxes)); len(svg) <= maxSVG {
			return svg
		}
	}
}

func drawGraph(title string, boxes []box, look graphLook) []byte {
	rows := 0
	for _, x := range boxes {
		rows = max(rows, x.level+1)
	}
	legendRows := (len(look.legend) + 1) / 2 // two entries in a row
	height := headHeight + rows*rowHeight + 2*margin + legendRows*legendRow
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="tare-flame" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n",
		graphWidth, height, graphWidth, height, escapeXML(title))
	b.WriteString(baseStyles() + look.style)
	fmt.Fprintf(&b, `<rect class="ground" width="%d" height="%d"/>`+"\n", graphWidth, height)
	fmt.Fprintf(&b, `<text class="title" x="%d" y="22">%s</text>`+"\n", margin, escapeXML(truncate(title, graphWidth-2*margin, 9.1)))
	fmt.Fprintf(&b, `<text class="small" x="%d" y="40">%s</text>`+"\n", margin, escapeXML(look.caption))
	for _, x := range boxes {
		drawBox(&b, x, look)
	}
	firstBaseline := headHeight + rows*rowHeight + margin + 12
	for i, entry := range look.legend {
		x := margin + (i%2)*(graphWidth-2*margin)/2
		baseline := firstBaseline + (i/2)*legendRow
		fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%d" width="12" height="12" rx="2"/><text class="small" x="%d" y="%d">%s</text>`+"\n",
			entry.class, x, baseline-10, x+18, baseline, escapeXML(truncate(entry.text, (graphWidth-2*margin)/2-24, charWidth)))
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

func drawBox(b *strings.Builder, x box, look graphLook) {
	const room = graphWidth - 2*margin
	left, width := margin+x.x*room, x.width*room
	top := headHeight + x.level*rowHeight
	fmt.Fprintf(b, `<g><title>%s</title><rect class="%s" x="%.1f" y="%d" width="%.1f" height="%d"/>`,
		escapeXML(look.tooltip(x)), look.class(x), left, top, math.Max(width-0.5, 0.3), rowHeight-1)
	if width >= minTextWidth {
		fmt.Fprintf(b, `<text x="%.1f" y="%d">%s</text>`, left+4, top+13, escapeXML(fitName(x.function, width-8)))
	}
	b.WriteString("</g>\n")
}

func (p *Profile) tooltip(x box) string {
	text := fmt.Sprintf("%s: %s, %s", x.function, p.formatAmount(x.value), formatPercent(x.value/p.Total))
	if x.self > 0 && x.self < x.value {
		text += fmt.Sprintf("; itself %s", p.formatAmount(x.self))
	}
	return text
}

// fitName shortens the name of a function to width. It removes the package first, which the colour
// of the box shows as well.
func fitName(function string, width float64) string {
	name := shortName(function)
	fits := float64(utf8.RuneCountInString(name))*charWidth <= width
	if _, withoutPackage, _ := strings.Cut(name, "."); !fits && withoutPackage != "" {
		name = withoutPackage
	}
	return truncate(name, width, charWidth)
}

func (p *Profile) formatCaption(ops int64) string {
	if p.Total == 0 {
		return "nothing was seen " + map[string]string{"nanoseconds": "on a processor", "bytes": "to be allocated"}[p.Unit]
	}
	out := p.formatAmount(p.Total) + " " + map[string]string{"nanoseconds": "of CPU time", "bytes": "allocated"}[p.Unit]
	if ops > 0 {
		out += fmt.Sprintf(" in %d operations, %s for each", ops, p.formatAmount(p.Total/float64(ops)))
	}
	return out + ". Callers above, what they call below, as wide as their share; point at one for its figures."
}

type legendEntry struct{ class, text string }

// buildLegend returns the drawn packages with the largest values. The packages of the runtime share
// one entry, and those of system calls another.
func (p *Profile) buildLegend(colours map[string]string) []legendEntry {
	var shares []share           // the first package of each entry
	sums := map[string]float64{} // by legendName
	for _, s := range p.sumPackages() {
		name := legendName(s.name)
		if _, isDrawn := colours[s.name]; !isDrawn {
			continue
		}
		if _, isListed := sums[name]; !isListed {
			shares = append(shares, share{name: s.name})
		}
		sums[name] += s.value
	}
	for i := range shares {
		shares[i].value = sums[legendName(shares[i].name)]
	}
	slices.SortFunc(shares, func(a, b share) int { return compareValues(a.value, b.value, a.name, b.name) })
	var out []legendEntry
	for _, s := range shares[:min(maxLegend, len(shares))] {
		out = append(out, legendEntry{
			class: colours[s.name],
			text:  fmt.Sprintf("%s: itself %s, %s", legendName(s.name), p.formatAmount(s.value), formatPercent(s.value/p.Total)),
		})
	}
	return out
}

const (
	runtimeClass = "rt"
	kernelClass  = "sys"
)

// sharedClass returns the CSS class of a package of system calls or of the runtime. It returns ""
// for other packages.
func sharedClass(name string) string {
	switch {
	case strings.HasPrefix(name, "internal/runtime/syscall"):
		return kernelClass
	case name == "" || name == "runtime" || strings.HasPrefix(name, "runtime/") || strings.HasPrefix(name, "internal/runtime/"):
		return runtimeClass
	}
	return ""
}

func legendName(name string) string {
	switch sharedClass(name) {
	case kernelClass:
		return "system calls"
	case runtimeClass:
		return "the Go runtime"
	}
	return name
}

// chooseColours returns the CSS class of each drawn package. Packages with large values choose
// first.
func (p *Profile) chooseColours(boxes []box) map[string]string {
	isDrawn := map[string]bool{}
	for _, b := range boxes {
		isDrawn[PackageOf(b.function)] = true
	}
	var names []string
	for _, s := range p.sumPackages() {
		names = append(names, s.name)
	}
	for _, b := range boxes { // packages without a value of their own
		names = append(names, PackageOf(b.function))
	}
	classes := map[string]string{}
	taken := map[uint32]bool{}
	for _, name := range names {
		if classes[name] != "" || !isDrawn[name] {
			continue
		}
		if classes[name] = sharedClass(name); classes[name] == "" {
			hue := freeHue(name, taken)
			taken[hue] = true
			classes[name] = fmt.Sprintf("h%d", hue)
		}
	}
	return classes
}

// freeHue returns the number of a free hue. It begins with the hash of the package's name, so that
// the package mostly has the same colour in all graphs. If all are taken, two packages share one.
func freeHue(name string, taken map[uint32]bool) uint32 {
	h := fnv.New32a()
	h.Write([]byte(name))
	first := h.Sum32() % hues
	for i := range uint32(2 * hues) {
		// Steps of 5 reach all 12 hues, as 5 and 12 have no common factor. After them, i/hues is 1:
		// the second shade, numbers 12 to 23.
		if next := (first+5*i)%hues + i/hues*hues; !taken[next] {
			return next
		}
	}
	return first
}

// baseStyles returns the CSS of a graph. It is the same for all graphs, so that a page can have
// several.
func baseStyles() string {
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

// truncate shortens s to width pixels, at char pixels per character. It returns "" if less than two
// characters fit.
func truncate(s string, width, char float64) string {
	s = replaceControls(s)
	fits := max(0, int(width/char))
	if utf8.RuneCountInString(s) <= fits {
		return s
	}
	if fits < 2 {
		return ""
	}
	return string([]rune(s)[:fits-1]) + "…"
}

func escapeXML(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(replaceControls(s))); err != nil {
		return "" // cannot happen: a Builder returns no errors
	}
	return b.String()
}

func (p *Profile) formatAmount(v float64) string {
	units := []string{"ns", "µs", "ms", "s"}
	if p.Unit == "bytes" {
		units = []string{"B", "kB", "MB", "GB"}
	}
	for i := len(units) - 1; i > 0; i-- {
		if size := math.Pow10(3 * i); v >= size {
			return formatValue(v/size) + " " + units[i]
		}
	}
	return formatValue(v) + " " + units[0]
}

func formatPercent(x float64) string {
	if x >= 0.1 {
		return fmt.Sprintf("%.0f %%", 100*x)
	}
	return fmt.Sprintf("%.2g %%", 100*x)
}
