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

// sumName is the file that seals a directory: a checksum of all other files there.
const sumName = ".tare-sum"

// Seal seals dir: it writes a file with the checksum of the names, sizes and contents of all files
// below dir. After that nothing may be written there.
func Seal(d Disk, dir string) error {
	sum, err := sumOf(dir)
	if err != nil {
		return err
	}
	return Write(d, filepath.Join(dir, sumName), sum, 0o644)
}

// Sealed reports whether the content of dir is the same as when it was sealed. It returns false if
// dir was never sealed, cannot be read, or is incomplete after a power cut or an interrupted
// removal.
func Sealed(dir string) bool {
	const maxSum = 1 << 10 // bytes
	want, err := ReadFile(filepath.Join(dir, sumName), maxSum)
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

// Place moves the complete directory done to dir by a rename. If isValid reports that dir is
// complete already, another process was faster, and Place leaves both directories as they are. A
// dir that is not valid is removed first.
func Place(done, dir string, isValid func(dir string) bool) error {
	err := os.Rename(done, dir)
	if err == nil || isValid(dir) {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	err = os.Rename(done, dir)
	if err != nil && isValid(dir) { // another process was faster meanwhile
		return nil
	}
	return err
}
