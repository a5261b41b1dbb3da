package hist

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// version is the start of every encoded histogram.
const version = "h1."

// Encode returns the histogram as one text of letters, digits, ., - and _. Each bucket in use takes a few
// bytes. Equal histograms have equal texts.
//
// The text is the version and varints in base64. They are count, over, min, max, the sum and the sum of
// squares (two halves each). Then each bucket in use has its distance from the previous one, and its count.
func (h *Hist) Encode() string {
	b := make([]byte, 0, 64)
	for _, v := range []uint64{
		uint64(h.n), uint64(h.over), uint64(h.min), uint64(h.max),
		h.sum.hi, h.sum.lo, h.squares.hi, h.squares.lo,
	} {
		b = binary.AppendUvarint(b, v)
	}
	last := -1
	for i, n := range h.counts {
		if n > 0 {
			b = binary.AppendUvarint(b, uint64(i-last))
			b = binary.AppendUvarint(b, uint64(n))
			last = i
		}
	}
	return version + base64.RawURLEncoding.EncodeToString(b)
}

// MarshalText returns [Hist.Encode], for documents.
func (h *Hist) MarshalText() ([]byte, error) { return []byte(h.Encode()), nil }

// UnmarshalText calls [Decode].
func (h *Hist) UnmarshalText(text []byte) error {
	read, err := Decode(string(text))
	if err != nil {
		return err
	}
	*h = *read
	return nil
}

// Decode parses the output of Encode. It rejects any other text.
func Decode(s string) (*Hist, error) {
	h := new(Hist)
	if err := h.decodeText(s); err != nil {
		return nil, fmt.Errorf("histogram: %w", err)
	}
	return h, nil
}

func (h *Hist) decodeText(s string) error {
	body, ok := strings.CutPrefix(s, version)
	if !ok {
		return fmt.Errorf("does not begin with %s", version)
	}
	b, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil {
		return err
	}
	r := reader{b}
	head := [8]uint64{}
	for i := range head {
		if head[i], err = r.readUvarint(); err != nil {
			return err
		}
	}
	n, err := h.decodeBuckets(&r)
	if err != nil {
		return err
	}
	h.n, h.over, h.min, h.max = int64(head[0]), int64(head[1]), int64(head[2]), int64(head[3])
	h.sum, h.squares = uint128{head[4], head[5]}, uint128{head[6], head[7]}
	if h.n != n {
		return fmt.Errorf("%d values in buckets, %d in all", n, head[0])
	}
	if err := h.checkFigures(); err != nil {
		return err
	}
	if h.Encode() != s { // e.g. a varint with needless bytes
		return errors.New("not written in the shortest way")
	}
	return nil
}

// maxCount keeps sums of counts within an int64.
const maxCount = 1 << 62

func (h *Hist) decodeBuckets(r *reader) (n int64, err error) {
	last := -1
	for len(r.b) > 0 {
		step, err := r.readUvarint()
		if err != nil {
			return 0, err
		}
		count, err := r.readUvarint()
		if err != nil {
			return 0, err
		}
		validStep := step > 0 && step < uint64(bucketCount-last)
		validCount := count > 0 && count < maxCount && n+int64(count) < maxCount
		if !validStep || !validCount {
			return 0, fmt.Errorf("bucket after %d: step %d, count %d", last, step, count)
		}
		last += int(step)
		h.counts[last] = int64(count)
		n += int64(count)
	}
	return n, nil
}

// checkFigures checks count, over, min, max and the sums against the buckets.
func (h *Hist) checkFigures() error {
	if h.n == 0 {
		if *h != (Hist{}) {
			return errors.New("figures without values")
		}
		return nil
	}
	if h.min < 0 || h.max > Top || h.min > h.max {
		return fmt.Errorf("min %d, max %d", h.min, h.max)
	}
	first, last := bucketOf(h.min), bucketOf(h.max)
	lo, hi := new(big.Int), new(big.Int)
	lo2, hi2 := new(big.Int), new(big.Int)
	for i, n := range h.counts {
		if n == 0 {
			if i == first || i == last {
				return fmt.Errorf("bucket %d is empty", i)
			}
			continue
		}
		if i < first || i > last {
			return fmt.Errorf("bucket %d is outside min and max", i)
		}
		addPowers(lo, lo2, n, max(minOf(i), h.min))
		addPowers(hi, hi2, n, min(maxOf(i), h.max))
	}
	fitsTopBucket := h.over >= 0 && h.over <= h.counts[topIndex]
	if !fitsTopBucket || h.over > 0 && h.max != Top {
		return fmt.Errorf("%d values above the top, %d in the top bucket", h.over, h.counts[topIndex])
	}
	sum, squares := h.sum.toBig(), h.squares.toBig()
	fitsSum := sum.Cmp(lo) >= 0 && sum.Cmp(hi) <= 0
	fitsSquares := squares.Cmp(lo2) >= 0 && squares.Cmp(hi2) <= 0
	if !fitsSum || !fitsSquares {
		return errors.New("sums do not fit the buckets")
	}
	if n := big.NewInt(h.n); n.Mul(n, squares).Cmp(sum.Mul(sum, sum)) < 0 { // the variance would be negative
		return errors.New("sums of no possible values")
	}
	return nil
}

func addPowers(sum, squares *big.Int, n, v int64) {
	x := big.NewInt(v)
	nx := new(big.Int).Mul(big.NewInt(n), x)
	sum.Add(sum, nx)
	squares.Add(squares, nx.Mul(nx, x))
}

type reader struct{ b []byte }

func (r *reader) readUvarint() (uint64, error) {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		return 0, errors.New("ends in the middle of a number")
	}
	r.b = r.b[n:]
	return v, nil
}
