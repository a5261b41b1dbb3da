package sink

import (
	"bytes"
	"testing"
)

// Whatever a file holds, what is kept of it are whole lines, and all of them up
// to the first that is not.
func FuzzRecover(f *testing.F) {
	for _, text := range []string{"", "\n", "a", "a\n", "a\nb", "a\n\x00\nb\n", "\x00", "{\"id\":\"1\"}\n{\"id\""} {
		f.Add([]byte(text), uint32(0))
	}
	f.Add([]byte("line\n"), uint32(30000))
	f.Add([]byte("x"), uint32(200000))
	f.Fuzz(func(t *testing.T, text []byte, times uint32) {
		if n := int(times % 300000); n > 0 && len(text)*n < 1<<20 {
			text = append(bytes.Repeat(text, n), text...)
		}
		n, err := completeLines(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			t.Fatal(err)
		}
		kept, rest := text[:n], text[n:]
		if len(kept) > 0 && kept[len(kept)-1] != '\n' || bytes.IndexByte(kept, 0) >= 0 {
			t.Errorf("of %d bytes %d were kept, which are not whole lines", len(text), n)
		}
		if end := bytes.IndexByte(rest, '\n'); end >= 0 && bytes.IndexByte(rest[:end], 0) < 0 {
			t.Errorf("of %d bytes %d were kept, and then there is one more whole line", len(text), n)
		}
	})
}
