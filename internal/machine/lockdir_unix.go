//go:build unix && !solaris && !aix

package machine

import (
	"errors"
	"os"
	"syscall"
)

// CanLockDirs reports whether LockDir locks.
const CanLockDirs = true

// LockDir locks a directory without waiting, so that one process at a time writes into it. ok is false
// if another process has the lock. The lock ends with the process. On file systems that cannot lock a
// directory, ok is always true.
func LockDir(dir string) (unlock func(), ok bool) {
	d, err := os.Open(dir)
	if err != nil {
		return func() {}, true // writing into dir will fail anyway
	}
	if err := lockFile(d); errors.Is(err, errLocked) {
		_ = d.Close()
		return nil, false
	}
	return func() { unlockFile(d) }, true
}

// unlockFile unlocks f and closes it. Closing alone is not enough: a child process that is just being
// started has f open, and so the lock, until it executes its program.
func unlockFile(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	_ = f.Close()
}
