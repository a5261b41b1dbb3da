package sink

import (
	"bytes"
	"io"
)

// searchWindow is the number of bytes at the end of a file that are searched for holes. It covers all
// data that may not have been synced, which is at most one batch or one write.
const searchWindow = max(MaxBatch, maxWrite)

// completeLines returns the number of bytes at the start of r that are valid complete lines, out of
// size bytes. The caller removes the rest: a line without its end, or a line with a zero byte and all
// bytes after it. Zeros are holes: after a power cut during a write, the file system fills blocks that
// were not written with zeros, even if blocks after them were written.
func completeLines(r io.ReaderAt, size int64) (int64, error) {
	end, err := firstZero(r, max(0, size-searchWindow), size)
	if err != nil {
		return 0, err
	}
	return lastLineEnd(r, end)
}

const blockSize = 64 << 10 // bytes of one read

// firstZero returns the offset of the first zero byte at or after the offset from, or size if all bytes
// up to size are not zero.
func firstZero(r io.ReaderAt, from, size int64) (int64, error) {
	buf := make([]byte, min(blockSize, size-from))
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

// lastLineEnd returns the offset after the last line end before the offset end, or 0 if no line ends
// before it.
func lastLineEnd(r io.ReaderAt, end int64) (int64, error) {
	buf := make([]byte, min(blockSize, end))
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
