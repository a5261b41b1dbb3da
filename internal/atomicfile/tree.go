package atomicfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// sumName is the file of a directory with the checksum of all its other files.
const sumName = ".tare-sum"

// Seal writes the sum of all files below dir into it: their names, sizes and
// contents. It is the last file that is written there.
func Seal(d Disk, dir string) error {
	sum, err := sumOf(dir)
	if err != nil {
		return err
	}
	return Write(d, filepath.Join(dir, sumName), sum, 0o644)
}

// Sealed reports whether the content of dir is the same as when it was sealed. It returns false if
// dir was never sealed, if a power cut or an interrupted removal took a part of it, or if it cannot
// be read.
func Sealed(dir string) bool {
	want, err := ReadFile(filepath.Join(dir, sumName), 1<<10)
	if err != nil {
		return false
	}
	sum, err := sumOf(dir)
	return err == nil && bytes.Equal(sum, want)
}

func sumOf(dir string) ([]byte, error) {
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || rel == sumName {
			return err
		}
		fmt.Fprintf(h, "%q %v\n", filepath.ToSlash(rel), d.Type())
		if d.IsDir() {
			return nil
		}
		if !d.Type().IsRegular() {
			return fmt.Errorf("%s: neither a file nor a directory", path)
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		content := sha256.New()
		size, err := io.Copy(content, f)
		fmt.Fprintf(h, "%d %x\n", size, content.Sum(nil))
		return err
	})
	return []byte(hex.EncodeToString(h.Sum(nil)) + "\n"), err
}

// Place moves the directory done to dir in one rename. What is there already stays if
// it is right, as another process was faster; else it is removed.
func Place(done, dir string, right func(dir string) bool) error {
	err := os.Rename(done, dir)
	if err == nil || right(dir) {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err = os.Rename(done, dir); err != nil && right(dir) {
		return nil
	}
	return err
}
