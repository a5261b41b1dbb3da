package build

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/whole"
)

// record is built.json, beside a cached binary.
type record struct {
	Seconds    float64        `json:"seconds"`
	Incomplete bool           `json:"incomplete,omitempty"` // not every module could be asked what it says about itself
	Contender  tare.Contender `json:"contender"`
}

const recordName = "built.json"

// load reads a cached build. A binary that is not the one that was recorded
// counts as absent.
func load(dir string, leaf Leaf) (Built, bool) {
	src, err := os.ReadFile(filepath.Join(dir, recordName))
	if err != nil {
		return Built{}, false
	}
	var r record
	if json.Unmarshal(src, &r) != nil {
		return Built{}, false
	}
	path := filepath.Join(dir, binaryName())
	sum, size, err := whole.Digest(path)
	if err != nil || sum != r.Contender.SHA256 || size != r.Contender.BinaryBytes {
		return Built{}, false
	}
	return Built{Leaf: leaf, Path: path, Cached: true, Seconds: r.Seconds, incomplete: r.Incomplete, contender: r.Contender}, true
}

// complete asks the modules of a cached build again where not all could be asked
// before. What it cannot find out or write down now is left to the next run.
func (b *Builder) complete(ctx context.Context, tool toolchain, mod module, built *Built, dir string) {
	c := &built.contender
	unnamed := b.Licences != nil && len(c.Adoption.Licences) == 0 && c.Adoption.ModulesLinked > 0 // as it was kept before there was a mark
	if !built.incomplete && !unnamed {
		return
	}
	tmp, work, _, err := workplace(filepath.Dir(dir))
	if err != nil {
		return
	}
	defer removeAll(tmp)
	if tool, err = b.supply(ctx, tool, mod, work); err != nil {
		return
	}
	asked := *c
	if b.adopt(ctx, tool, built.Leaf, work, &asked) {
		*c = asked
		_ = note(whole.System{}, dir, record{Seconds: built.Seconds, Contender: asked})
	}
}

func binaryName() string {
	if runtime.GOOS == "windows" {
		return "contender.exe"
	}
	return "contender"
}

// publish moves a finished build to its place. Another tare may have been
// faster: then its build stands, if it is whole.
func publish(done, dir string, leaf Leaf) error {
	err := whole.Place(done, dir, func(dir string) bool { _, ok := load(dir, leaf); return ok })
	if err != nil {
		return cacheError(filepath.Dir(dir), err)
	}
	return nil
}

// note writes built.json into dir.
func note(disk whole.Disk, dir string, r record) error {
	src, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	if err := whole.Write(disk, filepath.Join(dir, recordName), append(src, '\n'), 0o644); err != nil {
		return cacheError(dir, err)
	}
	return nil
}
