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

// Cursor contains the position and the counters of a reader of a spool. They are saved in a file.
type Cursor struct {
	Name     string
	Position uint64 // all events with lower numbers are sent, dead or lost
	Pending  uint64 // events from Position to the number before Pending may have been sent, too

	Sent     uint64    // number of events that the destination has acknowledged
	Dead     uint64    // number of events that the destination rejects permanently; they are in the dead-letter file
	Lost     uint64    // number of acknowledged events that the disk has lost
	Failures uint64    // number of failed attempts to send a batch
	Oldest   time.Time // arrival of the first event of the batch that is being sent; zero if none is being sent
	Held     bool      // the destination accepts no events: it has never accepted one, or rejects all events of a batch
}

// flagHeld is the bit of [Cursor.Held] among the flags of a slot.
const flagHeld = 1

// The file of a cursor has four slots, each in a separate block. A slot contains a copy of the cursor
// and a number, which is higher in newer copies. writeSlot uses slot 0 or 1, never the slot of
// the newest copy, so that a crash during a write damages only an older copy. syncSlot alternates
// between slots 2 and 3: it never overwrites the copy that was synced last, which therefore survives a
// power cut. The file never grows, so that it can be written on a full disk.
const (
	cursorMagic    = 0x75635354
	cursorSize     = 76   // bytes of a copy
	slotSpan       = 4096 // bytes from the start of one slot to the next
	slots          = 4
	cursorFileSize = (slots-1)*slotSpan + cursorSize
)

// openCursor is the opened file of a cursor.
type openCursor struct {
	file   atomicfile.Handle
	number uint64 // number of the newest copy; 0 if no copy is valid
	synced int    // slot of the copy that was synced last: 2 or 3
}

// cursorPath returns the path of the cursor of reader name.
func cursorPath(dir, name string) string { return filepath.Join(dir, name+cursorEnd) }

// cursorName returns the name of the reader in the name of a file, or false if the file is no cursor.
func cursorName(file string) (name string, ok bool) { return strings.CutSuffix(file, cursorEnd) }

// errCursor means that the file of a cursor has no valid copy, but is not empty.
var errCursor = errors.New("all copies of the cursor are damaged")

// appendTo appends a copy of c with a number to b.
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

// parseCursor parses the copy at the start of b and its number. It returns false if the copy is not
// valid.
func parseCursor(b []byte) (c Cursor, number uint64, ok bool) {
	const end = cursorSize - 4 // offset of the sum
	if len(b) < cursorSize || binary.LittleEndian.Uint32(b) != cursorMagic {
		return c, 0, false
	}
	if binary.LittleEndian.Uint32(b[end:]) != computeSum(b[:end]) {
		return c, 0, false
	}
	value := func(i int) uint64 { return binary.LittleEndian.Uint64(b[4+8*i:]) } // in the order of appendTo
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

// readCursor reads the newest valid copy in a file. If the file is empty, or with errCursor, c is at
// the start, and file.number is 0.
func readCursor(f atomicfile.Handle) (c Cursor, file openCursor, err error) {
	file = openCursor{file: f, synced: 2}
	b := make([]byte, cursorFileSize)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return c, file, err
	}
	syncedNumber := uint64(0) // of the newest copy in slots 2 and 3
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

// writeSlot writes c into slot 0 or 1, which depends on the parity of the number. If the newest copy
// is in one of the two slots, writeSlot uses the other one.
func (f *openCursor) writeSlot(c Cursor) error { return f.putSlot(c, int(f.number%2)) }

// syncSlot writes c into slot 2 or 3, the one that was not synced last, and syncs the file.
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

// putSlot writes c into a slot with the next number.
func (f *openCursor) putSlot(c Cursor, slot int) error {
	if _, err := f.file.WriteAt(c.appendTo(nil, f.number+1), int64(slot)*slotSpan); err != nil {
		return fmt.Errorf("write how far %s has come: %w", c.Name, err)
	}
	f.number++
	return nil
}

// listCursors reads the cursors among the names of files in dir. Other processes may be using the
// cursors. A damaged cursor is returned with only its name.
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
