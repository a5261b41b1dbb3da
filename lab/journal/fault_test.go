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
		_, err := readLog(path, io.MultiReader(bytes.NewReader(text[:n]), iotest.ErrReader(broken)), maxLine)
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

// A file without line ends is refused, before it fills the memory, and no line is
// written that could not be read.
func TestLongLineIsRefused(t *testing.T) {
	_, text := writeRounds(t)
	taken := &taking{in: io.MultiReader(bytes.NewReader(text), endless{})}
	if _, err := readLog("j", taken, 5000); err == nil || err.Error() != "j:12: a line that is longer than the longest of 5000 bytes" {
		t.Errorf("an endless line: %v", err)
	}
	if most := len(text) + 5000 + 1<<16; taken.n > most {
		t.Errorf("%d bytes were read, at most %d", taken.n, most)
	}
	w, err := Create(filepath.Join(t.TempDir(), FileName), Head{Study: "s"})
	if err != nil {
		t.Fatal(err)
	}
	long := string(bytes.Repeat([]byte("x"), maxLine))
	if err := w.Append(Entry{Done: &Done{Stopped: long}}); err == nil {
		t.Error("a line was written that is too long to be read")
	}
}

// endless is a file without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// taking counts what is read.
type taking struct {
	in io.Reader
	n  int
}

func (t *taking) Read(p []byte) (int, error) {
	n, err := t.in.Read(p)
	t.n += n
	return n, err
}
