// Package hist keeps durations in a histogram whose buckets are at most 1 %
// wide, from a nanosecond to an hour, so that any quantile can be read off a
// fixed amount of memory, and histograms of several threads or rounds can be
// joined without losing anything.
//
// All values are int64 nanoseconds. A histogram has one writer; threads keep
// one each and merge them at the end. Recording allocates nothing.
package hist

import (
	"math"
	"math/big"
	"math/bits"
)

// Top is the largest value that has a bucket of its own: an hour. Larger ones enter as
// Top and are counted by Over.
const Top int64 = 3600e9

// Values below 256 ns have a bucket each; above, every doubling is cut into
// 128 buckets of equal width, so that a bucket is at most 1/128 as wide as its
// values are large. It is the layout of an HdrHistogram with two significant
// digits.
const (
	halfBits = 7
	half     = 1 << halfBits
	linear   = 2 * half
	top      = (41-halfBits)*half + int(Top>>(41-halfBits)) // index of Top, which lies between 2^41 and 2^42
	size     = top + 1
)

// Hist is a histogram. Its zero value is empty and ready for use.
type Hist struct {
	counts   [size]int64
	n        int64
	over     int64
	min, max int64
	sum      wide
	squares  wide
}

// wide is an unsigned integer of 128 bits: an hour squared, in nanoseconds,
// takes 84 of them.
type wide struct{ hi, lo uint64 }

func (w *wide) add(o wide) {
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, o.lo, 0)
	w.hi, _ = bits.Add64(w.hi, o.hi, carry)
}

func (w wide) big() *big.Int {
	b := new(big.Int).SetUint64(w.hi)
	return b.Or(b.Lsh(b, 64), new(big.Int).SetUint64(w.lo))
}

func (w wide) float() float64 { return math.Ldexp(float64(w.hi), 64) + float64(w.lo) }

// index is the bucket of v, which is between 0 and Top.
func index(v int64) int {
	if v < linear {
		return int(v)
	}
	shift := bits.Len64(uint64(v)) - halfBits - 1
	return shift*half + int(v>>shift)
}

// lowest is the smallest value of bucket i.
func lowest(i int) int64 {
	if i < linear {
		return int64(i)
	}
	shift := i/half - 1
	return int64(i-shift*half) << shift
}

// highest is the largest value of bucket i.
func highest(i int) int64 {
	if i >= top {
		return Top
	}
	return lowest(i+1) - 1
}

// Record adds one value in ns. A negative one enters as 0, one above Top as
// Top.
func (h *Hist) Record(v int64) {
	switch {
	case v < 0:
		v = 0
	case v > Top:
		v = Top
		h.over++
	}
	if h.n == 0 || v < h.min {
		h.min = v
	}
	if v > h.max {
		h.max = v
	}
	h.n++
	h.counts[index(v)]++
	h.sum.add(wide{lo: uint64(v)})
	hi, lo := bits.Mul64(uint64(v), uint64(v))
	h.squares.add(wide{hi, lo})
}

// Merge adds everything o has: the result is what one histogram would hold
// that had recorded both sequences.
func (h *Hist) Merge(o *Hist) {
	if o == nil || o.n == 0 {
		return
	}
	for i, last := index(o.min), index(o.max); i <= last; i++ {
		h.counts[i] += o.counts[i]
	}
	if h.n == 0 || o.min < h.min {
		h.min = o.min
	}
	h.max = max(h.max, o.max)
	h.n += o.n
	h.over += o.over
	h.sum.add(o.sum)
	h.squares.add(o.squares)
}

// Reset forgets everything.
func (h *Hist) Reset() {
	if h.n > 0 {
		clear(h.counts[index(h.min) : index(h.max)+1])
	}
	h.n, h.over, h.min, h.max, h.sum, h.squares = 0, 0, 0, 0, wide{}, wide{}
}

// Count is how many values were recorded.
func (h *Hist) Count() int64 { return h.n }

// Over is how many of them were larger than Top and entered as Top.
func (h *Hist) Over() int64 { return h.over }

// Min is the smallest value in ns, exactly; 0 without any.
func (h *Hist) Min() int64 { return h.min }

// Max is the largest value in ns, exactly; 0 without any.
func (h *Hist) Max() int64 { return h.max }

// Mean is the arithmetic mean in ns, from exact sums; 0 without any value.
func (h *Hist) Mean() float64 {
	if h.n == 0 {
		return 0
	}
	return h.sum.float() / float64(h.n)
}

// SD is the sample standard deviation (of n − 1) in ns, from exact sums; 0 for
// less than two values.
func (h *Hist) SD() float64 {
	if h.n < 2 {
		return 0
	}
	n := big.NewInt(h.n)
	sum := h.sum.big()
	above := n.Mul(n, h.squares.big())
	above.Sub(above, sum.Mul(sum, sum)) // n Σx² − (Σx)², never negative
	f, _ := new(big.Float).SetInt(above).Float64()
	return math.Sqrt(f / float64(h.n) / float64(h.n-1))
}

// Quantile is the smallest recorded value that at least the share q of all
// values does not exceed, within half a bucket, which is 0.4 %; q below 0 is
// 0, above 1 is 1. 0 without any value.
func (h *Hist) Quantile(q float64) int64 {
	if h.n == 0 {
		return 0
	}
	rank := int64(math.Ceil(q * float64(h.n)))
	if !(rank > 1) { // a NaN asks for nothing
		return h.min
	}
	if rank >= h.n {
		return h.max
	}
	seen := int64(0)
	for i := index(h.min); i < size; i++ {
		if seen += h.counts[i]; seen >= rank {
			lo, hi := max(lowest(i), h.min), min(highest(i), h.max)
			return lo + (hi-lo)/2
		}
	}
	return h.max
}

// Bin is a range of values that lie in a histogram.
type Bin struct {
	Low, High int64 // ns; High is not in it
	Count     int64
}

// Bins are the values of h in coarser ranges: per of them, a power of two up to
// 128, cut every doubling into equal widths. Ranges without a value are not
// listed.
func (h *Hist) Bins(per int) []Bin {
	var out []Bin
	if h.n == 0 {
		return out
	}
	keep := bits.Len64(uint64(per)) - 1 // bits below the first that tell ranges apart
	for i := index(h.min); i <= index(h.max); i++ {
		n := h.counts[i]
		if n == 0 {
			continue
		}
		low := lowest(i)
		shift := max(0, bits.Len64(uint64(low))-1-keep)
		low = low >> shift << shift
		if last := len(out) - 1; last >= 0 && out[last].Low == low {
			out[last].Count += n
			continue
		}
		out = append(out, Bin{low, low + 1<<shift, n})
	}
	return out
}

// Above is how many values lie in buckets above that of x: those larger than x
// by more than a bucket's width.
func (h *Hist) Above(x int64) int64 {
	switch {
	case x < 0:
		return h.n
	case x >= Top:
		return 0
	}
	n := int64(0)
	for i := index(x) + 1; i < size; i++ {
		n += h.counts[i]
	}
	return n
}
