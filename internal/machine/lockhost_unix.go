//go:build unix && !linux && !solaris && !aix

package machine

import (
	"errors"
	"os"
	"syscall"
)

// hostFile returns the path of the file of lock name, in a directory that all users may write to. The
// file is only opened for reading, so its owner need not permit others to write.
func hostFile(name string) string { return "/tmp/tare-" + name + ".lock" }

func tryLockHost(name string) (func(), error) {
	f, err := os.OpenFile(hostFile(name), os.O_RDONLY|os.O_CREATE|syscall.O_NOFOLLOW, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
			return nil, errLocked
		}
		return nil, err
	}
	return func() { unlockFile(f) }, nil
}

func hostHolder(string) string { return unknown }
