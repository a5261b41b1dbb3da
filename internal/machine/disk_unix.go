//go:build linux || darwin

package machine

import "syscall"

// FreeDisk is how many bytes this user can still write to the file system of dir.
// False where it is not known.
func FreeDisk(dir string) (int64, bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}
