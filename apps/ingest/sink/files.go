package sink

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// files is what a File needs of a file system. Errors are as those of package
// os: fs.ErrNotExist, fs.ErrExist.
type files interface {
	open(path string) (handle, error) // to append to, and made where there is none
	rename(from, to string) error     // fails where to exists
	remove(path string) error
	list(dir string) (names []string, err error)
	syncDir(dir string) error // names are on stable storage then
	lock(path string) (io.Closer, error)
}

// handle is an open file. What is written goes to its end.
type handle interface {
	io.ReaderAt
	io.Writer
	io.Closer
	Sync() error
	Truncate(size int64) error
	Size() (int64, error)
}

// disk is the operating system's files.
type disk struct{}

func (disk) open(path string) (handle, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	return diskFile{f}, nil
}

// rename can look first: whoever has the lock is the only one to make such
// names.
func (disk) rename(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: fs.ErrExist}
	}
	return os.Rename(from, to)
}

func (disk) remove(path string) error { return os.Remove(path) }

func (disk) list(dir string) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}

type diskFile struct{ *os.File }

// Truncate tries the path too: Windows shortens no file that was opened to be
// appended to.
func (f diskFile) Truncate(size int64) error {
	err := f.File.Truncate(size)
	if errors.Is(err, fs.ErrPermission) {
		err = os.Truncate(f.Name(), size)
	}
	return err
}

func (f diskFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
