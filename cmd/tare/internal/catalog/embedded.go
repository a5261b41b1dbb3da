package catalog

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/catalog/archive"
	"github.com/tarebench/tare/internal/build"
)

// packedDir contains an archive of the SDK and the contenders if the binary is a release or
// was made by make install. A binary that was built in a clone of the repository has no
// archive, and uses the files of the clone.
//
//go:embed all:packed
var packedDir embed.FS

var packed, _ = packedDir.ReadFile("packed/catalog.txt") //nolint:gochecknoglobals // an embedded file

// Carried opens the catalog that belongs to this binary. It unpacks the archive into the directory
// cache. Without an archive, it opens that of the clone in which the binary was built.
func Carried(cache string) (Catalog, error) {
	if len(packed) > 0 {
		return unpackAll(cache)
	}
	return openClone(sourceFile())
}

// clone is the root of the clone in which a binary with trimmed paths was linked. Only make test sets
// it (-ldflags=-X).
var clone = "" //nolint:gochecknoglobals // the linker sets it

// sourceFile returns the path of this source file when the binary was built. With -trimpath it is
// relative, unless the linker has set clone.
func sourceFile() string {
	_, path, _, _ := runtime.Caller(0)
	if pathInModule, isTrimmed := strings.CutPrefix(path, "github.com/tarebench/tare/"); isTrimmed && clone != "" {
		return filepath.Join(clone, filepath.FromSlash(pathInModule))
	}
	return filepath.FromSlash(path)
}

// openClone opens the catalog of the clone that contains source, a file of this package. It returns
// an error if source is a relative path.
func openClone(source string) (Catalog, error) {
	root, err := "", ErrNone
	if filepath.IsAbs(source) {
		root, err = Repository(filepath.Dir(source))
	}
	switch {
	case err == nil:
		return Open(root)
	case !errors.Is(err, ErrNone):
		return Catalog{}, err
	}
	return Catalog{}, fmt.Errorf("this tare has no contenders inside, and there is no clone around %s, where it was built; run it in a clone, or make install there", source)
}

func unpackAll(cache string) (Catalog, error) {
	dir := Unpacked(cache)
	files, err := archive.Parse(packed)
	if err != nil {
		return Catalog{}, fmt.Errorf("the catalog in this binary: %w", err)
	}
	if err := unpackFiles(files, dir); err != nil {
		return Catalog{}, fmt.Errorf("%w %s: %w", build.ErrCache, dir, err)
	}
	return Open(dir)
}

// Unpacked returns the directory in cache into which the archive of this binary is unpacked. It is
// named after the hash of the archive, and may not exist yet.
func Unpacked(cache string) string {
	const hashBytes = 8
	sum := sha256.Sum256(packed)
	return filepath.Join(cache, "catalog", hex.EncodeToString(sum[:hashBytes]))
}

// unpackFiles writes the files into dir. It skips unchanged files and replaces others atomically, so
// that several processes can unpack at the same time.
func unpackFiles(files []archive.File, dir string) error {
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, f.Data) {
			continue
		}
		if err := replaceFile(path, f.Data); err != nil {
			return err
		}
	}
	return nil
}

func replaceFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".unpacking-")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if _, err := tmp.Write(data); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
