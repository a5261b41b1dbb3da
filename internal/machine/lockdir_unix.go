//go:build unix && !solaris && !aix

package machine

import (
	"errors"
	"os"
	"syscall"
)

// CanLockDirs reports whether LockDir locks.
const CanLockDirs = true

// LockDir locks a directory, so that one process at a time writes into it. It does not wait: ok is false if
// another process has it. The lock ends with the process. ok is also true on file systems without such locks.
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

// unlockFile unlocks f and closes it. Closing is not enough: a child that is being started has f open until it
// executes its program.
func unlockFile(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	_ = f.Close()
}
