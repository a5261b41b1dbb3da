//go:build unix

package sink

import (
	"errors"
	"os"
)

func (disk) syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
