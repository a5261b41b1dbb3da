package machine

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// This file makes temporary directories that can be found and removed if their process was killed.

const tempPrefix = "tare-tmp-" // begins the names of directories that TempDir makes

// TempDir makes a temporary directory with mode 0700. name becomes a part of its name. The directory
// is locked until remove is called. tare clean removes directories without a lock, because their
// process was killed.
func TempDir(name string) (dir string, remove func(), err error) {
	for {
		if dir, err = os.MkdirTemp("", tempPrefix+name+"-"); err != nil {
			return "", nil, err
		}
		unlock, ok := LockDir(dir)
		if !ok {
			continue // tare clean has locked it first
		}
		if _, err := os.Lstat(dir); err != nil { // tare clean has removed it
			unlock()
			continue
		}
		return dir, sync.OnceFunc(func() {
			_ = os.RemoveAll(dir)
			unlock()
		}), nil
	}
}

// TempFile makes a file called name in a new directory of TempDir. remove closes and removes both.
func TempFile(name string) (f *os.File, remove func(), err error) {
	dir, removeDir, err := TempDir(name)
	if err != nil {
		return nil, nil, err
	}
	if f, err = os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		removeDir()
		return nil, nil, err
	}
	return f, func() {
		_ = f.Close()
		removeDir()
	}, nil
}

// TempDirs returns the existing directories of TempDir that belong to the caller.
func TempDirs() ([]string, error) {
	entries, err := os.ReadDir(os.TempDir())
	if os.IsNotExist(err) {
		return nil, nil
	}
	var dirs []string
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), tempPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && ForeignOwner(info) == "" {
			dirs = append(dirs, filepath.Join(os.TempDir(), e.Name()))
		}
	}
	return dirs, err
}
