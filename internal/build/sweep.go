package build

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// tmpPrefix marks the directories of builds that are under way.
const tmpPrefix = ".building-"

// abandoned is the age at which nobody can still be building in a directory.
const abandoned = 24 * time.Hour

// sweep removes what a tare that was killed outright left half-built.
func sweep(bin string) {
	entries, err := os.ReadDir(bin)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), tmpPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > abandoned {
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

// workplace makes a directory inside dir for a build that is under way, with
// one below it for the go command to work in and one for what is to be kept.
func workplace(dir string) (tmp, work, done string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", "", "", cacheError(dir, err)
	}
	sweep(dir)
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
