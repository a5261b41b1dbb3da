package spool

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/atomicfile/atomicfiletest"
)

// lost adds up what a rig was told.
func (r *rig) lost() (n uint64) {
	for _, d := range r.damage {
		n += d.Lost
	}
	return n
}

// Whatever byte is damaged, events before and behind it are sent, and what is
// lost is counted to the event.
func TestDamagedByte(t *testing.T) {
	size := 0
	{
		r := newRig(t, Options{})
		r.mustKeep("1", "2")
		r.mustKeep("3")
		size = len(r.disk.Content()[segmentPath(dir, 1)])
	}
	for _, later := range []bool{false, true} { // a segment follows
		for at := headerSize; at < size; at++ {
			r := newRig(t, Options{})
			r.mustKeep("1", "2")
			r.mustKeep("3")
			if later {
				r.spool.endSegment()
			}
			r.mustKeep("4")
			r.disk.Change(segmentPath(dir, 1), func(b []byte) []byte { b[at] ^= 0x10; return b })
			got, want, lost := r.take(), "3 4 ", uint64(2)
			if at >= headerSize+frameSize+4 {
				want, lost = "1 2 4 ", 1
			}
			assert.Equal(t, fmt.Sprintf("byte %d", at), got, want)
			assert.Equal(t, fmt.Sprintf("byte %d: lost", at), r.lost(), lost)
			assert.NoError(t, "done", r.reader.saveCursor())
			assert.Equal(t, "counted", r.reader.Cursor().Lost, lost)
			copied := r.damage[0].Copy
			if got := r.disk.Content()[copied]; len(got) < frameSize {
				t.Errorf("byte %d: %q has %d bytes of what is damaged", at, copied, len(got))
			}
			assert.Contains(t, "report", r.damage[0].String(), fmt.Sprintf("%d acknowledged events are lost", lost))
		}
	}
}

// The frames of a segment whose header is damaged are read, also if it is the first
// that there is, of a cursor that is new or not.
func TestDamagedHeaderOfSegment(t *testing.T) {
	damage := func(b []byte) []byte { b[20]++; return b }
	for number := range uint64(5) { // the last may be being written
		for _, restart := range []bool{false, true} {
			r := newRig(t, Options{Segment: 100})
			want := ""
			if restart {
				r.mustKeep("before", "restart")
				var b Batch
				assert.NoError(t, "take", r.reader.Take(&b, 1, 1000))
				assert.NoError(t, "done", r.reader.Done(&b, 0))
				r.read()
				want = "restart "
			}
			for i := range 6 {
				r.mustKeep(fmt.Sprint(i))
			}
			r.disk.Change(segmentPath(dir, number+1), damage)
			name := fmt.Sprintf("segment %d, restart %v", number+1, restart)
			assert.Equal(t, name, r.take(), want+"0 1 2 3 4 5 ")
			assert.Equal(t, name+": lost", r.lost(), uint64(0))
		}
	}
}

// A reader that is new to a spool begins with what there is. What was sent before
// is not lost, and neither is what lies behind a damaged header.
func TestDamagedHeaderWhereANewReaderBegins(t *testing.T) {
	r := newRig(t, Options{Segment: 100})
	for i := range 3 {
		r.mustKeep(fmt.Sprint(i))
	}
	r.take()
	r.mustKeep("3")
	assert.NoError(t, "remove", r.disk.Remove(cursorPath(dir, "a")))
	r.disk.Change(segmentPath(dir, 3), func(b []byte) []byte { b[20]++; return b })
	r.read()
	assert.Equal(t, "sent", r.take(), "2 3 ")
	assert.Equal(t, "lost", r.lost(), uint64(0))

	r = newRig(t, Options{Segment: 100})
	for i := range 3 {
		r.mustKeep(fmt.Sprint(i))
	}
	r.disk.Change(segmentPath(dir, 1), func(b []byte) []byte { clear(b); return b })
	assert.Equal(t, "sent", r.take(), "1 2 ")
	assert.Equal(t, "lost", r.lost(), uint64(1))
}

func TestMissingSegment(t *testing.T) {
	r := newRig(t, Options{Segment: 100})
	for i := range 6 {
		r.mustKeep(fmt.Sprint(i))
	}
	assert.NoError(t, "remove", r.disk.Remove(segmentPath(dir, 2)))
	got := r.take()
	assert.Equal(t, "lost", r.lost(), uint64(6-len(strings.Fields(got))))
	if r.lost() == 0 {
		t.Error("nothing is reported")
	}
	assert.Contains(t, "report", r.damage[0].String(), "are lost before")
}

// A header that has lost bytes moves the frames behind it: new events get numbers
// behind theirs nevertheless.
func TestHeaderWithoutSomeBytes(t *testing.T) {
	r := newRig(t, Options{})
	r.mustKeep("1", "2", "3")
	assert.NoError(t, "close", r.spool.Close())
	r.disk.Change(segmentPath(dir, 1), func(b []byte) []byte { return slices.Delete(b, 7, headerSize) })
	s, found, err := Open(dir, Options{Now: r.clock.Now, files: r.disk})
	assert.NoError(t, "open", err)
	assert.Equal(t, "events", found.Events, uint64(3))
	r.spool = s
	r.mustKeep("4")
	assert.Equal(t, "sent", r.take(), "1 2 3 4 ")
}

