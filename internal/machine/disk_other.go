//go:build !linux && !darwin

package machine

// FreeDisk returns the bytes that this user can still write to the file system of dir. ok is false if that is
// unknown.
func FreeDisk(string) (bytes int64, ok bool) { return 0, false }
