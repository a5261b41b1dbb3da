//go:build unix && !solaris && !aix

package machine

import (
	"errors"
	"os"
	"syscall"
)

// CanLockDirs reports whether LockDir locks.
const CanLockDirs = true

// LockDir locks a directory without waiting, so that two processes do not write into it at the same
// time; ok is false if another one has it. The lock ends with the process. On file systems that
// cannot lock a directory it always succeeds.
func LockDir(dir string) (unlock func(), ok bool) {
	d, err := os.Open(dir)
	if err != nil {
		return func() {}, true // writing to it will fail with the reason
	}
	for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
		err = syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		_ = d.Close()
		return nil, false
	}
	return func() { unlockFile(d) }, true
}

// unlockFile unlocks f before it closes it: a child process that is being started has
// f open until it runs its program, and would hold the lock for that long.
func unlockFile(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	_ = f.Close()
}
