package trial

import (
	"os"
	"syscall"
	"unsafe"
)

// countUnread returns the number of unread bytes in a pipe or terminal, or 0 if unknown. It calls
// TIOCINQ of ioctl_tty(2), which is FIONREAD.
func countUnread(f *os.File) int64 {
	var n int32
	if ioctl(f, syscall.TIOCINQ, unsafe.Pointer(&n)) != nil {
		return 0
	}
	return int64(n)
}
