package emit

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/plan"
)

func sortedKeys(m map[string]int64) []string { return slices.Sorted(maps.Keys(m)) }

// bitsOf returns the width of a Go number, and whether it has a sign.
func bitsOf(name string) (bits int, signed bool) {
	signed = !strings.HasPrefix(name, "u") && name != "byte"
	if name == "byte" {
		return 8, false
	}
	bits, err := strconv.Atoi(strings.TrimLeft(name, "uintfloa"))
	if err != nil {
		return 8, false // a type that is not known: what fits everywhere
	}
	return bits, signed
}

// nextPattern returns a value of bits bits unlike those before it, as Donald Knuth spreads hashes:
// by multiples of the golden ratio of the range.
func (w *filler) nextPattern(bits int, signed bool) int64 {
	w.n++
	x := w.n * 0x9e3779b97f4a7c15 & (^uint64(0) >> (64 - bits))
	if !signed {
		return int64(x & math.MaxInt64)
	}
	n := int64(x<<(64-bits)) >> (64 - bits)
	return max(n, -math.MaxInt64) // C cannot write the smallest
}

func (w *filler) fillNumber(r plan.Rule, c, g string, at loopPosition) {
	name := r.Num
	if name == "" {
		name = r.From
	}
	if name == "" {
		name = r.Go
	}
	if strings.HasPrefix(name, "float") {
		w.n++
		if at.which == "" {
			w.inC("SET(%s, %d.5);", c, w.n)
			w.inGo("%s = %d.5", g, w.n)
			return
		}
		w.inC("SET(%s, %d.5 + (%s));", c, w.n, at.which)
		w.inGo("%s = %s(%d.5 + float64(%s))", g, r.Go, w.n, at.which)
		return
	}
	bits, signed := bitsOf(name)
	n := w.nextPattern(bits, signed)
	if at.which == "" {
		w.inC("SET(%s, %dLL);", c, n)
		w.inGo("%s = %d", g, n)
		return
	}
	n >>= 1 // so that no sum is more than 64 bits
	w.inC("SET(%s, %dLL + (%s));", c, n, at.which)
	if inner := fmt.Sprintf("%d + int64(%s)", n, at.which); r.Num != "" && r.Num != r.Go { // it wraps as C's does
		w.inGo("%s = %s(%s(%s))", g, r.Go, r.Num, inner)
	} else {
		w.inGo("%s = %s(%s)", g, r.Go, inner)
	}
}

// fillBool writes a bool by the C statement in format.
func (w *filler) fillBool(r plan.Rule, c, g string, at loopPosition, format string) {
	w.n++
	if at.which == "" {
		w.inC(format, c, fmt.Sprint(w.n%2))
		w.inGo("%s = %v", g, w.n%2 == 1)
		return
	}
	sum := fmt.Sprintf("(%d+%s)%%2", w.n, at.which)
	w.inC(format, c, sum)
	w.inGo("%s = %s(%s == 1)", g, r.Go, sum)
}

func (w *filler) fillBits(r plan.Rule, c, g string, at loopPosition) {
	if r.Go == "bool" || r.From == "bool" {
		w.fillBool(r, c, g, at, "%s = %s;")
		return
	}
	width := r.Width
	if r.Signed {
		width-- // no sign: C leaves open what becomes of too large a value
	}
	n := w.nextPattern(64, false) & int64(bitMask(max(width, 1))&math.MaxInt64)
	if width == 0 {
		n = 0
	}
	if at.which == "" {
		w.inC("%s = %dLL;", c, n)
		w.inGo("%s = %d", g, n)
		return
	}
	sum := fmt.Sprintf("(%d+%s)&%d", n>>1, at.which, bitMask(max(width, 1))&math.MaxInt64)
	if width == 0 {
		sum = "0"
	}
	w.inC("%s = %s;", c, sum)
	w.inGo("%s = %s(%s)", g, r.Go, sum)
}

func (w *filler) fillText(r plan.Rule, c, g string, at loopPosition) {
	w.n++
	most := r.N
	if at.which != "" {
		most-- // one more follows
	}
	word := fmt.Sprintf("t%d", w.n)
	word = word[:min(int64(len(word)), most)]
	want := fmt.Sprintf("%q", word)
	if at.which == "" {
		w.inC("TEXT(%s, %q);", c, word)
	} else {
		w.inC("TEXTI(%s, %q, %s);", c, word, at.which)
		want += fmt.Sprintf(" + string(rune('a'+(%s)%%26))", at.which)
	}
	if r.Go != "string" {
		want = r.Go + "(" + want + ")"
	}
	w.inGo("%s = %s", g, want)
}
