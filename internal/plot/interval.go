package plot

import (
	"html/template"
	"slices"
	"unicode/utf8"
)

// Classes of marks.
const (
	Less = "less" // less than the baseline
	More = "more" // more than the baseline
	Same = "same" // no difference beyond the noise
)

// Scale is the shared background of some rows: an axis of ratios, and the noise on it.
type Scale struct {
	ID    string // id of the element that [Scale.Symbol] writes
	Axis  Axis
	Noise float64 // factor by which two identical programs seem to differ; at most 1 means unknown
}

// Symbol defines the background: lines at the ticks, the noise as a band around 1, and the line of no
// difference. A page writes it once, and each row refers to it.
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

// tickDistance is the least distance of two labels on an axis of ratios, as a share.
const tickDistance = 0.13

// Head draws the labels of the axis. base is the label at 1×, less the label on the left of it and more the
// label on the right.
func (s Scale) Head(base, less, more string) template.HTML {
	var d drawing
	d.WriteString(`<svg width="100%" height="40" aria-hidden="true">`)
	one := s.Axis.At(1)
	if one > 0.3 { // otherwise there is no room
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

// anchorAt returns the text anchor at a position, so that the text stays in the drawing.
func anchorAt(at float64) string {
	switch {
	case at < 0.06:
		return "start"
	case at > 0.94:
		return "end"
	}
	return "middle"
}

// Claim is a limit or a published value, with its text.
type Claim struct {
	Value float64
	Text  string
}

// Interval is one row: an estimate with its bounds.
type Interval struct {
	Value, Low, High float64 // Value 0 draws the background and claims only; Low or High 0 means no bounds
	Class            string  // Less, More, Same or ""
	Base             bool    // the row is of the baseline
	Claims           []Claim
}

// Row draws an interval on the scale, with the height of its row. omitted are the texts of claims for which
// there is no room.
func (s Scale) Row(x Interval) (svg template.HTML, omitted []string) {
	var d drawing
	d.WriteString(`<svg class="row" width="100%" height="100%" aria-hidden="true">`)
	d.addElement("use", "", "href", "#"+s.ID)
	const halfMark = 0.02 // half the width of a mark, as a share
	value := s.Axis.At(x.Value)
	var taken []segment // by marks and texts
	if x.Value > 0 {
		taken = append(taken, segment{value - halfMark, value + halfMark})
	}
	for _, c := range x.Claims {
		pos := s.Axis.At(c.Value)
		taken = append(taken, segment{pos - halfMark, pos + halfMark})
	}
	for i, c := range x.Claims {
		pos := s.Axis.At(c.Value)
		isFree := func(room segment) bool {
			return room.low >= 0 && room.high <= 1 && !slices.ContainsFunc(taken, room.overlapsWith)
		}
		room := claimRoom + claimLetter*float64(utf8.RuneCountInString(c.Text))
		before, after := segment{pos - room, pos - 0.021}, segment{pos + 0.021, pos + room} // just outside the mark
		side := ""
		for _, candidate := range []struct {
			side string
			room segment
		}{{"end", before}, {"start", after}} {
			if i == 0 && len(x.Claims) == 1 && isFree(after) { // a single text is on the right
				candidate.side, candidate.room = "start", after
			}
			if side == "" && isFree(candidate.room) {
				side, taken = candidate.side, append(taken, candidate.room)
			}
		}
		d.addClaim(pos, side, c.Text)
		if side == "" && c.Text != "" {
			omitted = append(omitted, c.Text)
		}
	}
	switch {
	case x.Base:
		d.addGroup(s.Axis.At(1), func() { d.addElement("rect", "base", "x", "-5", "y", "-12", "width", "10", "height", "24", "rx", "2") })
	case x.Value > 0:
		if x.Low > 0 && x.High > 0 {
			d.addElement("line", "i "+x.Class, "x1", formatPercent(s.Axis.At(x.Low)), "x2", formatPercent(s.Axis.At(x.High)), "y1", "50%", "y2", "50%")
		}
		d.addGroup(value, func() {
			if x.Class == More {
				d.addElement("rect", "m more", "x", "-6", "y", "-6", "width", "12", "height", "12")
				return
			}
			d.addElement("circle", "m "+x.Class, "r", "6")
		})
	}
	return d.closeDrawing(), omitted
}

// segment is a part of an axis, in shares.
type segment struct{ low, high float64 }

// overlapsWith reports whether s and o have a part in common.
func (s segment) overlapsWith(o segment) bool { return s.low < o.high && o.low < s.high }

// The room of a claim on a phone, as shares of a drawing's width.
const (
	claimRoom   = 0.04   // for its diamond
	claimLetter = 0.0238 // for each letter of its text
)

// addClaim draws a diamond with its text. side is the text anchor: "start" puts the text after the diamond,
// "end" before it, and "" omits it.
func (d *drawing) addClaim(pos float64, side, text string) {
	d.addGroup(pos, func() {
		d.addElement("path", "claim", "d", "M0-8 8 0 0 8-8 0Z")
		switch side {
		case "start":
			d.addText("strong", text, "x", "13", "y", "5")
		case "end":
			d.addText("strong", text, "x", "-13", "y", "5", "text-anchor", "end")
		}
	})
}

// addGroup calls draw, which draws around a position in the middle of the row.
func (d *drawing) addGroup(pos float64, draw func()) {
	d.WriteString(`<svg x="` + formatPercent(pos) + `" y="50%" overflow="visible">`)
	draw()
	d.WriteString("</svg>")
}

// Bar draws a bar between two shares of the longest one.
func Bar(class string, from, to float64) template.HTML {
	var d drawing
	d.WriteString(`<svg width="100%" height="14" aria-hidden="true">`)
	from, to = min(max(from, 0), 1), min(max(to, 0), 1)
	d.addElement("rect", "bt", "width", "100%", "height", "14")
	d.addElement("rect", class, "x", formatPercent(min(from, to)), "width", formatPercent(max(from, to)-min(from, to)), "height", "14")
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
