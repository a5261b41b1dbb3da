package load

import (
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
)

type counters map[string]*atomic.Int64

func (c counters) getCounter(name string) *atomic.Int64 {
	if c[name] == nil {
		c[name] = new(atomic.Int64)
	}
	return c[name]
}

// draw takes a number from a counter before a request is sent, and writes it to all spots.
type draw struct {
	name  string
	from  *atomic.Int64
	step  bool // increase the counter by one
	spots []spot
}

type spot struct {
	Fill
	at int // offset in the body, or in the head
}

// Largest widths in bytes whose numbers all fit into an int64.
const (
	maxDigits = 18
	maxVarint = 9
)

// addFills checks the fills of a request and adds them to e. path and content are the offsets of the path
// and the body in the bytes that writeNumbers gets.
func (e *encodedRequest) addFills(r Request, c counters, path, content int) error {
	// Bytes that a fill already writes, by Fill.Body.
	taken := map[bool][]bool{false: make([]bool, len(r.Path)), true: make([]bool, len(r.Body))}
	for i, f := range r.Fill {
		if reason := f.whyInvalid(taken[f.Body]); reason != "" {
			return fmt.Errorf("fill %d: %s", i, reason)
		}
		s := spot{Fill: f, at: path + f.At}
		if f.Body {
			s.at = content + f.At
		}
		k := slices.IndexFunc(e.draws, func(d draw) bool { return d.name == f.Counter })
		if k < 0 {
			k = len(e.draws)
			e.draws = append(e.draws, draw{name: f.Counter, from: c.getCounter(f.Counter)})
		}
		d := &e.draws[k]
		d.step = d.step || f.Step
		d.spots = append(d.spots, s)
	}
	return nil
}

// whyInvalid returns why a fill is invalid, or "". It marks the bytes of the fill in taken.
func (f Fill) whyInvalid(taken []bool) string {
	maxWidth := maxDigits
	if f.Varint {
		maxWidth = maxVarint
	}
	switch {
	case f.Counter == "":
		return "no counter"
	case f.Varint && !f.Body:
		return "a varint in a path"
	case f.Width < 1 || f.Width > maxWidth:
		return fmt.Sprintf("%d bytes: 1 to %d", f.Width, maxWidth)
	case f.At < 0 || f.At > len(taken)-f.Width || f.At == 0 && !f.Body: // byte 0 of a path must remain /
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

func (e *encodedRequest) drawNumbers(numbers []int64) []int64 {
	for _, d := range e.draws {
		if d.step {
			numbers = append(numbers, d.from.Add(1)-1)
		} else {
			numbers = append(numbers, d.from.Load())
		}
	}
	return numbers
}

func (e *encodedRequest) writeNumbers(head, body []byte, numbers []int64) error {
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

// Write writes the number of the fill into b, if the counter has the value n. The length of b is the width.
// Write returns false if the number is negative or too long.
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
