package build

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/atomicfile"
)

// This file reads and writes built contenders in the cache. A record, built.json, is next to each
// binary.

// buildRecord is the content of built.json, the file next to a cached binary.
type buildRecord struct {
	Seconds    float64        `json:"seconds"`
	Incomplete bool           `json:"incomplete,omitempty"` // a module was unreadable; licences or a date may be missing
	Contender  tare.Contender `json:"contender"`
}

const recordName = "built.json"

// loadBuild reads a cached build from dir. ok is false if dir has no build, or if the binary
// differs from its record.
func loadBuild(dir string, leaf Leaf) (built Built, ok bool) {
	src, err := os.ReadFile(filepath.Join(dir, recordName))
	if err != nil {
		return Built{}, false
	}
	var r buildRecord
	if err := json.Unmarshal(src, &r); err != nil {
		return Built{}, false
	}
	path := filepath.Join(dir, binaryName())
	sum, size, err := atomicfile.Digest(path)
	if err != nil || sum != r.Contender.SHA256 || size != r.Contender.BinaryBytes {
		return Built{}, false
	}
	return Built{Leaf: leaf, Path: path, Cached: true, Seconds: r.Seconds, incomplete: r.Incomplete, contender: r.Contender}, true
}

// completeAdoption tries again to read licences and dates of a cached build, if some are missing. It updates
// the record in dir.
func (b *Builder) completeAdoption(ctx context.Context, tool toolchain, mod leafModule, built *Built, dir string) {
	c := &built.contender
	// Records of older versions do not have Incomplete.
	lacksLicences := b.Licences != nil && len(c.Adoption.Licences) == 0 && c.Adoption.ModulesLinked > 0
	if !built.incomplete && !lacksLicences {
		return
	}
	tmp, work, _, err := makeWorkDirs(filepath.Dir(dir))
	if err != nil {
		return
	}
	defer removeAll(tmp)
	if tool, err = b.supplySDK(ctx, tool, mod, work); err != nil {
		return
	}
	updated := *c
	if complete := b.addAdoption(ctx, tool, built.Leaf, work, &updated); complete {
		*c = updated
		_ = writeRecord(atomicfile.System{}, dir, buildRecord{Seconds: built.Seconds, Contender: updated})
	}
}

func binaryName() string {
	if runtime.GOOS == "windows" {
		return "contender.exe"
	}
	return "contender"
}

// publishBuild moves a finished build from done to dir. If another process of tare has put a valid
// build there in the meantime, that build stays.
func publishBuild(done, dir string, leaf Leaf) error {
	isValid := func(dir string) bool { _, ok := loadBuild(dir, leaf); return ok }
	if err := atomicfile.Place(done, dir, isValid); err != nil {
		return cacheError(filepath.Dir(dir), err)
	}
	return nil
}

func writeRecord(disk atomicfile.Disk, dir string, r buildRecord) error {
	src, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	if err := atomicfile.Write(disk, filepath.Join(dir, recordName), append(src, '\n'), 0o644); err != nil {
		return cacheError(dir, err)
	}
	return nil
}
