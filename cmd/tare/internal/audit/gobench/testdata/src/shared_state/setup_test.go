package shared_state

import (
	"strconv"
	"testing"
)

type hub struct {
	next     int
	handlers map[int]func()
}

// Subscribe returns a function that removes f.
func (h *hub) Subscribe(f func()) func() {
	id := h.next
	h.next++
	h.handlers[id] = f
	return func() { delete(h.handlers, id) }
}

func (h *hub) Publish() {
	for _, f := range h.handlers {
		f()
	}
}

func BenchmarkSubscribed(b *testing.B) {
	h := &hub{handlers: map[int]func(){}}
	n := 0
	for _, subscribers := range []int{1, 100} {
		b.Run(strconv.Itoa(subscribers), func(b *testing.B) {
			for range subscribers {
				h.Subscribe(func() { n++ }) // want `h gets entries in the set-up of each case, and the next case begins with them`
			}
			for b.Loop() {
				h.Publish()
			}
		})
	}
}

// Each case has a hub of its own, or takes its subscribers away.
func BenchmarkUnsubscribed(b *testing.B) {
	shared := &hub{handlers: map[int]func(){}}
	n := 0
	for _, subscribers := range []int{1, 100} {
		b.Run("own-"+strconv.Itoa(subscribers), func(b *testing.B) {
			h := &hub{handlers: map[int]func(){}}
			for range subscribers {
				h.Subscribe(func() { n++ })
			}
			for b.Loop() {
				h.Publish()
			}
		})
		b.Run("shared-"+strconv.Itoa(subscribers), func(b *testing.B) {
			for range subscribers {
				b.Cleanup(shared.Subscribe(func() { n++ }))
			}
			for b.Loop() {
				shared.Publish()
			}
		})
	}
}
