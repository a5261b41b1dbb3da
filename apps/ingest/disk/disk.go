// Package disk is the file system as sinks need it: small enough for tests to
// put one in its place that fails, fills up and loses what was not synced.
package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// Files is a file system. Errors are as those of package os: fs.ErrNotExist,
// fs.ErrExist.
type Files interface {
	Open(path string) (File, error)      // to append to, and made where there is none
	Overwrite(path string) (File, error) // to write to at offsets, and made where there is none
	Read(path string) (File, error)      // only to read from
	Rename(from, to string) error        // fails where to exists
	Remove(path string) error
	List(dir string) (names []string, err error)
	SyncDir(dir string) error // names are on stable storage then
	Lock(path string) (io.Closer, error)
}

// File is an open file.
type File interface {
	io.ReaderAt
	io.Writer   // goes to the end; only of Open
	io.WriterAt // only of Overwrite
	io.Closer
	Sync() error
	Truncate(size int64) error
	Size() (int64, error)
}

// System is the operating system's file system. Only the owner may read what it
// makes: events are private.
type System struct{}

var _ Files = System{}

// Open opens a file to append to.
func (System) Open(path string) (File, error) {
	return opened(os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, private))
}

// Overwrite opens a file to write to at offsets.
func (System) Overwrite(path string) (File, error) {
	return opened(os.OpenFile(path, os.O_RDWR|os.O_CREATE, private))
}

// Read opens a file to read from.
func (System) Read(path string) (File, error) { return opened(os.Open(path)) }

const private = 0o600

func opened(f *os.File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return file{f}, nil
}

// Rename can look first: whoever has the lock is the only one to make such
// names.
func (System) Rename(from, to string) error {
	_, err := os.Lstat(to)
	switch {
	case err == nil:
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist): // it may be there
		return err
	}
	return os.Rename(from, to)
}

// Remove removes a file.
func (System) Remove(path string) error { return os.Remove(path) }

// List returns the names in a directory, in no order.
func (System) List(dir string) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}

type file struct{ *os.File }

// Truncate tries the path too: Windows shortens no file that was opened to be
// appended to.
func (f file) Truncate(size int64) error {
	err := f.File.Truncate(size)
	if errors.Is(err, fs.ErrPermission) {
		err = os.Truncate(f.Name(), size)
	}
	return err
}

func (f file) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
