package gatecmd

import (
	"strings"
	"testing"
)

// A report of a few bytes that takes much memory is refused before it is decoded.
func TestReportMemoryIsBounded(t *testing.T) {
	src := `{"results":[{"trials":[` + strings.Repeat("1,", 4<<20) + "1]}]}"
	if _, err := readReport("x", []byte(src)); err == nil || err.Error() != "x is no report of tare gate: its values take more than 768 MiB of memory" {
		t.Error(err)
	}
}
