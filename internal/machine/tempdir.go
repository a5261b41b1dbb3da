package machine

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// tempPrefix begins the names of directories that TempDir makes.
const tempPrefix = "tare-tmp-"

// TempDir makes a directory among the system's temporary files, for its owner only. It is
// locked until remove is called: one that is not locked is left of a process that was
// killed, and tare clean removes it.
func TempDir(what string) (dir string, remove func(), err error) {
	for {
		if dir, err = os.MkdirTemp("", tempPrefix+what+"-"); err != nil {
			return "", nil, err
		}
		unlock, ok := LockDir(dir)
		if !ok {
			continue // a tare clean has it, which came in between
		}
		if _, err := os.Lstat(dir); err != nil {
			unlock()
			continue
		}
		return dir, sync.OnceFunc(func() {
			_ = os.RemoveAll(dir)
			unlock()
		}), nil
	}
}

// TempFile makes a file in a directory of TempDir. Calling remove closes it too.
func TempFile(what string) (f *os.File, remove func(), err error) {
	dir, removeDir, err := TempDir(what)
	if err != nil {
		return nil, nil, err
	}
	if f, err = os.OpenFile(filepath.Join(dir, what), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		removeDir()
		return nil, nil, err
	}
	return f, func() {
		_ = f.Close()
		removeDir()
	}, nil
}

// TempDirs returns the directories of TempDir that are there and the caller's.
func TempDirs() ([]string, error) {
	entries, err := os.ReadDir(os.TempDir())
	if os.IsNotExist(err) {
		return nil, nil
	}
	var dirs []string
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.IsDir() && strings.HasPrefix(e.Name(), tempPrefix) && ForeignOwner(info) == "" {
			dirs = append(dirs, filepath.Join(os.TempDir(), e.Name()))
		}
	}
	return dirs, err
}
