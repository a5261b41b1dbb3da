package shared_state

import (
	"fmt"
	"testing"
)

type tickets struct{ open []int }

func (t *tickets) Add(n int) { t.open = append(t.open, n) }

func (t *tickets) Take() int {
	n := t.open[0]
	t.open = t.open[1:]
	return n
}

func openMany(t *tickets, n int) {
	for i := range n {
		t.Add(i)
	}
}

var lastTicket int

func BenchmarkTickets(b *testing.B) {
	var all tickets
	for _, n := range []int{10, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			openMany(&all, n) // want `all gets entries in the set-up of each case`
			for b.Loop() {
				lastTicket = all.Take()
				all.Add(lastTicket)
			}
		})
	}
}

func BenchmarkOwnTickets(b *testing.B) {
	for _, n := range []int{10, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var own tickets
			openMany(&own, n)
			for b.Loop() {
				lastTicket = own.Take()
				own.Add(lastTicket)
			}
		})
	}
}
