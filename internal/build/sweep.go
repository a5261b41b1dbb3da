package build

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// This file makes and removes the temporary directories of builds, such as .building-123.

// tmpPrefix begins the names of the directories of unfinished builds.
const tmpPrefix = ".building-"

// abandonedAge is the age from which a build directory counts as abandoned.
const abandonedAge = 24 * time.Hour

// removeAbandoned removes the directories in dir that killed processes of tare have left.
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

// removeAll removes dir. It tries several times, because a compiler that is being killed may still
// write into dir.
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
