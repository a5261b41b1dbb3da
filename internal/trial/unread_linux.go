package trial

import (
	"os"
	"syscall"
	"unsafe"
)

// countUnread returns how many bytes wait in a pipe or a terminal: ioctl_tty(2), TIOCINQ, which is
// FIONREAD.
func countUnread(f *os.File) int64 {
	var n int32
	if ioctl(f, syscall.TIOCINQ, unsafe.Pointer(&n)) != nil {
		return 0
	}
	return int64(n)
}
