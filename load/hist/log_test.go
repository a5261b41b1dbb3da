package hist

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"
)

// hdrDecode reads HdrHistogram's compressed form as its documentation says,
// with none of this package's layout: it returns value → count, where a value
// is the lowest of its bucket.
func hdrDecode(b []byte) (map[int64]int64, error) {
	be := binary.BigEndian
	if len(b) < 8 || be.Uint32(b)&^0xf0 != 0x1c849304 || int(be.Uint32(b[4:])) != len(b)-8 {
		return nil, fmt.Errorf("no compressed histogram: % x", b[:min(8, len(b))])
	}
	z, err := zlib.NewReader(bytes.NewReader(b[8:]))
	if err != nil {
		return nil, err
	}
	p, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	if be.Uint32(p)&^0xf0 != 0x1c849303 || int(be.Uint32(p[4:])) != len(p)-40 || be.Uint32(p[8:]) != 0 ||
		math.Float64frombits(be.Uint64(p[32:])) != 1 {
		return nil, fmt.Errorf("head % x", p[:40])
	}
	digits, unit := int(be.Uint32(p[12:])), int64(be.Uint64(p[16:]))
	// Sub-buckets: the power of two that holds twice ten to the digits.
	sub := int64(1)
	for sub < 2*int64(math.Pow10(digits)) {
		sub *= 2
	}
	out := map[int64]int64{}
	i := int64(0)
	for p = p[40:]; len(p) > 0; {
		u, shift, n := uint64(0), 0, 0
		for {
			c := p[n]
			n++
			if n == 9 {
				u |= uint64(c) << shift
				break
			}
			u |= uint64(c&0x7f) << shift
			shift += 7
			if c < 0x80 {
				break
			}
		}
		p = p[n:]
		v := int64(u>>1) ^ -int64(u&1)
		if v < 0 {
			i -= v
			continue
		}
		bucket, at := i/(sub/2)-1, i%(sub/2)+sub/2
		if bucket < 0 {
			bucket, at = 0, at-sub/2
		}
		if v > 0 {
			out[at<<bucket*unit] = v
		}
		i++
	}
	return out, nil
}

func TestLogIsReadAsHdrHistogram(t *testing.T) {
	for _, h := range []*Hist{new(Hist), of(0), of(5, 5, 255, 256, 1e6), of(Top), of(draws(20000, 4)...)} {
		want := map[int64]int64{}
		for i, n := range h.counts {
			if n > 0 {
				want[lowest(i)] = n
			}
		}
		var log strings.Builder
		began := time.Date(2024, 2, 3, 4, 5, 6, 7e6, time.UTC)
		if err := WriteLogHead(&log, began); err != nil {
			t.Fatal(err)
		}
		if err := h.WriteLog(&log, 1500*time.Millisecond, time.Second); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(log.String(), "\n")
		if len(lines) != 5 || lines[0] != "#[Histogram log format version 1.3]" ||
			lines[1] != "#[StartTime: 1706933106.007 (seconds since epoch), Sat Feb  3 04:05:06 UTC 2024]" {
			t.Fatalf("log:\n%s", log.String())
		}
		fields := strings.Split(lines[3], ",")
		if len(fields) != 4 || fields[0] != "1.500" || fields[1] != "1.000" || fields[2] != fmt.Sprintf("%.3f", float64(h.max)/1e6) {
			t.Fatalf("interval: %s", lines[3])
		}
		if !strings.HasPrefix(fields[3], "HISTFAAA") { // how every reader knows the form
			t.Fatalf("histogram: %.20s", fields[3])
		}
		b, err := base64.StdEncoding.DecodeString(fields[3])
		if err != nil {
			t.Fatal(err)
		}
		got, err := hdrDecode(b)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("came back as %v, want %v", got, want)
		}
	}
}

func TestZigzag(t *testing.T) {
	for v, want := range map[int64]string{
		0: "00", -1: "01", 1: "02", 63: "7e", 64: "8001", -64: "7f",
		math.MaxInt64: "feffffffffffffffff", math.MinInt64: "ffffffffffffffffff",
	} {
		if got := fmt.Sprintf("%x", appendZigzag(nil, v)); got != want {
			t.Errorf("%d: %s, want %s", v, got, want)
		}
	}
}
