// Package atomicfile writes files atomically. After any fault, a path has either its old or its new
// content. A write that returned without an error is not lost. For example, after a power cut
// during [Write] a reader never finds half of a file. The package also detects whether a directory
// has changed since it was sealed.
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

// ReadStart reads up to maxBytes+1 bytes of a file of any type, even an endless one. A result
// longer than maxBytes means that the file is too long.
func ReadStart(path string, maxBytes int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxBytes+1))
}

// ReadFile reads a regular file of at most maxBytes. Other files and longer ones are errors.
func ReadFile(path string, maxBytes int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxBytes {
		return nil, fmt.Errorf("%s: not a file of at most %d bytes", path, maxBytes)
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

// MakeDir is [MakeDirOn] with the system's disk.
func MakeDir(dir string, mode fs.FileMode) error { return MakeDirOn(System{}, dir, mode) }

// MakeDirOn is like [os.MkdirAll], but also syncs the names of new directories to stable storage.
func MakeDirOn(d Disk, dir string, mode fs.FileMode) error {
	var parents []string // of directories with a new name
	for missing := filepath.Clean(dir); missing != filepath.Dir(missing); missing = filepath.Dir(missing) {
		if _, err := os.Lstat(missing); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		parents = append(parents, filepath.Dir(missing))
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
	// A failing MkdirAll may report that dir exists although it does not.
	if _, statErr := os.Stat(dir); statErr != nil && !errors.Is(statErr, fs.ErrNotExist) {
		return statErr
	}
	return err
}

// File is a file that is being written under a temporary name, in the directory of its final path.
// Keep moves it to that path.
type File struct {
	disk   Disk
	handle Handle
	path   string
	closed bool // by Keep, KeepNew or Discard
}

// Create creates a temporary file in the directory of path. The caller must call Keep, KeepNew or
// Discard.
func Create(d Disk, path string) (*File, error) {
	h, err := d.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return nil, err
	}
	return &File{disk: d, handle: h, path: path}, nil
}

// Write writes the next bytes.
func (f *File) Write(p []byte) (int, error) { return f.handle.Write(p) }

// Keep moves the file to its path and replaces an existing file. If it returns nil, the content and
// the name are on stable storage.
func (f *File) Keep(mode fs.FileMode) error { return f.syncAndMove(mode, f.disk.Rename) }

// KeepNew is like Keep, but if there is a file at the path, it returns fs.ErrExist instead of
// replacing it.
func (f *File) KeepNew(mode fs.FileMode) error {
	return f.syncAndMove(mode, func(from, to string) error {
		err := f.disk.Link(from, to)
		if err == nil {
			return f.disk.Remove(from)
		}
		if _, statErr := os.Lstat(to); errors.Is(err, fs.ErrExist) || statErr == nil {
			return fs.ErrExist
		}
		return f.disk.Rename(from, to) // the file system has no hard links
	})
}

// syncAndMove syncs and closes the temporary file, calls move to give it its final name, and syncs
// the directory. If a step before move fails, it removes the temporary file.
func (f *File) syncAndMove(mode fs.FileMode, move func(from, to string) error) error {
	err := f.handle.Chmod(mode)
	if err == nil {
		err = f.handle.Sync() // otherwise the name could be on stable storage before the content
	}
	if closeErr := f.handle.Close(); err == nil {
		err = closeErr
	}
	f.closed = true
	if err == nil {
		err = move(f.handle.Name(), f.path)
	}
	if err != nil {
		_ = f.disk.Remove(f.handle.Name())
		return err
	}
	return f.disk.SyncDir(filepath.Dir(f.path))
}

// Discard removes the temporary file. It does nothing after Keep, KeepNew or Discard.
func (f *File) Discard() {
	if f.closed {
		return
	}
	f.closed = true
	_ = f.handle.Close()
	_ = f.disk.Remove(f.handle.Name())
}

// Write atomically writes a file; see [File.Keep].
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
