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

// A release and make install have an archive of the SDK and the contenders in
// the directory packed. A clone has none: its binary uses the clone.
//
//go:embed all:packed
var packedDir embed.FS

var packed, _ = packedDir.ReadFile("packed/catalog.txt") //nolint:gochecknoglobals // an embedded file

// Carried returns the catalog of this binary: the archive inside it, unpacked into the cache under
// the hash of its content, else the clone it was built in.
func Carried(cache string) (Catalog, error) {
	if len(packed) > 0 {
		return unpackAll(cache)
	}
	return cloneOf(sourceFile())
}

// clone is the root of the clone that a tare with trimmed paths was linked in: make
// test sets it (-ldflags=-X). It is "" in every other.
var clone = "" //nolint:gochecknoglobals // the linker sets it

// sourceFile returns the path of this file as the compiler read it. With -trimpath it is relative,
// unless the linker has set clone.
func sourceFile() string {
	_, path, _, _ := runtime.Caller(0)
	if inModule, trimmed := strings.CutPrefix(path, "github.com/tarebench/tare/"); trimmed && clone != "" {
		return filepath.Join(clone, filepath.FromSlash(inModule))
	}
	return filepath.FromSlash(path)
}

// cloneOf returns the catalog of the clone with a source file of this package.
func cloneOf(source string) (Catalog, error) {
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

// Unpacked returns the directory in the cache for the archive inside this binary, whether it exists
// or not.
func Unpacked(cache string) string {
	sum := sha256.Sum256(packed)
	return filepath.Join(cache, "catalog", hex.EncodeToString(sum[:8]))
}

// unpackFiles writes the files into dir. It skips equal files and replaces others atomically, so
// that several processes can do it concurrently and repeatedly.
func unpackFiles(files []archive.File, dir string) error {
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, f.Data) {
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
	_, err = tmp.Write(data)
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
