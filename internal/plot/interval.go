package plot

import (
	"html/template"
	"slices"
	"unicode/utf8"
)

// This file draws rows of a table: a ratio to the baseline with its interval, on an axis that all
// rows share. For example, a dot at 0.88× with a line from 0.86× to 0.90×.

// Classes of a mark: a measured program compared with the baseline.
const (
	Less = "less" // less than the baseline
	More = "more" // more than the baseline
	Same = "same" // no difference beyond the noise
)

// Scale is the background that rows of a table share. The rows show ratios to the baseline with
// their intervals. The background is an axis of ratios, with the noise as a band around 1.
type Scale struct {
	ID    string // id of the element that [Scale.Symbol] writes
	Axis  Axis
	Noise float64 // factor by which two identical programs seem to differ; at most 1 means unknown
}

// Symbol defines the background, with the noise as a band around 1. A page writes it once, and each
// row refers to it.
func (s Scale) Symbol() template.HTML {
	var d drawing
	d.WriteString(`<symbol id="` + s.ID + `">`)
	if s.Noise > 1 {
		low, high := s.Axis.At(1/s.Noise), s.Axis.At(s.Noise)
		d.addElement("rect", "band", "x", formatPercent(low), "width", formatPercent(high-low), "height", "100%")
		for _, edge := range []float64{low, high} {
			d.addElement("line", "edge", "x1", formatPercent(edge), "x2", formatPercent(edge), "y2", "100%")
		}
	}
	for _, t := range s.Axis.RatioTicks(tickDistance) {
		class := "rule"
		if t.Text == "1×" {
			class = "one"
		}
		d.addElement("line", class, "x1", formatPercent(t.At), "x2", formatPercent(t.At), "y2", "100%")
	}
	d.WriteString("</symbol>")
	return template.HTML(d.String()) //nolint:gosec // made of numbers and class names
}

// MarkSymbols defines the marks of rows. A page writes them once, before its first row.
func MarkSymbols() template.HTML {
	var d drawing
	for _, m := range []struct{ id, shape string }{
		{markOf(Less), `<circle class="m less" r="6"/>`},
		{markOf(More), `<rect class="m more" x="-6" y="-6" width="12" height="12"/>`},
		{markOf(Same), `<circle class="m same" r="6"/>`},
		{baseMark, `<rect class="base" x="-5" y="-12" width="10" height="24" rx="2"/>`},
		{limitMark, `<path class="claim" d="M0-8 8 0 0 8-8 0Z"/>`}, // a hollow diamond
		{publishedMark, `<path class="claim full" d="M0-8 8 0 0 8-8 0Z"/>`},
	} {
		d.WriteString(`<symbol id="` + m.id + `" overflow="visible"><svg y="50%" overflow="visible">` + m.shape + `</svg></symbol>`)
	}
	d.WriteString(`<symbol id="` + intervalMark + `"><line x2="100%" y1="50%" y2="50%"/></symbol>`)
	return template.HTML(d.String()) //nolint:gosec // constant
}

// Ids of the symbols of MarkSymbols. They are short, because a page repeats them in each row.
const (
	baseMark      = "mb"
	limitMark     = "ma" // of a claim that is a limit
	publishedMark = "mp" // of a claim that is a published value
	intervalMark  = "mi"
)

// markOf returns the id of the mark of a class, by default that of Same.
func markOf(class string) string {
	switch class {
	case Less:
		return "ml"
	case More:
		return "mm"
	}
	return "ms"
}

// tickDistance is the least distance of labels on an axis of ratios, as a share.
const tickDistance = 0.13

// Head draws the labels of the axis. base is the label at 1×, less the label on its left, and more
// the label on its right.
func (s Scale) Head(base, less, more string) template.HTML {
	var d drawing
	d.WriteString(`<svg width="100%" height="40" aria-hidden="true">`)
	one := s.Axis.At(1)
	if one > 0.3 { // room for the label
		d.addText("", "◀ "+less, "x", "0", "y", "14")
	}
	if one < 0.7 {
		d.addText("", more+" ▶", "x", "100%", "y", "14", "text-anchor", "end")
	}
	d.addText("strong", "= "+base, "x", formatPercent(one), "y", "14", "text-anchor", anchorAt(one))
	for _, t := range s.Axis.RatioTicks(tickDistance) {
		d.addText("", t.Text, "x", formatPercent(t.At), "y", "35", "text-anchor", anchorAt(t.At))
	}
	return d.closeDrawing()
}

// anchorAt returns the text anchor at a position, so that the text stays inside the drawing.
func anchorAt(at float64) string {
	switch {
	case at < 0.06:
		return "start"
	case at > 0.94:
		return "end"
	}
	return "middle"
}

// Claim is a value that a row is compared with, drawn as a diamond: a limit, or a published value.
type Claim struct {
	Value   float64
	Text    string
	IsLimit bool // else it is a published value
}

func (c Claim) markText() string {
	if c.IsLimit {
		return "◇"
	}
	return "◆"
}

// Interval is one row: an estimate with its bounds.
type Interval struct {
	Value, Low, High float64 // Value 0 draws only background and claims; Low or High 0 means no bounds
	Class            string  // Less, More, Same or "", which is drawn like Same
	Base             bool    // the row is of the baseline
	Claims           []Claim
}

// segment is a part of an axis, in shares.
type segment struct{ low, high float64 }

func (s segment) overlapsWith(o segment) bool { return s.low < o.high && o.low < s.high }

