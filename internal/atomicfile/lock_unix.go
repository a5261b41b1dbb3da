//go:build unix && !solaris && !aix

package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// Lock locks the file at path, and creates it if necessary. It fails if another process has the
// lock. The lock also ends with the process.
func (System) Lock(path string) (io.Closer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, privateMode)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil {
		return fileLock{f}, nil
	}
	_ = f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("%s is locked: another process writes this file", path)
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

type fileLock struct{ *os.File }

// Close unlocks the file and closes it. Closing alone is not enough: a child process that is being
// started has inherited the open file, and with it the lock, until it executes its program.
func (l fileLock) Close() error {
	return errors.Join(syscall.Flock(int(l.Fd()), syscall.LOCK_UN), l.File.Close())
}
