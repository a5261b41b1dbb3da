package emit

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// bitsOf returns the width of a Go number type, and whether it has a sign.
func bitsOf(name string) (bits int, signed bool) {
	signed = !strings.HasPrefix(name, "u") && name != "byte"
	if name == "byte" {
		return 8, false
	}
	bits, err := strconv.Atoi(strings.TrimLeft(name, "uintfloa"))
	if err != nil {
		return 8, false // a named type of unknown width: a small value fits any
	}
	return bits, signed
}

// nextPattern returns a new value of a number of bits: the low bits of the next multiple of 2^64 divided by
// the golden ratio. Donald Knuth uses it for hashes (The Art of Computer Programming, 6.4).
func (w *filler) nextPattern(bits int, signed bool) int64 {
	w.n++
	const golden = 0x9e3779b97f4a7c15 // 2^64 / 1.618…
	x := w.n * golden & (^uint64(0) >> (64 - bits))
	if !signed {
		return int64(x & math.MaxInt64)
	}
	n := int64(x<<(64-bits)) >> (64 - bits)
	return max(n, -math.MaxInt64) // C has no literal for the smallest int64
}

func (w *filler) fillNumber(r plan.Rule, c, g string, at loopPosition) {
	name := cmp.Or(r.Num, r.From, r.Go) // Go type with the layout of the C number
	if strings.HasPrefix(name, "float") {
		w.n++
		if at.index == "" {
			w.writeC("SET(%s, %d.5);", c, w.n)
			w.writeGo("%s = %d.5", g, w.n)
			return
		}
		w.writeC("SET(%s, %d.5 + (%s));", c, w.n, at.index)
		w.writeGo("%s = %s(%d.5 + float64(%s))", g, r.Go, w.n, at.index)
		return
	}
	bits, signed := bitsOf(name)
	n := w.nextPattern(bits, signed)
	if at.index == "" {
		w.writeC("SET(%s, %dLL);", c, n)
		w.writeGo("%s = %d", g, n)
		return
	}
	n >>= 1 // the sum with an index must not overflow 64 bits
	w.writeC("SET(%s, %dLL + (%s));", c, n, at.index)
	if inner := fmt.Sprintf("%d + int64(%s)", n, at.index); r.Num != "" && r.Num != r.Go { // the sum wraps at the width of the C number
		w.writeGo("%s = %s(%s(%s))", g, r.Go, r.Num, inner)
	} else {
		w.writeGo("%s = %s(%s)", g, r.Go, inner)
	}
}

// fillBool fills a bool. format is the C statement, with verbs for the path and the value.
func (w *filler) fillBool(r plan.Rule, c, g string, at loopPosition, format string) {
	w.n++
	if at.index == "" {
		w.writeC(format, c, fmt.Sprint(w.n%2))
		w.writeGo("%s = %v", g, w.n%2 == 1)
		return
	}
	sum := fmt.Sprintf("(%d+%s)%%2", w.n, at.index)
	w.writeC(format, c, sum)
	w.writeGo("%s = %s(%s == 1)", g, r.Go, sum)
}

func (w *filler) fillBits(r plan.Rule, c, g string, at loopPosition) {
	if r.Go == "bool" || r.From == "bool" {
		w.fillBool(r, c, g, at, "%s = %s;")
		return
	}
	width := r.Width
	if r.Signed {
		width-- // only positive values: compilers convert values that are too large differently
	}
	n := w.nextPattern(64, false) & int64(bitMask(max(width, 1))&math.MaxInt64)
	if width == 0 { // one signed bit
		n = 0
	}
	if at.index == "" {
		w.writeC("%s = %dLL;", c, n)
		w.writeGo("%s = %d", g, n)
		return
	}
	sum := fmt.Sprintf("(%d+%s)&%d", n>>1, at.index, bitMask(max(width, 1))&math.MaxInt64)
	if width == 0 {
		sum = "0"
	}
	w.writeC("%s = %s;", c, sum)
	w.writeGo("%s = %s(%s)", g, r.Go, sum)
}

// fillText fills a char[N] with a short text. In a loop it adds a letter for the index.
func (w *filler) fillText(r plan.Rule, c, g string, at loopPosition) {
	w.n++
	maxLength := r.N
	if at.index != "" {
		maxLength-- // the letter
	}
	word := fmt.Sprintf("t%d", w.n)
	word = word[:min(int64(len(word)), maxLength)]
	want := fmt.Sprintf("%q", word)
	if at.index == "" {
		w.writeC("TEXT(%s, %q);", c, word)
	} else {
		w.writeC("TEXTI(%s, %q, %s);", c, word, at.index)
		want += fmt.Sprintf(" + string(rune('a'+(%s)%%26))", at.index)
	}
	if r.Go != "string" {
		want = r.Go + "(" + want + ")"
	}
	w.writeGo("%s = %s", g, want)
}
