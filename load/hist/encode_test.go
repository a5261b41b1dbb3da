package hist

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"testing"
)

func TestEncodeAndDecode(t *testing.T) {
	for _, h := range []*Hist{new(Hist), of(0), of(Top), of(Top + 1), of(1, Top+1), of(255, 256, 257), of(draws(5000, 2)...)} {
		s := h.Encode()
		got, err := Decode(s)
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		if *got != *h {
			t.Fatalf("%s came back as %s", s, got.Encode())
		}
	}
	if s := of(draws(100000, 2)...).Encode(); len(s) > 8<<10 {
		t.Errorf("100,000 values take %d bytes", len(s))
	}
}

// word writes numbers in the format of Encode.
func word(values ...uint64) string {
	var b []byte
	for _, v := range values {
		b = binary.AppendUvarint(b, v)
	}
	return version + base64.RawURLEncoding.EncodeToString(b)
}

func TestDecodeRefuses(t *testing.T) {
	if good := word(2, 0, 3, 5, 0, 8, 0, 34, 4, 1, 2, 1); of(3, 5).Encode() != good {
		t.Fatalf("%s, want %s", of(3, 5).Encode(), good)
	}
	for name, s := range map[string]string{
		"empty":                  "",
		"another version":        "h2." + strings.TrimPrefix(of(1).Encode(), version),
		"not base64":             version + "!!",
		"no head":                version,
		"half a head":            word(2, 0, 3),
		"step without count":     word(2, 0, 3, 5, 0, 8, 0, 34, 4, 1, 2),
		"counts differ":          word(3, 0, 3, 5, 0, 8, 0, 34, 4, 1, 2, 1),
		"step zero":              word(2, 0, 3, 5, 0, 8, 0, 34, 4, 1, 0, 1),
		"step too far":           word(2, 0, 3, 5, 0, 8, 0, 34, 4, 1, uint64(bucketCount), 1),
		"empty bucket":           word(1, 0, 3, 3, 0, 3, 0, 9, 4, 1, 2, 0),
		"min elsewhere":          word(2, 0, 4, 5, 0, 8, 0, 34, 4, 1, 2, 1),
		"max elsewhere":          word(2, 0, 3, 4, 0, 8, 0, 34, 4, 1, 2, 1),
		"max below min":          word(2, 0, 5, 3, 0, 8, 0, 34, 4, 1, 2, 1),
		"sum too small":          word(2, 0, 3, 5, 0, 7, 0, 34, 4, 1, 2, 1),
		"sum too large":          word(2, 0, 3, 5, 1, 8, 0, 34, 4, 1, 2, 1),
		"squares too small":      word(2, 0, 3, 5, 0, 8, 0, 33, 4, 1, 2, 1),
		"over without values":    word(2, 1, 3, 5, 0, 8, 0, 34, 4, 1, 2, 1),
		"figures without values": word(0, 0, 3, 0, 0, 0, 0, 0),
		"too many":               word(1<<63, 0, 3, 3, 0, 3, 0, 9, 4, 1<<63),
		"a longer number":        version + base64.RawURLEncoding.EncodeToString([]byte{0x81, 0, 0, 3, 3, 0, 3, 0, 9, 4, 1}),
	} {
		if h, err := Decode(s); err == nil {
			t.Errorf("%s: %q was taken for %s", name, s, h.Encode())
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("")
	f.Add("h1.")
	f.Add(new(Hist).Encode())
	f.Add(of(3, 5).Encode())
	f.Add(of(1, Top+1).Encode())
	f.Add(of(draws(50, 1)...).Encode())
	f.Fuzz(func(t *testing.T, s string) {
		h, err := Decode(s)
		if err != nil {
			return
		}
		if h.Encode() != s {
			t.Fatalf("%q came back as %q", s, h.Encode())
		}
		if q := h.Quantile(0.5); q < h.Min() || q > h.Max() || h.SD() < 0 {
			t.Fatalf("median %d, min %d, max %d, deviation %v", q, h.Min(), h.Max(), h.SD())
		}
		h.Merge(of(7))
		if h.Count() < 1 {
			t.Fatal("a merged histogram is empty")
		}
	})
}
