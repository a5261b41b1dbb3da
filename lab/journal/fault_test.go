package journal

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/tarebench/tare"
)

// A disk that cannot be read in the middle of a journal is an error, wherever it
// happens: taken for the end, it would cost all rounds behind it on resuming.
func TestReadErrorIsNoEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	w, err := Create(path, Head{Study: "s"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		for _, e := range []Entry{{Slice: &tare.Slice{Round: i + 1}}, {Round: &tare.Round{Index: i + 1}}} {
			if err := w.Append(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := Read(path)
	if err != nil || len(whole.Rounds) != 3 {
		t.Fatalf("%d rounds, %v", len(whole.Rounds), err)
	}
	text := journalText(t, path)
	broken := errors.New("input/output error")
	for n := range text {
		_, err := read(path, io.MultiReader(bytes.NewReader(text[:n]), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) {
			t.Fatalf("an error after %d of %d bytes: %v", n, len(text), err)
		}
	}
}

func journalText(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
