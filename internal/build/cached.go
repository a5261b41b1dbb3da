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

// buildRecord is the content of built.json, next to a cached binary.
type buildRecord struct {
	Seconds    float64        `json:"seconds"`
	Incomplete bool           `json:"incomplete,omitempty"` // not every module could be read
	Contender  tare.Contender `json:"contender"`
}

const recordName = "built.json"

// loadBuild reads a cached build. A binary that differs from the recorded one counts as absent.
func loadBuild(dir string, leaf Leaf) (Built, bool) {
	src, err := os.ReadFile(filepath.Join(dir, recordName))
	if err != nil {
		return Built{}, false
	}
	var r buildRecord
	if json.Unmarshal(src, &r) != nil {
		return Built{}, false
	}
	path := filepath.Join(dir, binaryName())
	sum, size, err := atomicfile.Digest(path)
	if err != nil || sum != r.Contender.SHA256 || size != r.Contender.BinaryBytes {
		return Built{}, false
	}
	return Built{Leaf: leaf, Path: path, Cached: true, Seconds: r.Seconds, incomplete: r.Incomplete, contender: r.Contender}, true
}

// completeAdoption reads the modules of a cached build again if not all could be read before. It
// leaves what it cannot find or write now to the next run.
func (b *Builder) completeAdoption(ctx context.Context, tool toolchain, mod leafModule, built *Built, dir string) {
	c := &built.contender
	unnamed := b.Licences != nil && len(c.Adoption.Licences) == 0 && c.Adoption.ModulesLinked > 0 // as saved before there was a mark
	if !built.incomplete && !unnamed {
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
	asked := *c
	if b.addAdoption(ctx, tool, built.Leaf, work, &asked) {
		*c = asked
		_ = writeRecord(atomicfile.System{}, dir, buildRecord{Seconds: built.Seconds, Contender: asked})
	}
}

func binaryName() string {
	if runtime.GOOS == "windows" {
		return "contender.exe"
	}
	return "contender"
}

// publishBuild moves a finished build to its directory. If another tare was faster, its build stays
// if it is complete.
func publishBuild(done, dir string, leaf Leaf) error {
	err := atomicfile.Place(done, dir, func(dir string) bool { _, ok := loadBuild(dir, leaf); return ok })
	if err != nil {
		return cacheError(filepath.Dir(dir), err)
	}
	return nil
}

// writeRecord writes built.json into dir.
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
