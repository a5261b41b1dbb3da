package load

import (
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
)

// counters are those of a session, by name.
type counters map[string]*atomic.Int64

// named is the counter of a name.
func (c counters) named(name string) *atomic.Int64 {
	if c[name] == nil {
		c[name] = new(atomic.Int64)
	}
	return c[name]
}

// draw is a number that a request takes from a counter, with the places where
// it is written.
type draw struct {
	name  string
	from  *atomic.Int64
	step  bool
	spots []spot
}

// spot is one of those places.
type spot struct {
	Fill
	at int // in the body, or in the head
}

// Widths in bytes of numbers that an int64 can hold.
const (
	mostDigits = 18
	mostVarint = 9
)

// fills checks the numbers of a request and says how they are drawn. path is
// where its path begins in the head, and content where its body begins in what
// is sent of it.
func (e *encoded) fills(r Request, c counters, path, content int) error {
	taken := map[bool][]bool{false: make([]bool, len(r.Path)), true: make([]bool, len(r.Body))}
	for i, f := range r.Fill {
		if what := f.check(taken[f.Body]); what != "" {
			return fmt.Errorf("fill %d: %s", i, what)
		}
		s := spot{f, path + f.At}
		if f.Body {
			s.at = content + f.At
		}
		at := slices.IndexFunc(e.draws, func(d draw) bool { return d.name == f.Counter })
		if at < 0 {
			at = len(e.draws)
			e.draws = append(e.draws, draw{name: f.Counter, from: c.named(f.Counter)})
		}
		d := &e.draws[at]
		d.step = d.step || f.Step
		d.spots = append(d.spots, s)
	}
	return nil
}

// check says what is wrong with a fill, or nothing; taken are the bytes of where
// it goes that others write to.
func (f Fill) check(taken []bool) string {
	most := mostDigits
	if f.Varint {
		most = mostVarint
	}
	switch {
	case f.Counter == "":
		return "no counter"
	case f.Varint && !f.Body:
		return "a varint in a path"
	case f.Width < 1 || f.Width > most:
		return fmt.Sprintf("%d bytes: 1 to %d", f.Width, most)
	case f.At < 0 || f.At > len(taken)-f.Width || f.At == 0 && !f.Body:
		return fmt.Sprintf("%d bytes at %d: there are %d", f.Width, f.At, len(taken))
	}
	for i := f.At; i < f.At+f.Width; i++ {
		if taken[i] {
			return fmt.Sprintf("byte %d is another one's", i)
		}
		taken[i] = true
	}
	return ""
}

// draw appends the numbers that a request takes from its counters.
func (e *encoded) draw(numbers []int64) []int64 {
	for _, d := range e.draws {
		if d.step {
			numbers = append(numbers, d.from.Add(1)-1)
		} else {
			numbers = append(numbers, d.from.Load())
		}
	}
	return numbers
}

// fill writes the numbers that were drawn for a request into what is sent of it.
func (e *encoded) fill(head, body []byte, numbers []int64) error {
	for i, n := range numbers {
		d := &e.draws[i]
		for _, s := range d.spots {
			b := head
			if s.Body {
				b = body
			}
			if !s.Write(b[s.at:s.at+s.Width], n) {
				return fmt.Errorf("counter %q has come to %s, which does not take %d bytes", d.name, strconv.FormatInt(n+s.Add, 10), s.Width)
			}
		}
	}
	return nil
}

// Write writes the number for a counter that stands at n into the bytes that are its
// own. It is false where the number does not take their width, or is less than zero.
func (f Fill) Write(b []byte, n int64) bool {
	if n += f.Add; n < 0 {
		return false
	}
	if f.Varint {
		for i := range b {
			if b[i] = byte(n) | 0x80; i > 0 && n == 0 {
				return false
			}
			n >>= 7
		}
		b[len(b)-1] &^= 0x80
		return n == 0
	}
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = byte('0' + n%10)
		n /= 10
	}
	return n == 0
}
