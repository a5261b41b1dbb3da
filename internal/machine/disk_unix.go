//go:build linux || darwin

package machine

import "syscall"

// FreeDisk returns the bytes that this user can still write to the file system of dir. ok is false if
// they are unknown.
func FreeDisk(dir string) (bytes int64, ok bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}
