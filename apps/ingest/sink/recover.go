package sink

import (
	"bytes"
	"io"
)

// searchWindow is searched for holes at the end of a file. At most one batch or one write is not synced.
const searchWindow = max(MaxBatch, maxWrite)

// completeLines returns the size of the valid lines in r. After a power cut, blocks that were not written are
// zeros, even before written ones. So a line with a zero byte is invalid, with all after it.
func completeLines(r io.ReaderAt, size int64) (int64, error) {
	end, err := firstZero(r, max(0, size-searchWindow), size)
	if err != nil {
		return 0, err
	}
	return lastLineEnd(r, end)
}

const blockSize = 64 << 10 // bytes of one read

func firstZero(r io.ReaderAt, start, size int64) (int64, error) {
	buf := make([]byte, min(blockSize, size-start))
	for start < size {
		b := buf[:min(int64(len(buf)), size-start)]
		if _, err := io.ReadFull(io.NewSectionReader(r, start, int64(len(b))), b); err != nil {
			return 0, err
		}
		if i := bytes.IndexByte(b, 0); i >= 0 {
			return start + int64(i), nil
		}
		start += int64(len(b))
	}
	return size, nil
}

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
