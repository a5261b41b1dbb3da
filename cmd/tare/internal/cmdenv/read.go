package cmdenv

import (
	"fmt"
	"io"
	"os"
)

// ReadFile reads up to one byte more than most of a file, whatever it is: its
// parser refuses that, and a file without an end takes no memory without an end.
func ReadFile(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most+1))
}

// ReadAtMost reads to the end, which must come within so many bytes: more are bad input.
func ReadAtMost(r io.Reader, most int64) ([]byte, error) {
	src, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(src)) > most {
		return nil, Usage(fmt.Sprintf("more than %d bytes", most), "")
	}
	return src, err
}
