package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/tarebench/tare/internal/assert"
)

// writeProc writes a proc file system with the given ticks: of all processors, and of this process, its child, the
// grandchild, and a process that is none of them.
func writeProc(t *testing.T, user, idle int, used [4]int) string {
	t.Helper()
	dir := t.TempDir()
	self := os.Getpid()
	files := map[string]string{"stat": fmt.Sprintf("cpu  %d 0 0 %d 7 0 0 3 0 0\ncpu0 1 2 3 4\n", user, idle), "self/stat": "x"}
	for i, p := range []struct{ pid, parent int }{{self, 1}, {self + 1, self}, {self + 2, self + 1}, {self + 3, 1}} {
		files[strconv.Itoa(p.pid)+"/stat"] = fmt.Sprintf("%d (a) b) (c) S %d 0 0 0 -1 0 0 0 0 0 %d 1 2 3 20 0 1 0 9", p.pid, p.parent, used[i])
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		assert.NoError(t, "directory", os.MkdirAll(filepath.Dir(path), 0o700))
		assert.NoError(t, "file", os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

// TestOtherShare: the time of this process and its descendants is not that of other programs; stolen time is.
func TestOtherShare(t *testing.T) {
	before, ok := readCPUTimes(writeProc(t, 1000, 1000, [4]int{100, 200, 300, 400}))
	assert.Equal(t, "before", ok, true)
	assert.Equal(t, "own time", before.self, int64(100+200+300+3*6))
	assert.Equal(t, "busy", before.busy, int64(1003)) // idle and waiting for disks are not
	after, ok := readCPUTimes(writeProc(t, 1080, 1120, [4]int{110, 220, 330, 440}))
	assert.Equal(t, "after", ok, true)
	assert.Equal(t, "share", otherShare(before, after), (80.0-60.0)/200.0)
	assert.Equal(t, "nothing passed", otherShare(before, before), 0.0)
}

func TestCPUTimesUnknown(t *testing.T) {
	dir := t.TempDir()
	_, ok := readCPUTimes(dir)
	assert.Equal(t, "without files", ok, false)
	for _, text := range []string{"", "cpu 1 2 3", "cpu a b c d e f g h"} {
		assert.NoError(t, "stat", os.WriteFile(filepath.Join(dir, "stat"), []byte(text), 0o600))
		_, ok := readCPUTimes(dir)
		assert.Equal(t, text, ok, false)
	}
	parent, ticks := parseProcessStat([]byte("1 (no end"))
	assert.Equal(t, "cut off", [2]int64{int64(parent), ticks}, [2]int64{0, 0})
}
