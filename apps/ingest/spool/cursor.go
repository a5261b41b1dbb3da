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

// Cursor contains the position and the counters of a reader.
type Cursor struct {
	Name     string
	Position uint64 // all events before it are sent, dead or lost
	Pending  uint64 // events up to this one may have been sent as well

	Sent     uint64    // events that the destination has acknowledged
	Dead     uint64    // events that it rejected for good: they are in the dead-letter file
	Lost     uint64    // acknowledged events that the disk has lost
	Failures uint64    // attempts that failed
	Oldest   time.Time // of the first event that is being sent; zero if none is
	Held     bool      // the destination accepts nothing: it never has, or it rejects all events of a batch
}

// flagHeld is the bit of [Cursor.Held] among the flags of a slot.
const flagHeld = 1

// A cursor's file has four slots, each in a block of its own. writeSlot takes slot 0 or 1 and never
// the newest copy, so that a crash during a write damages an older one. syncSlot alternates between
// slots 2 and 3: the copy that was synced last is never overwritten, and survives a power cut. The
// file never grows, so that it can be written on a full disk.
const (
	cursorMagic    = 0x75635354
	cursorSize     = 76
	slotSpan       = 4096
	slots          = 4
	cursorFileSize = (slots-1)*slotSpan + cursorSize
)

// openCursor is the open file of a cursor.
type openCursor struct {
	file   atomicfile.Handle
	number uint64 // of the newest slot
	synced int    // slot that was synced last: 2 or 3
}

func cursorPath(dir, name string) string { return filepath.Join(dir, name+cursorEnd) }

func cursorName(file string) (string, bool) { return strings.CutSuffix(file, cursorEnd) }

// errCursor means that a cursor cannot be read although there was one.
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
	const end = cursorSize - 4
	if len(b) < cursorSize || binary.LittleEndian.Uint32(b) != cursorMagic || binary.LittleEndian.Uint32(b[end:]) != computeSum(b[:end]) {
		return c, 0, false
	}
	v := func(i int) uint64 { return binary.LittleEndian.Uint64(b[4+8*i:]) }
	c = Cursor{Position: v(1), Pending: v(2), Sent: v(3), Dead: v(4), Lost: v(5), Failures: v(6), Held: binary.LittleEndian.Uint32(b[end-4:])&flagHeld != 0}
	if ms := int64(v(7)); ms != 0 {
		c.Oldest = time.UnixMilli(ms)
	}
	return c, v(0), true
}

// readCursor reads the newest valid slot. An empty file is a cursor at the beginning.
func readCursor(f atomicfile.Handle) (c Cursor, of openCursor, err error) {
	of = openCursor{file: f, synced: 2}
	b := make([]byte, cursorFileSize)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return c, of, err
	}
	synced := uint64(0)
	for slot := range slots {
		found, number, ok := parseCursor(b[min(slot*slotSpan, n):n])
		if !ok {
			continue
		}
		if number > of.number {
			c, of.number = found, number
		}
		if slot >= 2 && number > synced {
			of.synced, synced = slot, number
		}
	}
	if of.number == 0 && strings.Trim(string(b[:n]), "\x00") != "" {
		return c, of, errCursor
	}
	return c, of, nil
}

// writeSlot writes c into slot 0 or 1, by the parity of the number. If the newest copy is in one of
// them, that is the other one.
func (f *openCursor) writeSlot(c Cursor) error { return f.putSlot(c, int(f.number%2)) }

// syncSlot writes c into the slot of the other two that was not synced last, and brings everything
// to stable storage.
func (f *openCursor) syncSlot(c Cursor) error {
	slot := 5 - f.synced
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

// listCursors reads the cursors of a spool, which other processes may be using.
func listCursors(files atomicfile.Disk, dir string, names []string) ([]Cursor, error) {
	var out []Cursor
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
		out = append(out, c)
	}
	return out, nil
}
