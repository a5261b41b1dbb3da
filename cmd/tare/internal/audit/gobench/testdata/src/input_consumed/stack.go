package input_consumed

// stack holds numbers.
type stack struct{ items []int }

func newStack(n int) *stack { return &stack{items: make([]int, n)} }

func (s *stack) Push(x int) { s.items = append(s.items, x) }

// Pop takes the last number, and returns false if there is none.
func (s *stack) Pop() (int, bool) {
	if len(s.items) == 0 {
		return 0, false
	}
	x := s.items[len(s.items)-1]
	s.items = s.items[:len(s.items)-1]
	return x, true
}
