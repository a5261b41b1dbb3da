//go:build !linux && !darwin

package machine

// FreeDisk is how many bytes this user can still write to the file system of dir.
// False where it is not known.
func FreeDisk(string) (int64, bool) { return 0, false }
