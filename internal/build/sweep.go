package build

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// tmpPrefix begins the names of unfinished builds.
const tmpPrefix = ".building-"

// abandonedAge is the age of an unused build directory.
const abandonedAge = 24 * time.Hour

// removeAbandoned removes what killed processes have left in dir.
func removeAbandoned(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), tmpPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > abandonedAge {
			removeAll(filepath.Join(dir, e.Name()))
		}
	}
}

// removeAll retries, because a compiler that is being killed may still write.
func removeAll(dir string) {
	for range 20 {
		if os.RemoveAll(dir) == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// makeWorkDirs makes a directory tmp inside dir for a build. In tmp, work is for temporary files and done for
// results. The caller removes tmp.
func makeWorkDirs(dir string) (tmp, work, done string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", "", "", cacheError(dir, err)
	}
	removeAbandoned(dir)
	if tmp, err = os.MkdirTemp(dir, tmpPrefix); err != nil {
		return "", "", "", cacheError(dir, err)
	}
	work, done = filepath.Join(tmp, "work"), filepath.Join(tmp, "done")
	for _, d := range []string{work, done} {
		if err := os.Mkdir(d, 0o755); err != nil {
			removeAll(tmp)
			return "", "", "", cacheError(dir, err)
		}
	}
	return tmp, work, done, nil
}
