package spool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/tarebench/tare/internal/atomicfile"
)

// Cursor has the position and counters of a spool's reader, in a file.
type Cursor struct {
	Name     string
	Position uint64 // all events with lower numbers are sent, dead or lost
	Pending  uint64 // events from Position to the number before Pending may have been sent, too

	Sent     uint64    // events that the destination has acknowledged
	Dead     uint64    // events in the dead-letter file, rejected permanently
	Lost     uint64    // acknowledged events that the disk has lost
	Failures uint64    // failed attempts to send a batch
	Oldest   time.Time // arrival of the first event of the batch in flight; zero without one
	Held     bool      // the destination has never accepted an event, or rejects all events of a batch
}

const flagHeld = 1

// A cursor's file has four slots in separate blocks. Each has a numbered copy of the cursor.
//
// writeSlot uses slot 0 or 1, but never that of the newest copy. So a crash damages only an older one.
// syncSlot alternates between 2 and 3, so the last synced copy survives a power cut.
//
// The file never grows, so that it can be written on a full disk.
const (
	cursorMagic    = 0x75635354
	cursorSize     = 76 // bytes of a copy
	slotSpan       = 4096
	slots          = 4
	cursorFileSize = (slots-1)*slotSpan + cursorSize
)

type openCursor struct {
	file   atomicfile.Handle
	number uint64 // number of the newest copy; 0 if none is valid
	synced int    // slot that was synced last: 2 or 3
}

func cursorPath(dir, name string) string { return filepath.Join(dir, name+cursorEnd) }

func cursorName(file string) (name string, ok bool) { return strings.CutSuffix(file, cursorEnd) }

// errCursor means that a cursor's file has no valid copy, but is not empty.
var errCursor = errors.New("all copies of the cursor are damaged")

func (c Cursor) appendTo(b []byte, number uint64) []byte {
	from := len(b)
	b = binary.LittleEndian.AppendUint32(b, cursorMagic)
	oldest := int64(0)
	if !c.Oldest.IsZero() {
		oldest = c.Oldest.UnixMilli()
	}
	for _, v := range []uint64{number, c.Position, c.Pending, c.Sent, c.Dead, c.Lost, c.Failures, uint64(oldest)} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	flags := uint32(0)
	if c.Held {
		flags |= flagHeld
	}
	b = binary.LittleEndian.AppendUint32(b, flags)
	return binary.LittleEndian.AppendUint32(b, computeSum(b[from:]))
}

func parseCursor(b []byte) (c Cursor, number uint64, ok bool) {
	const end = cursorSize - 4 // offset of the sum
	if len(b) < cursorSize || binary.LittleEndian.Uint32(b) != cursorMagic {
		return c, 0, false
	}
	if binary.LittleEndian.Uint32(b[end:]) != computeSum(b[:end]) {
		return c, 0, false
	}
	value := func(i int) uint64 { return binary.LittleEndian.Uint64(b[4+8*i:]) } // same order as appendTo
	flags := binary.LittleEndian.Uint32(b[end-4:])
	c = Cursor{
		Position: value(1),
		Pending:  value(2),
		Sent:     value(3),
		Dead:     value(4),
		Lost:     value(5),
		Failures: value(6),
		Held:     flags&flagHeld != 0,
	}
	if ms := int64(value(7)); ms != 0 {
		c.Oldest = time.UnixMilli(ms)
	}
	return c, value(0), true
}

// readCursor reads the newest valid copy. Without one, file.number is 0.
func readCursor(f atomicfile.Handle) (c Cursor, file openCursor, err error) {
	file = openCursor{file: f, synced: 2}
	b := make([]byte, cursorFileSize)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return c, file, err
	}
	syncedNumber := uint64(0) // newest copy in slots 2 and 3
	for slot := range slots {
		found, number, ok := parseCursor(b[min(slot*slotSpan, n):n])
		if !ok {
			continue
		}
		if number > file.number {
			c, file.number = found, number
		}
		if slot >= 2 && number > syncedNumber {
			file.synced, syncedNumber = slot, number
		}
	}
	isEmpty := strings.Trim(string(b[:n]), "\x00") == "" // a power cut can leave zeros
	if file.number == 0 && !isEmpty {
		return c, file, errCursor
	}
	return c, file, nil
}

// writeSlot alternates between slots 0 and 1.
func (f *openCursor) writeSlot(c Cursor) error { return f.putSlot(c, int(f.number%2)) }

// syncSlot writes slot 2 or 3 and syncs the file.
func (f *openCursor) syncSlot(c Cursor) error {
	slot := 5 - f.synced // 2 if 3 was synced last, else 3
	if err := f.putSlot(c, slot); err != nil {
		return err
	}
	if err := f.file.Sync(); err != nil {
		return fmt.Errorf("sync how far %s has come: %w", c.Name, err)
	}
	f.synced = slot
	return nil
}

func (f *openCursor) putSlot(c Cursor, slot int) error {
	if _, err := f.file.WriteAt(c.appendTo(nil, f.number+1), int64(slot)*slotSpan); err != nil {
		return fmt.Errorf("write how far %s has come: %w", c.Name, err)
	}
	f.number++
	return nil
}

// listCursors reads the cursors among names, which other processes may be using. A damaged one has only its
// name.
func listCursors(files atomicfile.Disk, dir string, names []string) ([]Cursor, error) {
	var list []Cursor
	for _, file := range names {
		name, ok := cursorName(file)
		if !ok {
			continue
		}
		f, err := files.OpenFile(cursorPath(dir, name), atomicfile.ReadOnly)
		if err != nil {
			return nil, err
		}
		c, _, err := readCursor(f)
		_ = f.Close()
		if err != nil && !errors.Is(err, errCursor) {
			return nil, err
		}
		c.Name = name
		list = append(list, c)
	}
	return list, nil
}
