package trial

import (
	"os"
	"syscall"
	"unsafe"
)

// countUnread returns the number of unread bytes in a pipe or a terminal: TIOCINQ of ioctl_tty(2),
// which is FIONREAD. It returns 0 if the number is unknown.
func countUnread(f *os.File) int64 {
	var n int32
	if ioctl(f, syscall.TIOCINQ, unsafe.Pointer(&n)) != nil {
		return 0
	}
	return int64(n)
}
