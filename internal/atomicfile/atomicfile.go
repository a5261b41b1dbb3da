// Package atomicfile writes files atomically, whatever fails and whenever the machine stops:
// acknowledged writes stay. It reads files with a size limit, and detects a directory whose files
// have changed since it was sealed.
package atomicfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ReadStart reads up to one byte more than most of a file of any type: its parser rejects that, and
// an endless file does not fill the memory.
func ReadStart(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most+1))
}

// ReadFile reads a regular file of at most most bytes.
func ReadFile(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fmt.Errorf("%s: not a file of at most %d bytes", path, most)
	}
	return os.ReadFile(path)
}

// Digest returns the SHA-256 of a file, in hexadecimal digits, and its size in bytes.
func Digest(path string) (sum string, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	if size, err = io.Copy(h, f); err != nil {
		return "", 0, err
	}
	return hex.EncodeToString(h.Sum(nil)), size, nil
}

// MakeDir calls [MakeDirOn] with the system's disk.
func MakeDir(dir string, mode fs.FileMode) error { return MakeDirOn(System{}, dir, mode) }

// MakeDirOn is [os.MkdirAll] that also syncs the new names to stable storage. It returns the reason
// if the disk fails: MkdirAll then reports that the directory exists.
func MakeDirOn(d Disk, dir string, mode fs.FileMode) error {
	var parents []string
	for at := filepath.Clean(dir); at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Lstat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		parents = append(parents, filepath.Dir(at))
	}
	err := os.MkdirAll(dir, mode)
	if err == nil {
		for _, parent := range parents {
			err = errors.Join(err, d.SyncDir(parent))
		}
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, errStat := os.Stat(dir); errStat != nil && !errors.Is(errStat, fs.ErrNotExist) {
		return errStat
	}
	return err
}

// File is a file that is being written. It appears at its path when Keep succeeds.
type File struct {
	disk   Disk
	handle Handle
	path   string
	over   bool // kept or discarded
}

// Create begins a file next to the path where it will be.
func Create(d Disk, path string) (*File, error) {
	h, err := d.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return nil, err
	}
	return &File{disk: d, handle: h, path: path}, nil
}

// Write writes the next bytes.
func (f *File) Write(p []byte) (int, error) { return f.handle.Write(p) }

// Keep moves the file to its path. If it returns without an error the file is on stable storage,
// and so is its name.
func (f *File) Keep(mode fs.FileMode) error {
	return f.syncAndPlace(mode, f.disk.Rename)
}

// KeepNew is Keep for a path that must not exist: an existing file stays, and the error is
// fs.ErrExist.
func (f *File) KeepNew(mode fs.FileMode) error {
	return f.syncAndPlace(mode, func(from, to string) error {
		err := f.disk.Link(from, to)
		if err == nil {
			return f.disk.Remove(from)
		}
		if _, errStat := os.Lstat(to); errors.Is(err, fs.ErrExist) || errStat == nil {
			return fs.ErrExist
		}
		return f.disk.Rename(from, to) // a file system without links
	})
}

func (f *File) syncAndPlace(mode fs.FileMode, place func(from, to string) error) error {
	err := f.handle.Chmod(mode)
	if err == nil {
		err = f.handle.Sync() // or the name is on the disk before its content
	}
	if errClose := f.handle.Close(); err == nil {
		err = errClose
	}
	f.over = true
	if err == nil {
		err = place(f.handle.Name(), f.path)
	}
	if err != nil {
		_ = f.disk.Remove(f.handle.Name())
		return err
	}
	return f.disk.SyncDir(filepath.Dir(f.path))
}

// Discard removes a file that was not kept.
func (f *File) Discard() {
	if f.over {
		return
	}
	f.over = true
	_ = f.handle.Close()
	_ = f.disk.Remove(f.handle.Name())
}

// Write writes a file at once.
func Write(d Disk, path string, text []byte, mode fs.FileMode) error {
	return writeWith(d, path, text, func(f *File) error { return f.Keep(mode) })
}

// WriteNew atomically writes a file that must not exist yet; see [File.KeepNew].
func WriteNew(d Disk, path string, text []byte, mode fs.FileMode) error {
	return writeWith(d, path, text, func(f *File) error { return f.KeepNew(mode) })
}

func writeWith(d Disk, path string, text []byte, keep func(*File) error) error {
	f, err := Create(d, path)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(text); err != nil {
		return err
	}
	return keep(f)
}
