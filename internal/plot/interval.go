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

// Scale is the ground that the drawings of some rows share: an axis of ratios,
// and the noise on it.
type Scale struct {
	ID    string // of the element that [Scale.Symbol] writes
	Axis  Axis
	Noise float64 // factor by which two identical programs seem to differ; 1 and less: not known
}

// Symbol defines the ground: lines at the ticks, the noise as a band around 1,
// and the line of no difference. A page writes it once, and each row refers to it.
func (s Scale) Symbol() template.HTML {
	var d drawing
	d.WriteString(`<symbol id="` + s.ID + `">`)
	if s.Noise > 1 {
		low, high := s.Axis.At(1/s.Noise), s.Axis.At(s.Noise)
		d.element("rect", "band", "x", percent(low), "width", percent(high-low), "height", "100%")
		for _, at := range []float64{low, high} {
			d.element("line", "edge", "x1", percent(at), "x2", percent(at), "y2", "100%")
		}
	}
	for _, t := range s.Axis.RatioTicks(tickApart) {
		class := "rule"
		if t.Text == "1×" {
			class = "one"
		}
		d.element("line", class, "x1", percent(t.At), "x2", percent(t.At), "y2", "100%")
	}
	d.WriteString("</symbol>")
	return template.HTML(d.String()) //nolint:gosec // made of numbers and class names
}

// tickApart is the room that a label of an axis of ratios needs, as a share.
const tickApart = 0.13

// Head draws the labels of the axis. base is what stands at 1×; less and more
// stand beside it.
func (s Scale) Head(base, less, more string) template.HTML {
	var d drawing
	d.WriteString(`<svg width="100%" height="40" aria-hidden="true">`)
	at := s.Axis.At(1)
	if at > 0.3 {
		d.text("", "◀ "+less, "x", "0", "y", "14")
	}
	if at < 0.7 {
		d.text("", more+" ▶", "x", "100%", "y", "14", "text-anchor", "end")
	}
	d.text("strong", "= "+base, "x", percent(at), "y", "14", "text-anchor", anchor(at))
	for _, t := range s.Axis.RatioTicks(tickApart) {
		d.text("", t.Text, "x", percent(t.At), "y", "35", "text-anchor", anchor(t.At))
	}
	return d.finish()
}

// anchor returns where a text at a place begins, so that it stays in the drawing.
func anchor(at float64) string {
	switch {
	case at < 0.06:
		return "start"
	case at > 0.94:
		return "end"
	}
	return "middle"
}

// Claim is a value that was asked for or published, with its words.
type Claim struct {
	Value float64
	Text  string
}

// Interval is one row: an estimate with its bounds.
type Interval struct {
	Value, Low, High float64 // Value 0: nothing is drawn but the ground and claims; Low or High 0: no bounds
	Class            string  // Less, More, Same or ""
	Base             bool    // the row is of the baseline
	Claims           []Claim
}

// Row draws an interval on the scale, as high as the row is. Words of claims for
// which there is no room are returned in left.
func (s Scale) Row(x Interval) (svg template.HTML, left []string) {
	var d drawing
	d.WriteString(`<svg class="row" width="100%" height="100%" aria-hidden="true">`)
	d.element("use", "", "href", "#"+s.ID)
	at := s.Axis.At(x.Value)
	var taken []stretch
	if x.Value > 0 {
		taken = append(taken, stretch{at - 0.02, at + 0.02})
	}
	for _, c := range x.Claims {
		place := s.Axis.At(c.Value)
		taken = append(taken, stretch{place - 0.02, place + 0.02})
	}
	for i, c := range x.Claims {
		place := s.Axis.At(c.Value)
		isFree := func(room stretch) bool {
			return room.low >= 0 && room.high <= 1 && !slices.ContainsFunc(taken, room.overlaps)
		}
		room := claimRoom + claimLetter*float64(utf8.RuneCountInString(c.Text))
		before, after := stretch{place - room, place - 0.021}, stretch{place + 0.021, place + room}
		side := ""
		for _, try := range []struct {
			name string
			room stretch
		}{{"end", before}, {"start", after}} {
			if i == 0 && len(x.Claims) == 1 && isFree(after) { // one stands where it reads on
				try.name, try.room = "start", after
			}
			if side == "" && isFree(try.room) {
				side, taken = try.name, append(taken, try.room)
			}
		}
		d.claim(place, side, c.Text)
		if side == "" && c.Text != "" {
			left = append(left, c.Text)
		}
	}
	switch {
	case x.Base:
		d.group(s.Axis.At(1), func() { d.element("rect", "base", "x", "-5", "y", "-12", "width", "10", "height", "24", "rx", "2") })
	case x.Value > 0:
		if x.Low > 0 && x.High > 0 {
			d.element("line", "i "+x.Class, "x1", percent(s.Axis.At(x.Low)), "x2", percent(s.Axis.At(x.High)), "y1", "50%", "y2", "50%")
		}
		d.group(at, func() {
			if x.Class == More {
				d.element("rect", "m more", "x", "-6", "y", "-6", "width", "12", "height", "12")
				return
			}
			d.element("circle", "m "+x.Class, "r", "6")
		})
	}
	return d.finish(), left
}

// stretch is a part of an axis, in shares.
type stretch struct{ low, high float64 }

func (s stretch) overlaps(o stretch) bool { return s.low < o.high && o.low < s.high }

// claimRoom and claimLetter are the shares of a drawing that a diamond and each
// letter of its words need on a phone.
const (
	claimRoom   = 0.04
	claimLetter = 0.0238
)

// claim draws a diamond with its words on one side, "start" after and "end" before
// it; "" leaves them out.
func (d *drawing) claim(at float64, side, text string) {
	d.group(at, func() {
		d.element("path", "claim", "d", "M0-8 8 0 0 8-8 0Z")
		switch side {
		case "start":
			d.text("strong", text, "x", "13", "y", "5")
		case "end":
			d.text("strong", text, "x", "-13", "y", "5", "text-anchor", "end")
		}
	})
}

// group adds what add draws around a place in the middle of the row.
func (d *drawing) group(at float64, add func()) {
	d.WriteString(`<svg x="` + percent(at) + `" y="50%" overflow="visible">`)
	add()
	d.WriteString("</svg>")
}

// Bar draws a bar between two shares of a whole, beside which its figure stands.
func Bar(class string, from, to float64) template.HTML {
	var d drawing
	d.WriteString(`<svg width="100%" height="14" aria-hidden="true">`)
	from, to = min(max(from, 0), 1), min(max(to, 0), 1)
	d.element("rect", "bt", "width", "100%", "height", "14")
	d.element("rect", class, "x", percent(min(from, to)), "width", percent(max(from, to)-min(from, to)), "height", "14")
	return d.finish()
}

// Part is a part of a whole.
type Part struct {
	Class string
	Share float64
}

// Stack draws the parts of a whole beside each other.
func Stack(parts []Part) template.HTML {
	var d drawing
	d.WriteString(`<svg width="100%" height="22" aria-hidden="true">`)
	at := 0.0
	for _, p := range parts {
		d.element("rect", p.Class, "x", percent(at), "width", percent(p.Share), "height", "22")
		at += p.Share
	}
	return d.finish()
}
