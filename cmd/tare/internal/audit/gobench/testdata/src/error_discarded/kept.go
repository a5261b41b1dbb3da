package error_discarded

import (
	"strconv"
	"strings"
)

type textReader struct{ r *strings.Reader }

func newTextReader(text string) *textReader { return &textReader{strings.NewReader(text)} }

func (r *textReader) all(dst []byte) ([]byte, error) {
	c, err := r.r.ReadByte()
	return append(dst, c), err
}

func parsed(text string) (int, bool, error) {
	n, err := strconv.Atoi(text)
	return n, n > 0, err
}

func counted(text string) (int, bool, error) {
	n, err := strconv.Atoi(text)
	return n + 1, n > 0, err
}
