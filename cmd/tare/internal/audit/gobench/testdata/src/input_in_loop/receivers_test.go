package input_in_loop

import "testing"

var pictureSink int

func picture(width int) *Picture {
	p := &Picture{Width: width}
	for i := range width * width {
		p.Points = append(p.Points, byte(i))
	}
	return p
}

func label(n int) Label {
	l := Label{Name: "To"}
	for range n {
		l.Text += "a, "
	}
	return l
}

// A case makes the receiver or the argument of the measured call.
func BenchmarkMadeByCase(b *testing.B) {
	for _, c := range []struct {
		name    string
		picture func() *Picture
		label   func() Label
	}{
		{"small", func() *Picture { return picture(4) }, func() Label { return label(3) }},
		{"large", func() *Picture { return picture(99) }, func() Label { return label(60) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			var out []byte
			for b.Loop() {
				c.picture().LongestRow() // want `c.picture.. makes the same input again`
				p := c.picture()         // want `c.picture.. makes the same input again`
				p.Rows()
				out = Fold(out[:0], c.label()) // want `c.label.. makes the same input again`
				c.picture().Mirror()
			}
		})
	}
}

// The loop calls a function that makes the input.
func BenchmarkMadeByHelper(b *testing.B) {
	width := 9
	for _, run := range []func(){
		func() { picture(400).Rows() }, // want `picture.400. makes the same input again`
		func() {
			p := picture(width) // want `picture.width. makes the same input again`
			pictureSink = p.LongestRow()
		},
		func() { picture(8).Mirror() },
		func() { rowsOf(12) },
	} {
		b.Run("", func(b *testing.B) {
			for b.Loop() {
				run()
			}
		})
	}
}

// An input that differs from iteration to iteration.
func BenchmarkMadeAnew(b *testing.B) {
	n := 0
	run := func() { picture(n).Rows() }
	for b.Loop() {
		n++
		run()
		rowsOf(n)
	}
}

func rowsOf(width int) { picture(width).Rows() }
