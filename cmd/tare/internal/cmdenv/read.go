package cmdenv

import (
	"fmt"
	"io"
)

// ReadAtMost reads r to its end. More than most bytes are a usage error.
func ReadAtMost(r io.Reader, most int64) ([]byte, error) {
	src, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(src)) > most {
		return nil, Usage(fmt.Sprintf("more than %d bytes", most), "")
	}
	return src, err
}
