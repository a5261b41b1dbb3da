package plot

import (
	"html/template"
	"slices"
	"unicode/utf8"
)

// Classes of marks.
const (
	Less = "less" // than the baseline
	More = "more"
	Same = "same" // inside the noise
)

// Scale is the shared background of some rows: an axis of ratios, and the noise on it.
type Scale struct {
	ID    string // of the element that [Scale.Symbol] writes
	Axis  Axis
	Noise float64 // factor by which two identical programs seem to differ; up to 1 means unknown
}

// Symbol defines the background: lines at the ticks, the noise as a band around 1, and the line of no
// difference. A page writes it once, and each row refers to it.
func (s Scale) Symbol() template.HTML {
	var d drawing
	d.WriteString(`<symbol id="` + s.ID + `">`)
	if s.Noise > 1 {
		low, high := s.Axis.At(1/s.Noise), s.Axis.At(s.Noise)
		d.addElement("rect", "band", "x", formatPercent(low), "width", formatPercent(high-low), "height", "100%")
		for _, at := range []float64{low, high} {
			d.addElement("line", "edge", "x1", formatPercent(at), "x2", formatPercent(at), "y2", "100%")
		}
	}
	for _, t := range s.Axis.RatioTicks(tickApart) {
		class := "rule"
		if t.Text == "1×" {
			class = "one"
		}
		d.addElement("line", class, "x1", formatPercent(t.At), "x2", formatPercent(t.At), "y2", "100%")
	}
	d.WriteString("</symbol>")
	return template.HTML(d.String()) //nolint:gosec // made of numbers and class names
}

// tickApart is the room of a label on an axis of ratios, as a share.
const tickApart = 0.13

// Head draws the labels of the axis. base is the label at 1×, less and more those of its sides.
func (s Scale) Head(base, less, more string) template.HTML {
	var d drawing
	d.WriteString(`<svg width="100%" height="40" aria-hidden="true">`)
	at := s.Axis.At(1)
	if at > 0.3 {
		d.addText("", "◀ "+less, "x", "0", "y", "14")
	}
	if at < 0.7 {
		d.addText("", more+" ▶", "x", "100%", "y", "14", "text-anchor", "end")
	}
	d.addText("strong", "= "+base, "x", formatPercent(at), "y", "14", "text-anchor", anchorAt(at))
	for _, t := range s.Axis.RatioTicks(tickApart) {
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

// Row draws an interval on the scale, as high as the row is. It returns in left the texts of claims without
// room.
func (s Scale) Row(x Interval) (svg template.HTML, left []string) {
	var d drawing
	d.WriteString(`<svg class="row" width="100%" height="100%" aria-hidden="true">`)
	d.addElement("use", "", "href", "#"+s.ID)
	at := s.Axis.At(x.Value)
	var taken []segment
	if x.Value > 0 {
		taken = append(taken, segment{at - 0.02, at + 0.02})
	}
	for _, c := range x.Claims {
		place := s.Axis.At(c.Value)
		taken = append(taken, segment{place - 0.02, place + 0.02})
	}
	for i, c := range x.Claims {
		place := s.Axis.At(c.Value)
		isFree := func(room segment) bool {
			return room.low >= 0 && room.high <= 1 && !slices.ContainsFunc(taken, room.overlapsWith)
		}
		room := claimRoom + claimLetter*float64(utf8.RuneCountInString(c.Text))
		before, after := segment{place - room, place - 0.021}, segment{place + 0.021, place + room}
		side := ""
		for _, try := range []struct {
			name string
			room segment
		}{{"end", before}, {"start", after}} {
			if i == 0 && len(x.Claims) == 1 && isFree(after) { // a single text is on the right
				try.name, try.room = "start", after
			}
			if side == "" && isFree(try.room) {
				side, taken = try.name, append(taken, try.room)
			}
		}
		d.addClaim(place, side, c.Text)
		if side == "" && c.Text != "" {
			left = append(left, c.Text)
		}
	}
	switch {
	case x.Base:
		d.addGroup(s.Axis.At(1), func() { d.addElement("rect", "base", "x", "-5", "y", "-12", "width", "10", "height", "24", "rx", "2") })
	case x.Value > 0:
		if x.Low > 0 && x.High > 0 {
			d.addElement("line", "i "+x.Class, "x1", formatPercent(s.Axis.At(x.Low)), "x2", formatPercent(s.Axis.At(x.High)), "y1", "50%", "y2", "50%")
		}
		d.addGroup(at, func() {
			if x.Class == More {
				d.addElement("rect", "m more", "x", "-6", "y", "-6", "width", "12", "height", "12")
				return
			}
			d.addElement("circle", "m "+x.Class, "r", "6")
		})
	}
	return d.closeDrawing(), left
}

// segment is a part of an axis, in shares.
type segment struct{ low, high float64 }

func (s segment) overlapsWith(o segment) bool { return s.low < o.high && o.low < s.high }

// claimRoom and claimLetter are the shares of a drawing that a diamond and each
// letter of its words need on a phone.
const (
	claimRoom   = 0.04
	claimLetter = 0.0238
)

// addClaim draws a diamond with its text on one side, "start" after and "end" before it; "" omits the text.
func (d *drawing) addClaim(at float64, side, text string) {
	d.addGroup(at, func() {
		d.addElement("path", "claim", "d", "M0-8 8 0 0 8-8 0Z")
		switch side {
		case "start":
			d.addText("strong", text, "x", "13", "y", "5")
		case "end":
			d.addText("strong", text, "x", "-13", "y", "5", "text-anchor", "end")
		}
	})
}

// addGroup puts the drawing of add around a position in the middle of the row.
func (d *drawing) addGroup(at float64, add func()) {
	d.WriteString(`<svg x="` + formatPercent(at) + `" y="50%" overflow="visible">`)
	add()
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
	at := 0.0
	for _, p := range parts {
		d.addElement("rect", p.Class, "x", formatPercent(at), "width", formatPercent(p.Share), "height", "22")
		at += p.Share
	}
	return d.closeDrawing()
}
