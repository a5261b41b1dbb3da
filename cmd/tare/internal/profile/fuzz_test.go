package profile

import (
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/tarebench/tare"
)

func zipped(t testing.TB, raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// FuzzRead: whatever a contender hands over is refused or can be drawn.
func FuzzRead(f *testing.F) {
	for _, calls := range [][]call{rich, lean, nil} {
		raw, err := unzip(document(f, "cpu", "nanoseconds", calls), MaxDocument)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
		for _, share := range []int{2, 3, 5, 7} { // cut off, and with a byte changed
			f.Add(raw[:len(raw)-len(raw)/share])
			odd := bytes.Clone(raw)
			odd[len(odd)/share] ^= 0x7f
			f.Add(odd)
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := Read(zipped(t, raw), tare.ProfileCPU)
		if err != nil {
			return
		}
		p.Top(10)
		wellFormed(t, p.Flame("fuzz", 7))
		if g, err := Compare(Side{"a", p, 1}, Side{"b", p, 2}, 5); err == nil {
			if err := g.WriteText(&bytes.Buffer{}); err != nil {
				t.Fatal(err)
			}
		}
	})
}
