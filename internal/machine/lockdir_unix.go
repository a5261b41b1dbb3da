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
// time. It returns false if another process has locked it. The lock ends with the process. On file
// systems that cannot lock a directory LockDir always returns true.
func LockDir(dir string) (unlock func(), ok bool) {
	d, err := os.Open(dir)
	if err != nil {
		return func() {}, true // the caller gets the error when it writes into dir
	}
	if err := lockFile(d); errors.Is(err, errLocked) {
		_ = d.Close()
		return nil, false
	}
	return func() { unlockFile(d) }, true
}

// unlockFile unlocks f and closes it. Closing alone would not be enough: a child process that is being
// started has f open until it executes its program, and holds the lock until then.
func unlockFile(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	_ = f.Close()
}
