package session

import (
	"os"
	"path/filepath"
	"time"

	"github.com/tarebench/tare/internal/whole"
)

// knownFor is how long answers that no run reads stay in the cache.
const knownFor = 90 * 24 * time.Hour

// known keeps the answers of contenders in a directory of the cache: a file for
// each key, in directories of their first two digits. What cannot be written is
// asked for again.
type known struct {
	dir  string
	disk whole.Disk
}

func (k known) path(key string) string { return filepath.Join(k.dir, key[:2], key+".json") }

// Load reads an answer and marks it as used.
func (k known) Load(key string) ([]byte, bool) {
	src, err := os.ReadFile(k.path(key))
	if err == nil {
		now := time.Now()
		_ = os.Chtimes(k.path(key), now, now)
	}
	return src, err == nil
}

// Save writes an answer, and removes those of its directory that no run has read
// for long.
func (k known) Save(key string, what []byte) {
	dir := filepath.Dir(k.path(key))
	if os.MkdirAll(dir, 0o755) != nil || whole.Write(k.disk, k.path(key), what, 0o600) != nil {
		return
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > knownFor {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
