package hist

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"time"
)

// The forms of an HdrHistogram, version 2: the low half of a cookie's last
// byte is 4 where the histogram is compressed and 3 where it is not.
//
// Source: HdrHistogram, AbstractHistogram.java, encodeIntoByteBuffer and
// encodeIntoCompressedByteBuffer.
const (
	cookiePlain      = 0x1c849313
	cookieCompressed = 0x1c849314
	hdrHead          = 40 // bytes before the counts
	hdrDigits        = 2  // significant digits: the layout of this package
)

// AppendHdr appends the histogram in HdrHistogram's compressed form, version
// 2, with two significant digits, unit 1 ns.
func (h *Hist) AppendHdr(b []byte) []byte {
	counts := h.hdrCounts()
	plain := make([]byte, 0, hdrHead+len(counts))
	be := binary.BigEndian
	plain = be.AppendUint32(plain, cookiePlain)
	plain = be.AppendUint32(plain, uint32(len(counts)))
	plain = be.AppendUint32(plain, 0) // offset of the normalising index
	plain = be.AppendUint32(plain, hdrDigits)
	plain = be.AppendUint64(plain, 1) // lowest value told apart
	plain = be.AppendUint64(plain, uint64(Top))
	plain = be.AppendUint64(plain, math.Float64bits(1)) // ratio of integers to doubles
	plain = append(plain, counts...)

	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, _ = z.Write(plain) // to memory: neither fails
	_ = z.Close()
	b = be.AppendUint32(b, cookieCompressed)
	b = be.AppendUint32(b, uint32(packed.Len()))
	return append(b, packed.Bytes()...)
}

// hdrCounts writes the counts up to the largest bucket in use as zigzag
// numbers; a negative one is a run of so many empty buckets.
func (h *Hist) hdrCounts() []byte {
	var b []byte
	empty := int64(0)
	for i := 0; h.n > 0 && i <= index(h.max); i++ {
		if h.counts[i] == 0 {
			empty++
			continue
		}
		if empty > 0 {
			b = appendZigzag(b, -empty)
			empty = 0
		}
		b = appendZigzag(b, h.counts[i])
	}
	return b
}

// appendZigzag writes v in seven bits a byte, lowest first, the ninth byte
// holding eight: at most nine bytes.
func appendZigzag(b []byte, v int64) []byte {
	u := uint64(v<<1) ^ uint64(v>>63)
	for range 8 {
		if u < 0x80 {
			return append(b, byte(u))
		}
		b = append(b, byte(u)|0x80)
		u >>= 7
	}
	return append(b, byte(u))
}

// WriteLogHead writes the lines before the intervals of a HdrHistogram log,
// version 1.3; began is when the first interval begins.
func WriteLogHead(w io.Writer, began time.Time) error {
	_, err := fmt.Fprintf(w, "#[Histogram log format version 1.3]\n#[StartTime: %.3f (seconds since epoch), %s]\n"+
		"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
		float64(began.UnixMilli())/1e3, began.UTC().Format(time.UnixDate))
	return err
}

// WriteLog writes the histogram as one interval line of a HdrHistogram log:
// beginning since the log's start, length, largest value in ms, histogram.
func (h *Hist) WriteLog(w io.Writer, at, length time.Duration) error {
	_, err := fmt.Fprintf(w, "%.3f,%.3f,%.3f,%s\n", at.Seconds(), length.Seconds(), float64(h.max)/1e6,
		base64.StdEncoding.EncodeToString(h.AppendHdr(nil)))
	return err
}