// An unfinished write is no loss: it was never acknowledged.
func TestTornTail(t *testing.T) {
	r := newRig(t, Options{})
	r.mustKeep("1")
	r.mustKeep("torn")
	whole := len(r.disk.Content()[segmentPath(dir, 1)])
	first := headerSize + frameSize + 2
	for size := first; size < whole; size++ {
		r := newRig(t, Options{})
		r.mustKeep("1")
		r.mustKeep("torn")
		assert.NoError(t, "close", r.spool.Close())
		r.disk.Change(segmentPath(dir, 1), func(b []byte) []byte { return b[:size] })
		s, found, err := Open(dir, Options{Now: r.clock.Now, files: r.disk})
		assert.NoError(t, "open", err)
		assert.Equal(t, "torn", found.Torn, int64(size-first))
		assert.Equal(t, "events", found.Events, uint64(1))
		r.spool = s
		r.mustKeep("2")
		assert.Equal(t, "sent", r.take(), "1 2 ")
		assert.Equal(t, "damage", len(r.damage), 0)
	}
}

// A power cut leaves zeros in the place of what was not synced.
func TestZeros(t *testing.T) {
	r := newRig(t, Options{})
	r.mustKeep("1")
	assert.NoError(t, "close", r.spool.Close())
	r.disk.Change(segmentPath(dir, 1), func(b []byte) []byte { return append(b, make([]byte, 5000)...) })
	r.spool = mustOpen(t, r.disk, Options{})
	r.mustKeep("2")
	assert.Equal(t, "sent", r.take(), "1 2 ")
	assert.Equal(t, "damage", len(r.damage), 0)
}

// A damaged cursor means duplicates, not losses.
func TestDamagedCursor(t *testing.T) {
	r := newRig(t, Options{})
	r.mustKeep("1", "2")
	r.take()
	path := cursorPath(dir, "a")
	r.disk.Change(path, func(b []byte) []byte { b[30]++; return b })
	r.read() // the other copies are good
	assert.NoError(t, "close", r.all.Close())
	r.all = nil
	r.disk.Change(path, func(b []byte) []byte {
		for slot := range slots {
			b[slot*slotSpan+31] ^= 1
		}
		return b
	})
	r.read()
	assert.Equal(t, "again", r.take(), "1 2 ")
	assert.Equal(t, "reports", len(r.damage), 1)
	assert.Contains(t, "report", r.damage[0].String(), "may be sent again")
}

// Whatever is in a segment, reading it ends, and gives whole lines with rising numbers.
func FuzzReader(f *testing.F) {
	d := atomicfiletest.NewDisk(1)
	s, _, err := Open(dir, Options{Now: (&clock{at(0)}).Now, files: d})
	if err != nil {
		f.Fatal(err)
	}
	for _, lines := range []string{"a\n", "b\nc\n", "d\n"} {
		if err := s.Keep(f.Context(), []byte(lines), Lines([]byte(lines))); err != nil {
			f.Fatal(err)
		}
	}
	good := []byte(d.Content()[segmentPath(dir, 1)])
	f.Add(good, good, true)
	f.Add(good[:len(good)-1], good, true)
	f.Add(good[headerSize:], []byte{}, false)
	f.Add(append(bytes.Clone(good), good[headerSize:]...), good[:headerSize], false)
	f.Add(append(bytes.Clone(good), make([]byte, 100)...), []byte("x"), true)
	f.Fuzz(func(t *testing.T, one, two []byte, reopen bool) {
		d := atomicfiletest.NewDisk(1)
		for i, content := range [][]byte{one, two} {
			file, err := d.OpenFile(segmentPath(dir, uint64(i+1)), atomicfile.Append)
			assert.NoError(t, "open", err)
			_, err = file.Write(content)
			assert.NoError(t, "write", err)
		}
		if reopen {
			s, _, err := Open(dir, Options{Now: (&clock{at(0)}).Now, files: d})
			assert.NoError(t, "open", err)
			_ = s.Keep(t.Context(), []byte("last\n"), 1)
		}
		var text bytes.Buffer
		all, err := openReaders(d, dir, []string{"a"}, reopen, func(Damage) {})
		assert.NoError(t, "readers", err)
		r, end := all.All()[0], uint64(0)
		for range 200 {
			var b Batch
			assert.NoError(t, "take", r.Take(&b, 2, 100))
			if b.Len() == 0 {
				continue
			}
			if b.From < end || Lines(b.Lines) != b.Len() || b.Lines[len(b.Lines)-1] != '\n' {
				t.Fatalf("%+v after %d", b, end)
			}
			end = b.To
			text.Write(b.Lines)
			assert.NoError(t, "done", r.Done(&b, 0))
			assert.NoError(t, "free", all.Free(r))
		}
		if reopen && end < 1<<62 && !bytes.HasSuffix(text.Bytes(), []byte("last\n")) {
			t.Errorf("what was kept last is not read: %q", text.Bytes())
		}
	})
}
