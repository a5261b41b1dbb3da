package load

import (
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
)

// counters maps names to the counters of a session.
type counters map[string]*atomic.Int64

// getCounter returns the counter of a name and creates it if needed.
func (c counters) getCounter(name string) *atomic.Int64 {
	if c[name] == nil {
		c[name] = new(atomic.Int64)
	}
	return c[name]
}

// draw is the use of one counter by a request (see [Fill]): each time before the request is sent, a number is drawn
// from the counter and written to all spots.
type draw struct {
	name  string        // of the counter
	from  *atomic.Int64 // the counter
	step  bool          // drawing increases the counter
	spots []spot
}

// spot is a position at which a drawn number is written.
type spot struct {
	Fill
	at int // offset in the body, or in the head
}

// Largest widths in bytes for which every number fits into an int64.
const (
	maxDigits = 18
	maxVarint = 9
)

// addFills checks the fills of a request and adds their draws to e. path is the offset of the path in the bytes that
// writeNumbers gets as head. content is the offset of the body in those that it gets as body.
func (e *encodedRequest) addFills(r Request, c counters, path, content int) error {
	// The bytes of the path and of the body that a fill already writes, by Fill.Body.
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

// whyInvalid returns what is wrong with a fill, or "". It marks the bytes of the fill in taken, and rejects
// bytes that another fill writes.
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

// drawNumbers draws the numbers of a request, one for each of e.draws, and appends them to numbers.
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

// writeNumbers writes the numbers that drawNumbers has drawn into the request's head and body.
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

// Write writes the number of the fill into b, if the counter has the value n. The length of b is the width. Write
// returns false if the number is negative or does not fit the width.
func (f Fill) Write(b []byte, n int64) bool {
	if n += f.Add; n < 0 {
		return false
	}
	if f.Varint {
		for i := range b {
			if b[i] = byte(n) | 0x80; i > 0 && n == 0 {
				return false // the number needs fewer bytes
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
