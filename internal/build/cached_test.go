package build

import (
	"path/filepath"
	"testing"

	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/atomicfile/atomicfiletest"
)

// The record of a cached build is there whole or not at all, whatever operation fails.
func TestNoFaultTearsTheRecordOfABuild(t *testing.T) {
	atomicfiletest.Sweep(t, func(d atomicfile.Disk, dir string, fresh bool) (string, error) {
		r := buildRecord{Seconds: 1}
		if fresh {
			r.Seconds = 2.5
		}
		return filepath.Join(dir, recordName), writeRecord(d, dir, r)
	})
}
