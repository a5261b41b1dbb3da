//go:build !unix

package disk

// SyncDir does nothing: on this system a directory cannot be synced.
func (System) SyncDir(string) error { return nil }
