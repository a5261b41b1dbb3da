package build

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// tmpPrefix marks the directories of unfinished builds.
const tmpPrefix = ".building-"

// abandonedAge is the age from which a build directory counts as abandoned.
const abandonedAge = 24 * time.Hour

// removeAbandoned removes the half-built directories of killed tares.
func removeAbandoned(bin string) {
	entries, err := os.ReadDir(bin)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), tmpPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > abandonedAge {
			removeAll(filepath.Join(bin, e.Name()))
		}
	}
}

// removeAll removes dir, more than once if a compiler that is just being
// killed writes into it meanwhile.
func removeAll(dir string) {
	for range 20 {
		if os.RemoveAll(dir) == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// makeWorkDirs makes a directory inside dir for a build, with one below it for the go command to
// work in and one for the results.
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
