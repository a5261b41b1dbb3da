package session

import (
	"os"
	"path/filepath"
	"time"

	"github.com/tarebench/tare/internal/atomicfile"
)

// unusedAge is the age at which unused outputs are removed from the cache.
const unusedAge = 90 * 24 * time.Hour

// outputCache stores the outputs of contenders, the measured programs, so that a later run need not
// request and check them again. It has a file for each key, in a subdirectory named by the key's first
// two digits. Errors are ignored: an output that is missing is requested again.
type outputCache struct {
	dir  string
	disk atomicfile.Disk
}

// filePath returns the path of the file of a key.
func (k outputCache) filePath(key string) string { return filepath.Join(k.dir, key[:2], key+".json") }

// Load reads an output and marks it as used.
func (k outputCache) Load(key string) (output []byte, ok bool) {
	output, err := os.ReadFile(k.filePath(key))
	if err == nil {
		now := time.Now()
		_ = os.Chtimes(k.filePath(key), now, now)
	}
	return output, err == nil
}

// Save writes an output, and removes the outputs in its subdirectory that were not used for unusedAge.
func (k outputCache) Save(key string, output []byte) {
	dir := filepath.Dir(k.filePath(key))
	if os.MkdirAll(dir, 0o755) != nil || atomicfile.Write(k.disk, k.filePath(key), output, 0o600) != nil {
		return
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > unusedAge {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
