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

// A segment is a header and frames. A frame is one batch. All numbers are
// little-endian, and all sums CRC-32C.
//
//	header  magic 8 · id 16 · first 8 · after 8 · created 8 · sum 4
//	frame   magic 4 · bytes 4 · events 4 · sum of the lines 4 · first 8 · group 8 · time 8 · sum of this head 4 · lines
//
// Each event has a number, which is never used for another one. first is the number of a frame's
// first event, or the least that can be in a segment. All numbers below after were acknowledged or
// are of no event. Numbers between after and first were never acknowledged: a write that failed had
// these. group is the number of the first event of those that were written together: the next group
// is written only when this one is acknowledged.
const (
	headerMagic = "tarespl1"
	headerSize  = 52
	frameMagic  = 0x31665354
	frameSize   = 44
)

// MaxBatch is the largest size of a batch in bytes of lines.
const MaxBatch = 64 << 20

var (
	errIncomplete = errors.New("more bytes are to come")
	errDamaged    = errors.New("the bytes are damaged")
	castTab       = crc32.MakeTable(crc32.Castagnoli)
)

func computeSum(b []byte) uint32 { return crc32.Checksum(b, castTab) }

// header begins a segment.
type header struct {
	id           ID
	first, after uint64
	created      time.Time
}

// ID names a spool from one Open to the next: with an event's number it names
// the event.
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
	h.first, h.after = binary.LittleEndian.Uint64(b[24:]), binary.LittleEndian.Uint64(b[32:])
	h.created = time.UnixMilli(int64(binary.LittleEndian.Uint64(b[40:])))
	return h, nil
}

// frame is a batch.
type frame struct {
	first uint64
	group uint64
	n     uint32
	at    time.Time
	lines []byte
}

func (f frame) end() uint64 { return f.first + uint64(f.n) }

// size returns the size of the frame in a segment in bytes.
func (f frame) size() int64 { return frameSize + int64(len(f.lines)) }

func (f frame) appendTo(b []byte) []byte {
	from := len(b)
	b = binary.LittleEndian.AppendUint32(b, frameMagic)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.lines)))
	b = binary.LittleEndian.AppendUint32(b, f.n)
	b = binary.LittleEndian.AppendUint32(b, computeSum(f.lines))
	b = binary.LittleEndian.AppendUint64(b, f.first)
	b = binary.LittleEndian.AppendUint64(b, f.group)
	b = binary.LittleEndian.AppendUint64(b, uint64(f.at.UnixMilli()))
	b = binary.LittleEndian.AppendUint32(b, computeSum(b[from:]))
	return append(b, f.lines...)
}

// parseFrame parses the frame that b begins with. If b is too short, need is how many bytes there
// have to be.
func parseFrame(b []byte) (f frame, need int, err error) {
	const end = frameSize - 4
	if len(b) < frameSize {
		return f, frameSize, errIncomplete
	}
	size := binary.LittleEndian.Uint32(b[4:])
	f.n = binary.LittleEndian.Uint32(b[8:])
	if binary.LittleEndian.Uint32(b) != frameMagic || binary.LittleEndian.Uint32(b[end:]) != computeSum(b[:end]) || size > MaxBatch || f.n == 0 || f.n > size {
		return frame{}, frameSize, errDamaged
	}
	f.first, f.group = binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
	f.at = time.UnixMilli(int64(binary.LittleEndian.Uint64(b[32:])))
	need = frameSize + int(size)
	if len(b) < need {
		return f, need, errIncomplete
	}
	f.lines = b[frameSize:need:need]
	if binary.LittleEndian.Uint32(b[12:]) != computeSum(f.lines) || Lines(f.lines) != int(f.n) {
		return frame{}, need, errDamaged
	}
	return f, need, nil
}

const (
	segmentEnd = ".segment"
	damagedEnd = ".damaged"
	cursorEnd  = ".cursor"
)

// segmentPath returns the path of segment number. Numbers rise.
func segmentPath(dir string, number uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%012d%s", number, segmentEnd))
}

// segmentNumber returns the number in the name of a segment's file.
func segmentNumber(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, segmentEnd)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil && n > 0
}
