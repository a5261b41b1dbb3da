package input_consumed

import "testing"

type settling struct {
	open  *openItems
	lines []item
}

func newSettling(n int) *settling {
	s := &settling{open: &openItems{byRef: map[string]item{}}}
	for i := range n {
		one := item{ref: string(rune(i)), cents: i}
		s.open.Expect(one)
		s.lines = append(s.lines, one)
	}
	return s
}

func (s *settling) step() int { return s.open.Settle(s.lines) }

func BenchmarkSettle(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run("", func(b *testing.B) {
			step := newSettling(n).step
			settled := 0
			for range b.N {
				settled += step() // want `s.open.Settle removes the same entries of s.open in each iteration`
			}
			b.ReportMetric(float64(settled), "settled")
		})
	}
}

func BenchmarkSettleDirectly(b *testing.B) {
	s := newSettling(100)
	open, lines := s.open, s.lines
	for b.Loop() {
		open.Settle(lines) // want `open.Settle removes the same entries of s.open in each iteration`
	}
	for b.Loop() {
		s.open.Pay("a") // want `s.open.Pay removes the same entries of s.open in each iteration`
	}
	settle := func() { total = s.open.Settle(s.lines) } // want `s.open.Settle removes the same entries of s.open`
	for b.Loop() {
		settle()
	}
}

// Items that come back, a result that is checked, and a method that removes nothing.
func BenchmarkSettleAnew(b *testing.B) {
	s := newSettling(100)
	for b.Loop() {
		if n := s.step(); n != 100 {
			b.Fatal(n)
		}
	}
	for b.Loop() {
		for _, l := range s.lines {
			s.open.Expect(l)
		}
		s.step()
	}
	for b.Loop() {
		fresh := newSettling(100)
		fresh.step()
		s.open.Renew("a")
		total = s.open.Matches(s.lines)
	}
}
