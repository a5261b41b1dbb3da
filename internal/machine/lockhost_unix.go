//go:build unix && !linux && !solaris && !aix

package machine

import (
	"os"
	"syscall"
)

// hostFile returns the path of a lock's file, in a directory for all users. The file is only opened
// for reading, so its owner need not permit others to write.
func hostFile(name string) string { return "/tmp/tare-" + name + ".lock" }

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

// hostHolder returns unknownHolder, because processes write nothing into the file.
func hostHolder(string) string { return unknownHolder }
