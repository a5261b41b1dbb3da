package catalog

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tarebench/tare/cmd/tare/internal/catalog/archive"
	"github.com/tarebench/tare/internal/build"
)

//go:generate go run ./pack -root ../../../.. -o catalog.txt

// packed is the SDK and the contenders as they were when this binary was made.
//
//go:embed catalog.txt
var packed []byte

// Embedded is the catalog inside this binary, unpacked into the cache under
// the name of its content.
func Embedded(cache string) (Catalog, error) {
	dir := Unpacked(cache)
	files, err := archive.Parse(packed)
	if err != nil {
		return Catalog{}, fmt.Errorf("the catalog in this binary: %w", err)
	}
	if err := unpack(files, dir); err != nil {
		return Catalog{}, fmt.Errorf("%w %s: %w", build.ErrCache, dir, err)
	}
	return Open(dir)
}

// Unpacked is the directory in the cache that the catalog inside this binary
// is unpacked to, whether it is there or not.
func Unpacked(cache string) string {
	sum := sha256.Sum256(packed)
	return filepath.Join(cache, "catalog", hex.EncodeToString(sum[:8]))
}

// unpack makes dir hold the files. Files that are right are left alone and
// others replaced whole, so that it can be done by many at once and again.
func unpack(files []archive.File, dir string) error {
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, f.Data) {
			continue
		}
		if err := replace(path, f.Data); err != nil {
			return err
		}
	}
	return nil
}

func replace(path string, data []byte) error {
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
