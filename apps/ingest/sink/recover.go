package sink

import (
	"bytes"
	"io"
)

// window is how far from its end a file is searched for holes, in bytes. What
// is not on stable storage yet is never more than one batch or one write.
const window = max(MaxBatch, maxWrite)

// wholeLines is how many of the first size bytes of r are whole lines. What
// follows them is to be cut off: a line without its end, or anything from a
// line with a zero byte on. A file system fills with zeros what a power cut
// kept it from writing, although what comes after may have been written.
func wholeLines(r io.ReaderAt, size int64) (int64, error) {
	end, err := firstZero(r, max(0, size-window), size)
	if err != nil {
		return 0, err
	}
	return lastLineEnd(r, end)
}

const block = 64 << 10

// firstZero is where the first zero byte from an offset on is, or size.
func firstZero(r io.ReaderAt, from, size int64) (int64, error) {
	buf := make([]byte, min(block, size-from))
	for from < size {
		b := buf[:min(int64(len(buf)), size-from)]
		if _, err := io.ReadFull(io.NewSectionReader(r, from, int64(len(b))), b); err != nil {
			return 0, err
		}
		if i := bytes.IndexByte(b, 0); i >= 0 {
			return from + int64(i), nil
		}
		from += int64(len(b))
	}
	return size, nil
}

// lastLineEnd is the offset behind the last line end before end, or 0.
func lastLineEnd(r io.ReaderAt, end int64) (int64, error) {
	buf := make([]byte, min(block, end))
	for end > 0 {
		b := buf[:min(int64(len(buf)), end)]
		from := end - int64(len(b))
		if _, err := io.ReadFull(io.NewSectionReader(r, from, int64(len(b))), b); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
			return from + int64(i) + 1, nil
		}
		end = from
	}
	return 0, nil
}
