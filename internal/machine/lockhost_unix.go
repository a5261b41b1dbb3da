//go:build unix && !linux && !solaris && !aix

package machine

import (
	"os"
	"syscall"
)

// hostFile returns the path of the file of lock name, in a directory that all users may write to. The
// file is only opened for reading, so its owner need not permit others to write.
func hostFile(name string) string { return "/tmp/tare-" + name + ".lock" }

// tryLockHost opens and locks the file of lock name, or returns errLocked.
func tryLockHost(name string) (func(), error) {
	f, err := os.OpenFile(hostFile(name), os.O_RDONLY|os.O_CREATE|syscall.O_NOFOLLOW, 0o644)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { unlockFile(f) }, nil
}

// hostHolder returns unknownHolder: processes do not write their names into the file.
func hostHolder(string) string { return unknownHolder }
