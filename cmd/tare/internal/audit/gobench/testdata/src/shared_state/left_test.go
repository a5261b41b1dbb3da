package shared_state

import "testing"

type pen struct {
	width int
	drawn int
}

func (p *pen) SetWidth(width int) { p.width = width }

func (p *pen) Draw() { p.drawn += p.width }

func BenchmarkPen(b *testing.B) {
	p := &pen{width: 1}
	b.Run("thick", func(b *testing.B) {
		p.SetWidth(9)
		for b.Loop() {
			p.Draw()
		}
	})
	b.Run("default", func(b *testing.B) {
		for b.Loop() {
			p.Draw() // want `p has what p.SetWidth of another sub-benchmark left`
		}
	})
}

// Each sub-benchmark sets the width, or sets it back.
func BenchmarkPens(b *testing.B) {
	p, q := &pen{width: 1}, &pen{width: 1}
	b.Run("thick", func(b *testing.B) {
		p.SetWidth(9)
		for b.Loop() {
			p.Draw()
		}
	})
	b.Run("thin", func(b *testing.B) {
		p.SetWidth(1)
		for b.Loop() {
			p.Draw()
		}
	})
	b.Run("back", func(b *testing.B) {
		q.SetWidth(9)
		defer q.SetWidth(1)
		for b.Loop() {
			q.Draw()
		}
	})
	b.Run("default", func(b *testing.B) {
		for b.Loop() {
			q.Draw()
		}
	})
}