// Row draws an interval on the scale, with the height of its row. omitted has the marks and texts
// of claims for which there is no room.
func (s Scale) Row(x Interval) (svg template.HTML, omitted []string) {
	var d drawing
	d.WriteString(`<svg class="row" aria-hidden="true">`)
	d.addElement("use", "", "href", "#"+s.ID)
	value := s.Axis.At(x.Value)
	var taken []segment // marks and texts
	if x.Value > 0 {
		taken = append(taken, segment{low: value - halfMark, high: value + halfMark})
	}
	for _, c := range x.Claims {
		pos := s.Axis.At(c.Value)
		taken = append(taken, segment{low: pos - halfMark, high: pos + halfMark})
	}
	for _, c := range x.Claims {
		pos := s.Axis.At(c.Value)
		anchor, room := placeText(c.Text, pos, taken, len(x.Claims) == 1)
		if anchor != "" {
			taken = append(taken, room)
		}
		d.addClaim(c, pos, anchor)
		if anchor == "" && c.Text != "" {
			omitted = append(omitted, c.markText()+" "+c.Text)
		}
	}
	switch {
	case x.Base:
		d.addMark(baseMark, s.Axis.At(1))
	case x.Value > 0:
		if x.Low > 0 && x.High > 0 {
			low, high := s.Axis.At(x.Low), s.Axis.At(x.High)
			d.addElement("use", "i "+x.Class, "href", "#"+intervalMark, "x", formatPercent(low), "width", formatPercent(high-low))
		}
		d.addMark(markOf(x.Class), value)
	}
	return d.closeDrawing(), omitted
}

// Shares of the width of the drawing on a phone.
const (
	halfMark    = 0.02   // half the width of a mark
	outsideMark = 0.021  // distance of a text from the middle of its mark
	claimRoom   = 0.04   // from the middle of a claim's diamond to the end of an empty text
	claimLetter = 0.0238 // for each letter of a claim's text
)

// Anchors of a text next to a diamond, as SVG names them: the end of a text on the left of the diamond
// is next to it, and the start of a text on the right.
const (
	anchorLeft  = "end"
	anchorRight = "start"
)

// placeText returns the anchor of a text on the side of a diamond that has room for it, and that room.
// It tries the left side first, unless rightFirst is set. It returns "" if neither side has room.
func placeText(text string, pos float64, taken []segment, rightFirst bool) (anchor string, room segment) {
	width := claimRoom + claimLetter*float64(utf8.RuneCountInString(text))
	anchors := []string{anchorLeft, anchorRight}
	rooms := map[string]segment{
		anchorLeft:  {low: pos - width, high: pos - outsideMark},
		anchorRight: {low: pos + outsideMark, high: pos + width},
	}
	if rightFirst {
		slices.Reverse(anchors)
	}
	for _, anchor := range anchors {
		room := rooms[anchor]
		isInside := room.low >= 0 && room.high <= 1
		if isInside && !slices.ContainsFunc(taken, room.overlapsWith) {
			return anchor, room
		}
	}
	return "", segment{}
}

// addClaim draws the diamond of a claim, and its text at the anchor, or no text with "".
func (d *drawing) addClaim(c Claim, pos float64, anchor string) {
	mark := publishedMark
	if c.IsLimit {
		mark = limitMark
	}
	d.addMark(mark, pos)
	switch {
	case c.Text == "":
	case anchor == anchorRight:
		d.addText("strong", c.Text, "x", formatPercent(pos), "dx", "13", "y", "50%", "dy", "5")
	case anchor == anchorLeft:
		d.addText("strong", c.Text, "x", formatPercent(pos), "dx", "-13", "y", "50%", "dy", "5", "text-anchor", anchorLeft)
	}
}

// addMark draws a symbol of MarkSymbols in the middle of the row.
func (d *drawing) addMark(id string, pos float64) {
	d.addElement("use", "", "href", "#"+id, "x", formatPercent(pos))
}

// Bar draws a bar between two shares of the longest one.
func Bar(class string, start, end float64) template.HTML {
	var d drawing
	d.WriteString(`<svg class="bar" aria-hidden="true">`)
	start, end = min(max(start, 0), 1), min(max(end, 0), 1)
	d.addElement("rect", class, "x", formatPercent(min(start, end)), "width", formatPercent(max(start, end)-min(start, end)), "height", "14")
	return d.closeDrawing()
}

// LimitBar draws a bar from 0 to a value, and a line at its limit.
func LimitBar(class string, value, limit float64) template.HTML {
	const room = 1.25 // length of the drawing in limits
	end := max(value, limit*room)
	var d drawing
	d.WriteString(`<svg class="bar" aria-hidden="true">`)
	d.addElement("rect", class, "width", formatPercent(value/end), "height", "14")
	x := formatPercent(limit / end)
	d.addElement("line", "at", "x1", x, "x2", x, "y2", "100%")
	return d.closeDrawing()
}

// Part is a share of a total.
type Part struct {
	Class string
	Share float64
}

// Stack draws the parts of a total next to each other.
func Stack(parts []Part) template.HTML {
	var d drawing
	d.WriteString(`<svg width="100%" height="22" aria-hidden="true">`)
	start := 0.0
	for _, p := range parts {
		d.addElement("rect", p.Class, "x", formatPercent(start), "width", formatPercent(p.Share), "height", "22")
		start += p.Share
	}
	return d.closeDrawing()
}
