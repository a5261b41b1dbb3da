package spool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A segment, a file of the spool, has a header and frames with one batch of events each. The number after a
// field is its size in bytes. Numbers are little-endian, and sums are CRC-32C.
//
//	header  magic 8 · id 16 · first 8 · after 8 · created 8 · sum 4
//	frame   magic 4 · bytes 4 · events 4 · sum of the lines 4 · first 8 · group 8 · time 8 ·
//	        sum of this head 4 · lines
//
// Each event has a number of its own. first is that of a frame's first event. In a header it is the lowest
// possible number in the segment.
//
// Events below after are acknowledged; failed writes may have used some numbers below it. Numbers from after
// up to first were used by failed writes only.
//
// Frames of one write are a group, with the number of its first event. The next group is written only when
// this one is acknowledged.
const (
	headerMagic = "tarespl1"
	headerSize  = 52
	frameMagic  = 0x31665354
	frameSize   = 44
)

// MaxBatch is the largest size of a batch in bytes of lines.
const MaxBatch = 64 << 20

var (
	errIncomplete = errors.New("more bytes are to come") // a write may be in progress
	errDamaged    = errors.New("the bytes are damaged")

	sumTable = crc32.MakeTable(crc32.Castagnoli)
)

func computeSum(b []byte) uint32 { return crc32.Checksum(b, sumTable) }

type header struct {
	id      ID
	first   uint64 // lowest number of its events
	after   uint64 // every event below is acknowledged
	created time.Time
}

// ID identifies a spool between two Opens. With the number it identifies an event.
type ID [16]byte

func (id ID) String() string { return fmt.Sprintf("%x", id[:]) }

func (h header) appendTo(b []byte) []byte {
	from := len(b)
	b = append(b, headerMagic...)
	b = append(b, h.id[:]...)
	b = binary.LittleEndian.AppendUint64(b, h.first)
	b = binary.LittleEndian.AppendUint64(b, h.after)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.created.UnixMilli()))
	return binary.LittleEndian.AppendUint32(b, computeSum(b[from:]))
}

func parseHeader(b []byte) (h header, err error) {
	const end = headerSize - 4
	switch {
	case len(b) < headerSize:
		return h, errIncomplete
	case string(b[:8]) != headerMagic || binary.LittleEndian.Uint32(b[end:]) != computeSum(b[:end]):
		return h, errDamaged
	}
	copy(h.id[:], b[8:])
	h.first = binary.LittleEndian.Uint64(b[24:])
	h.after = binary.LittleEndian.Uint64(b[32:])
	h.created = time.UnixMilli(int64(binary.LittleEndian.Uint64(b[40:])))
	return h, nil
}

// frame is a batch in a segment.
type frame struct {
	first  uint64
	group  uint64 // first event of the group
	events uint32
	at     time.Time
	lines  []byte // one complete line per event
}

func (f frame) end() uint64 { return f.first + uint64(f.events) }

func (f frame) size() int64 { return frameSize + int64(len(f.lines)) }

func (f frame) appendTo(b []byte) []byte {
	from := len(b)
	b = binary.LittleEndian.AppendUint32(b, frameMagic)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.lines)))
	b = binary.LittleEndian.AppendUint32(b, f.events)
	b = binary.LittleEndian.AppendUint32(b, computeSum(f.lines))
	b = binary.LittleEndian.AppendUint64(b, f.first)
	b = binary.LittleEndian.AppendUint64(b, f.group)
	b = binary.LittleEndian.AppendUint64(b, uint64(f.at.UnixMilli()))
	b = binary.LittleEndian.AppendUint32(b, computeSum(b[from:]))
	return append(b, f.lines...)
}

// parseFrame parses the frame at the start of b, whose lines stay a part of b. The error is errIncomplete or
// errDamaged. need is then the number of bytes to read before trying again.
func parseFrame(b []byte) (f frame, need int, err error) {
	const end = frameSize - 4
	if len(b) < frameSize {
		return f, frameSize, errIncomplete
	}
	size := binary.LittleEndian.Uint32(b[4:])
	f.events = binary.LittleEndian.Uint32(b[8:])
	isFrame := binary.LittleEndian.Uint32(b) == frameMagic && binary.LittleEndian.Uint32(b[end:]) == computeSum(b[:end])
	hasEvents := 0 < f.events && f.events <= size // a line has at least one byte
	if !isFrame || !hasEvents || size > MaxBatch {
		return frame{}, frameSize, errDamaged
	}
	f.first = binary.LittleEndian.Uint64(b[16:])
	f.group = binary.LittleEndian.Uint64(b[24:])
	f.at = time.UnixMilli(int64(binary.LittleEndian.Uint64(b[32:])))
	need = frameSize + int(size)
	if len(b) < need {
		return f, need, errIncomplete
	}
	f.lines = b[frameSize:need:need] // append must not overwrite b
	if binary.LittleEndian.Uint32(b[12:]) != computeSum(f.lines) || Lines(f.lines) != int(f.events) {
		return frame{}, need, errDamaged
	}
	return f, need, nil
}

// Ends of file names.
const (
	segmentEnd = ".segment"
	damagedEnd = ".damaged"
	cursorEnd  = ".cursor"
)

func segmentPath(dir string, number uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%012d%s", number, segmentEnd))
}

func segmentNumber(name string) (number uint64, ok bool) {
	digits, ok := strings.CutSuffix(name, segmentEnd)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil && n > 0
}
