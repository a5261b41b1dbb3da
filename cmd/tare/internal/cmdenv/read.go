package cmdenv

import (
	"fmt"
	"io"
)

// ReadAtMost reads r to its end. The error is a usage error if r has more than maxBytes.
func ReadAtMost(r io.Reader, maxBytes int64) ([]byte, error) {
	src, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err == nil && int64(len(src)) > maxBytes {
		return nil, Usage(fmt.Sprintf("more than %d bytes", maxBytes), "")
	}
	return src, err
}
