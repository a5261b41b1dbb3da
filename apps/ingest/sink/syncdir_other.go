//go:build !unix

package sink

// syncDir does nothing: on this system a directory cannot be synced.
func (disk) syncDir(string) error { return nil }
