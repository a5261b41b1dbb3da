// Package hist records durations in a histogram, from a nanosecond to an hour. Buckets are at most 1 %
// wide, so any quantile can be computed from fixed memory. Histograms of several threads can be merged
// without loss.
//
// All values are int64 nanoseconds. A histogram is not safe for concurrent use: each thread records into
// its own. Recording allocates nothing.
package hist

import (
	"math"
	"math/big"
	"math/bits"
)

// Top is the largest value of a bucket: an hour. Larger values are recorded as Top and counted by Over.
const Top int64 = 3600e9

// Values below 256 ns have a bucket each. From there on, every doubling has 128 buckets of equal width. It
// is the layout of an HdrHistogram with two significant digits.
const (
	halfBits    = 7                                                 // bits after the leading one that select a bucket
	halfCount   = 1 << halfBits                                     // buckets of a doubling
	linearCount = 2 * halfCount                                     // values below it have a bucket each
	topIndex    = (41-halfBits)*halfCount + int(Top>>(41-halfBits)) // index of Top, which is between 2^41 and 2^42
	bucketCount = topIndex + 1
)

// Hist is a histogram. Its zero value is empty and ready for use.
type Hist struct {
	counts   [bucketCount]int64 // by bucket
	n        int64
	over     int64 // values above Top
	min, max int64 // 0 without values
	sum      uint128
	squares  uint128
}

// uint128 is an unsigned integer of 128 bits. An hour squared, in nanoseconds, has 84 bits.
type uint128 struct{ hi, lo uint64 }

func (w *uint128) addTo(o uint128) {
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, o.lo, 0)
	w.hi, _ = bits.Add64(w.hi, o.hi, carry)
}

func (w uint128) toBig() *big.Int {
	b := new(big.Int).SetUint64(w.hi)
	return b.Or(b.Lsh(b, 64), new(big.Int).SetUint64(w.lo))
}

func (w uint128) toFloat() float64 { return math.Ldexp(float64(w.hi), 64) + float64(w.lo) }

// bucketOf returns the index of the bucket of v, which is between 0 and Top.
func bucketOf(v int64) int {
	if v < linearCount {
		return int(v)
	}
	shift := bits.Len64(uint64(v)) - halfBits - 1 // leaves the leading bit and halfBits more
	return shift*halfCount + int(v>>shift)
}

func minOf(i int) int64 {
	if i < linearCount {
		return int64(i)
	}
	shift := i/halfCount - 1
	return int64(i-shift*halfCount) << shift
}

func maxOf(i int) int64 {
	if i >= topIndex {
		return Top
	}
	return minOf(i+1) - 1
}

// Record adds one value in ns. A negative value counts as 0, one above Top as Top.
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
	h.counts[bucketOf(v)]++
	h.sum.addTo(uint128{lo: uint64(v)})
	hi, lo := bits.Mul64(uint64(v), uint64(v))
	h.squares.addTo(uint128{hi, lo})
}

// Merge adds all values of o, which may be nil.
func (h *Hist) Merge(o *Hist) {
	if o == nil || o.n == 0 {
		return
	}
	for i, last := bucketOf(o.min), bucketOf(o.max); i <= last; i++ {
		h.counts[i] += o.counts[i]
	}
	if h.n == 0 || o.min < h.min {
		h.min = o.min
	}
	h.max = max(h.max, o.max)
	h.n += o.n
	h.over += o.over
	h.sum.addTo(o.sum)
	h.squares.addTo(o.squares)
}

// Reset removes all values.
func (h *Hist) Reset() {
	if h.n > 0 {
		clear(h.counts[bucketOf(h.min) : bucketOf(h.max)+1])
	}
	h.n, h.over, h.min, h.max, h.sum, h.squares = 0, 0, 0, 0, uint128{}, uint128{}
}

// Count returns the number of recorded values.
func (h *Hist) Count() int64 { return h.n }

// Over returns the number of values larger than Top.
func (h *Hist) Over() int64 { return h.over }

// Min returns the exact smallest value in ns, or 0 without any.
func (h *Hist) Min() int64 { return h.min }

// Max returns the exact largest value in ns, or 0 without any.
func (h *Hist) Max() int64 { return h.max }

// Mean returns the arithmetic mean in ns, from exact sums, or 0 without any value.
func (h *Hist) Mean() float64 {
	if h.n == 0 {
		return 0
	}
	return h.sum.toFloat() / float64(h.n)
}

// SD returns the sample standard deviation (of n − 1) in ns, or 0 with fewer than two values. It uses exact
// sums.
func (h *Hist) SD() float64 {
	if h.n < 2 {
		return 0
	}
	n := big.NewInt(h.n)
	sum := h.sum.toBig()
	numerator := n.Mul(n, h.squares.toBig())
	numerator.Sub(numerator, sum.Mul(sum, sum)) // n Σx² − (Σx)², never negative
	f, _ := new(big.Float).SetInt(numerator).Float64()
	return math.Sqrt(f / float64(h.n) / float64(h.n-1))
}

// Quantile returns the smallest value in ns that at least the share q of all values do not exceed. The
// error is at most half a bucket, 0.4 %. It returns 0 without any value.
func (h *Hist) Quantile(q float64) int64 {
	if h.n == 0 {
		return 0
	}
	rank := int64(math.Ceil(q * float64(h.n)))
	if !(rank > 1) { // also if q is below 0 or NaN
		return h.min
	}
	if rank >= h.n {
		return h.max
	}
	seen := int64(0)
	for i := bucketOf(h.min); i < bucketCount; i++ {
		if seen += h.counts[i]; seen >= rank {
			lo, hi := max(minOf(i), h.min), min(maxOf(i), h.max)
			return lo + (hi-lo)/2
		}
	}
	return h.max
}

// Bin is a range with the number of its values.
type Bin struct {
	Low, High int64 // ns; High is exclusive
	Count     int64
}

// Bins returns the values of h in coarser ranges. Every doubling has perDoubling ranges of equal width: a
// power of two, at most 128. Ranges without a value are omitted.
func (h *Hist) Bins(perDoubling int) []Bin {
	var out []Bin
	if h.n == 0 {
		return out
	}
	rangeBits := bits.Len64(uint64(perDoubling)) - 1 // bits after the leading one that select the range
	for i := bucketOf(h.min); i <= bucketOf(h.max); i++ {
		n := h.counts[i]
		if n == 0 {
			continue
		}
		low := minOf(i)
		shift := max(0, bits.Len64(uint64(low))-1-rangeBits)
		low = low >> shift << shift // clear the lower bits
		if last := len(out) - 1; last >= 0 && out[last].Low == low {
			out[last].Count += n
			continue
		}
		out = append(out, Bin{Low: low, High: low + 1<<shift, Count: n})
	}
	return out
}

// Above returns the number of values in buckets above the bucket of x.
func (h *Hist) Above(x int64) int64 {
	switch {
	case x < 0:
		return h.n
	case x >= Top:
		return 0
	}
	n := int64(0)
	for i := bucketOf(x) + 1; i < bucketCount; i++ {
		n += h.counts[i]
	}
	return n
}
