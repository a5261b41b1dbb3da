//go:build unix

package disk

import (
	"errors"
	"os"
)

// SyncDir brings the names in a directory to stable storage.
func (System) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
