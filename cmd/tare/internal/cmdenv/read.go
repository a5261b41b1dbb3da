package cmdenv

import (
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
