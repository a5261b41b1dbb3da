package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
)

// Disk has the file operations of programs whose files must survive faults. The system's file
// system is one. Tests use others, which fail, fill up or lose power.
type Disk interface {
	OpenFile(path string, flag int) (Handle, error) // like [os.OpenFile]; a new file has mode 0600
	CreateTemp(dir, pattern string) (Handle, error) // like [os.CreateTemp]
	Rename(from, to string) error
	RenameNew(from, to string) error // fails with fs.ErrExist if to exists
	Link(from, to string) error      // fails with fs.ErrExist if to exists
	Remove(path string) error
	List(dir string) (names []string, err error) // in any order
	SyncDir(dir string) error                    // brings the names in dir to stable storage
	Lock(path string) (io.Closer, error)         // fails if path is locked; the lock ends with Close or the process
}

// Flags of OpenFile.
const (
	ReadOnly  = os.O_RDONLY
	Append    = os.O_RDWR | os.O_CREATE | os.O_APPEND
	Overwrite = os.O_RDWR | os.O_CREATE // for WriteAt, which Append does not permit
)

// Handle is an open file.
type Handle interface {
	io.ReadWriteCloser
	io.ReaderAt
	io.WriterAt // fails if the file was opened with Append
	Name() string
	Chmod(mode fs.FileMode) error
	Sync() error
	Truncate(size int64) error
	Size() (int64, error)
}

// System is the operating system's file system.
type System struct{}

const privateMode = 0o600 // mode of new files

// OpenFile is [os.OpenFile].
func (System) OpenFile(path string, flag int) (Handle, error) {
	return wrapFile(os.OpenFile(path, flag, privateMode))
}

// CreateTemp is [os.CreateTemp].
func (System) CreateTemp(dir, pattern string) (Handle, error) {
	return wrapFile(os.CreateTemp(dir, pattern))
}

func wrapFile(f *os.File, err error) (Handle, error) {
	if err != nil {
		return nil, err
	}
	return file{f}, nil
}

// Rename is [os.Rename].
func (System) Rename(oldPath, newPath string) error { return os.Rename(oldPath, newPath) }

// RenameNew checks that newPath does not exist and then renames. Only the process with the lock creates
// files there.
func (System) RenameNew(oldPath, newPath string) error {
	_, err := os.Lstat(newPath)
	switch {
	case err == nil:
		return &os.LinkError{Op: "rename", Old: oldPath, New: newPath, Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return os.Rename(oldPath, newPath)
}

// Link is [os.Link].
func (System) Link(oldPath, newPath string) error { return os.Link(oldPath, newPath) }

// Remove is [os.Remove].
func (System) Remove(path string) error { return os.Remove(path) }

// List returns the names in a directory.
func (System) List(dir string) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}

// SyncDir brings the names in a directory to stable storage, except on Windows.
func (System) SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

type file struct{ *os.File }

// Truncate shortens the file. Windows does not permit that through a handle that was opened with
// Append.
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
