package cmdenv

import (
	"fmt"
	"io"
)

// ReadAtMost reads to the end, which must come within so many bytes: more are bad input.
func ReadAtMost(r io.Reader, most int64) ([]byte, error) {
	src, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(src)) > most {
		return nil, Usage(fmt.Sprintf("more than %d bytes", most), "")
	}
	return src, err
}
