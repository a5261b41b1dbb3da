package cmdenv

import (
	"strings"
	"testing"
)

func TestReadAtMost(t *testing.T) {
	if src, err := ReadAtMost(strings.NewReader("12345"), 5); err != nil || string(src) != "12345" {
		t.Errorf("%q, %v", src, err)
	}
	if _, err := ReadAtMost(strings.NewReader("123456"), 5); err == nil || err.Error() != "more than 5 bytes" {
		t.Errorf("too much: %v", err)
	}
}
