package journal

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/atomicfile/atomicfiletest"
)

// keepRounds writes three rounds, resumes and writes two more. It returns how many
// ends of rounds were acknowledged, and goes on after errors as a careless caller
// would.
func keepRounds(d atomicfile.Disk, path string) (acknowledged int) {
	add := func(w *Writer, from, to int) {
		for i := from; i <= to; i++ {
			_ = w.Append(Entry{Slice: &tare.Slice{Round: i}})
			if w.Append(Entry{Round: &tare.Round{Index: i}}) == nil {
				acknowledged = i
			}
		}
		_ = w.Close()
	}
	w, err := createFile(d, path, Head{Study: "s"})
	if err != nil {
		return 0
	}
	add(w, 1, 3)
	log, w, err := resumeFile(d, path)
	if err != nil {
		return acknowledged
	}
	add(w, len(log.Rounds)+1, len(log.Rounds)+2)
	return acknowledged
}

// Whatever operation fails, and however, the rounds whose end was acknowledged are
// in the journal, and it can be read.
func TestNoFaultLosesARound(t *testing.T) {
	atomicfiletest.EachFault(t, func(d atomicfile.Disk, dir string) func(atomicfiletest.Fault, int) {
		path := filepath.Join(dir, FileName)
		acknowledged := keepRounds(d, path)
		return func(f atomicfiletest.Fault, at int) {
			log, err := Read(path)
			switch {
			case at == 0 && acknowledged != 5:
				t.Fatalf("%d rounds without a fault", acknowledged)
			case acknowledged == 0 && err != nil:
				return
			case err != nil || len(log.Rounds) < acknowledged:
				t.Errorf("%s at operation %d: %d rounds were acknowledged, read %+v, %v", f.Name, at, acknowledged, log, err)
				return
			case len(log.Slices) != len(log.Rounds):
				t.Errorf("%s at operation %d: %d rounds with %d slices", f.Name, at, len(log.Rounds), len(log.Slices))
			}
			for i, r := range log.Rounds {
				if r.Index != i+1 {
					t.Errorf("%s at operation %d: round %d is %d", f.Name, at, i+1, r.Index)
				}
			}
		}
	})
}

// writeRounds writes five rounds, and returns the path and the text of the journal.
func writeRounds(t *testing.T) (path string, text []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), FileName)
	if n := keepRounds(atomicfile.System{}, path); n != 5 {
		t.Fatalf("%d rounds", n)
	}
	return path, journalText(t, path)
}

// Every changed byte is found, and a journal without checksums is still read.
func TestChangedBytesAreFound(t *testing.T) {
	path, text := writeRounds(t)
	for i := range text {
		for _, bit := range []byte{1, 0x20} {
			changed := bytes.Clone(text)
			changed[i] ^= bit
			log, err := readLog("j", bytes.NewReader(changed), maxLine)
			last := i == len(text)-1 // without its end the last line is torn
			if err == nil && !(last && len(log.Rounds) == 4) {
				t.Fatalf("byte %d of %d, bit %#x: read %d rounds", i, len(text), bit, len(log.Rounds))
			}
		}
	}
	for i := range bytes.LastIndex(text, []byte(`{"slice"`)) - 1 { // two rounds follow
		changed := bytes.Clone(text)
		changed[i] = 0
		if _, err := readLog("j", bytes.NewReader(changed), maxLine); err == nil {
			t.Fatalf("byte %d of %d is zero: read", i, len(text))
		}
	}
	var old bytes.Buffer
	for line := range bytes.Lines(text) {
		fmt.Fprintf(&old, "%s}\n", line[:len(line)-1-sumLen])
	}
	if err := os.WriteFile(path, old.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	_, w, err := Resume(path)
	if err != nil || w.Append(Entry{Round: &tare.Round{Index: 6}}) != nil {
		t.Fatalf("without checksums: %v", err)
	}
	if log, err := Read(path); err != nil || len(log.Rounds) != 6 {
		t.Errorf("without checksums, resumed: %v", err)
	}
	mixed := append(text, []byte(`{"round":{"index":6}}`+"\n")...)
	if _, err := readLog("j", bytes.NewReader(mixed), maxLine); err == nil {
		t.Error("a line without a checksum in a journal with them was read")
	}
	path = filepath.Join(t.TempDir(), FileName)
	w, err = Create(path, Head{Study: "s"})
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	if log, err := Read(path); err != nil || log.Head.Study != "s" {
		t.Error(err)
	}
}
