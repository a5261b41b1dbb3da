package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare/internal/whole"
)

// Prepare returns the leaf as pin wants it: a copy of its module in the cache,
// at Cache/pinned/<key>/, in which the go command has chosen the versions. The
// leaf's own folder stays as it is. What was prepared before is used again
// without a go command, except that a version that is none, like a branch, is
// asked for every time. The error is one line; see [Builder.Build].
func (b *Builder) Prepare(ctx context.Context, leaf Leaf, pin Pin) (Leaf, error) {
	if pin.IsZero() {
		return leaf, nil
	}
	tool, err := b.toolchain(ctx)
	if err != nil {
		return Leaf{}, err
	}
	tool = tool.as(pin.Go)
	mod, err := b.moduleOf(leaf.Src())
	if err != nil {
		return Leaf{}, err
	}
	if err := pin.fits(leaf, mod); err != nil {
		return Leaf{}, err
	}
	limited, cancel := b.limit(ctx)
	defer cancel()
	dir, err := b.prepare(limited, tool, mod, leaf, pin)
	switch {
	case ctx.Err() != nil:
		return Leaf{}, fmt.Errorf("preparing %s: %w", leaf.Manifest.ID, ctx.Err())
	case limited.Err() != nil:
		return Leaf{}, fmt.Errorf("preparing %s took longer than %v and was ended", leaf.Manifest.ID, b.timeout())
	case err != nil:
		return Leaf{}, err
	}
	made, err := leaf.within(mod, dir, pin)
	made.Manifest.Modules = pin.claims(leaf.Manifest.Modules)
	return made, err
}

// within is the leaf in dir, which holds a copy of the module mod that it is
// built from. There it needs no source: its manifest lies among the copied
// files.
func (l Leaf) within(mod module, dir string, pin Pin) (Leaf, error) {
	rel, err := filepath.Rel(mod.root, l.Src())
	copied := Leaf{Dir: filepath.Join(dir, rel), Manifest: l.Manifest, Go: pin.Go}
	copied.Manifest.Source = ""
	return copied, err
}

// prepare returns the directory that holds the pinned copy of mod.
func (b *Builder) prepare(ctx context.Context, tool toolchain, mod module, leaf Leaf, pin Pin) (dir string, err error) {
	if pin.With, err = b.resolve(ctx, tool, pin.With); err != nil {
		return "", err
	}
	key, err := pinKey(tool, mod, leaf, pin)
	if err != nil {
		return "", fmt.Errorf("reading the sources of %s: %w", leaf.Manifest.ID, err)
	}
	all := filepath.Join(b.Cache, "pinned")
	dir = filepath.Join(all, key)
	if whole.Sealed(dir) {
		return dir, nil
	}
	tmp, work, done, err := workplace(all)
	if err != nil {
		return "", err
	}
	defer removeAll(tmp)
	if err := copyTree(mod.root, done); err != nil {
		return "", fmt.Errorf("copying the sources of %s: %w", leaf.Manifest.ID, err)
	}
	copied, err := leaf.within(mod, done, pin)
	if err != nil {
		return "", err
	}
	if leaf.Manifest.Source != "" { // in place of that of the source
		if err := copyInto(filepath.Join(leaf.Dir, ManifestName), filepath.Join(copied.Dir, ManifestName)); err != nil {
			return "", fmt.Errorf("copying the manifest of %s: %w", leaf.Manifest.ID, err)
		}
	}
	if err := b.repin(ctx, tool, work, copied, mod, pin); err != nil {
		return "", err
	}
	err = whole.Seal(whole.System{}, done)
	if err == nil {
		err = whole.Place(done, dir, whole.Sealed)
	}
	if err != nil {
		return "", cacheError(all, err)
	}
	return dir, nil
}

// resolve asks the go command what a branch, "latest" or a part of a version
// stands for now.
func (b *Builder) resolve(ctx context.Context, tool toolchain, with []With) ([]With, error) {
	with = slices.Clone(with)
	nowhere, remove := OutsideModules()
	defer remove()
	for i, w := range with {
		if w.fixed() {
			continue
		}
		out, said, err := b.query(ctx, tool.path, nowhere, b.buildEnv(tool, nowhere), "list", "-m", "-json", w.String())
		var m listed
		if err == nil && json.Unmarshal([]byte(out), &m) == nil && m.Version != "" {
			with[i].Version = m.Version
			continue
		}
		if err == nil {
			err = errors.New("the go command did not say which version that is")
		}
		return nil, fmt.Errorf("%s: %s", w, strings.TrimPrefix(shortened(said, err), w.String()+": "))
	}
	return with, nil
}

// pinKey hashes everything that can change the outcome of a preparation.
func pinKey(tool toolchain, mod module, leaf Leaf, pin Pin) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "tare.pin/1\n%s\n%q\n%q\n", tool.env["GOVERSION"], pin.Go, absolute(mod))
	for _, w := range pin.With {
		fmt.Fprintf(h, "with %q\n", w)
		if w.Dir == "" {
			continue
		}
		if err := hashTree(h, w.Dir, everything); err != nil {
			return "", err
		}
	}
	if err := hashTree(h, mod.root, everything); err != nil {
		return "", err
	}
	if leaf.Manifest.Source != "" {
		fmt.Fprintf(h, "tags %q\n", leaf.Manifest.Tags)
		if err := hashFile(h, leaf.Dir, ManifestName); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:32], nil
}
