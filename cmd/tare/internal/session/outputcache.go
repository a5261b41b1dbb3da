package session

import (
	"os"
	"path/filepath"
	"time"

	"github.com/tarebench/tare/internal/atomicfile"
)

// unusedAge is the age of unused outputs that are removed.
const unusedAge = 90 * 24 * time.Hour

// outputCache stores outputs of contenders, the measured programs, so that a later run need not check them
// again. Each key has a file. Errors are ignored: a missing output is requested again.
type outputCache struct {
	dir  string
	disk atomicfile.Disk
}

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

// Save writes an output. It removes outputs in the same directory that were not used for unusedAge.
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
