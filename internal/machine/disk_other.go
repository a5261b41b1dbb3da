//go:build !linux && !darwin

package machine

// FreeDisk would return the bytes that this user can still write to the file system of dir. On this
// system they are unknown, so ok is false.
func FreeDisk(dir string) (bytes int64, ok bool) { return 0, false }
