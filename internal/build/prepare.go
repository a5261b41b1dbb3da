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

	"github.com/tarebench/tare/internal/atomicfile"
)

// Prepare returns the contender with pin applied: a copy of its module in the cache, at
// Cache/pinned/<key>/, in which the go command has chosen the versions. The contender's own folder is
// not changed. An existing copy is used without a go command, except that a version that is no
// release, like a branch, is resolved every time. The error is one line; see [Builder.Build].
func (b *Builder) Prepare(ctx context.Context, leaf Leaf, pin Pin) (Leaf, error) {
	if pin.IsZero() {
		return leaf, nil
	}
	tool, err := b.loadToolchain(ctx)
	if err != nil {
		return Leaf{}, err
	}
	tool = tool.withRelease(pin.Go)
	mod, err := b.moduleOf(leaf.Src())
	if err != nil {
		return Leaf{}, err
	}
	if err := pin.checkFits(leaf, mod); err != nil {
		return Leaf{}, err
	}
	limited, cancel := b.withTimeout(ctx)
	defer cancel()
	dir, err := b.preparePinned(limited, tool, mod, leaf, pin)
	switch {
	case ctx.Err() != nil:
		return Leaf{}, fmt.Errorf("preparing %s: %w", leaf.Manifest.ID, ctx.Err())
	case limited.Err() != nil:
		return Leaf{}, fmt.Errorf("preparing %s took longer than %v and was ended", leaf.Manifest.ID, b.buildTimeout())
	case err != nil:
		return Leaf{}, err
	}
	made, err := leaf.inCopy(mod, dir, pin)
	made.Manifest.Modules = pin.withoutPinned(leaf.Manifest.Modules)
	return made, err
}

// inCopy returns the contender in dir, which contains a copy of the module mod that it is built from.
// The copy needs no source: its manifest is among the copied files.
func (l Leaf) inCopy(mod leafModule, dir string, pin Pin) (Leaf, error) {
	rel, err := filepath.Rel(mod.root, l.Src())
	copied := Leaf{Dir: filepath.Join(dir, rel), Manifest: l.Manifest, Go: pin.Go}
	copied.Manifest.Source = ""
	return copied, err
}

// preparePinned returns the directory with the pinned copy of mod.
func (b *Builder) preparePinned(ctx context.Context, tool toolchain, mod leafModule, leaf Leaf, pin Pin) (dir string, err error) {
	if pin.With, err = b.resolveVersions(ctx, tool, pin.With); err != nil {
		return "", err
	}
	key, err := pinKey(tool, mod, leaf, pin)
	if err != nil {
		return "", fmt.Errorf("reading the sources of %s: %w", leaf.Manifest.ID, err)
	}
	all := filepath.Join(b.Cache, "pinned")
	dir = filepath.Join(all, key)
	if atomicfile.Sealed(dir) {
		return dir, nil
	}
	tmp, work, done, err := makeWorkDirs(all)
	if err != nil {
		return "", err
	}
	defer removeAll(tmp)
	if err := copyTree(mod.root, done); err != nil {
		return "", fmt.Errorf("copying the sources of %s: %w", leaf.Manifest.ID, err)
	}
	copied, err := leaf.inCopy(mod, done, pin)
	if err != nil {
		return "", err
	}
	if leaf.Manifest.Source != "" { // in place of that of the source
		if err := copyInto(filepath.Join(leaf.Dir, ManifestName), filepath.Join(copied.Dir, ManifestName)); err != nil {
			return "", fmt.Errorf("copying the manifest of %s: %w", leaf.Manifest.ID, err)
		}
	}
	if err := b.applyPin(ctx, tool, work, copied, mod, pin); err != nil {
		return "", err
	}
	err = atomicfile.Seal(atomicfile.System{}, done)
	if err == nil {
		err = atomicfile.Place(done, dir, atomicfile.Sealed)
	}
	if err != nil {
		return "", cacheError(all, err)
	}
	return dir, nil
}

// resolveVersions asks the go command for the current version of a branch, of "latest" or of a part
// of a version.
func (b *Builder) resolveVersions(ctx context.Context, tool toolchain, with []With) ([]With, error) {
	with = slices.Clone(with)
	nowhere, remove := OutsideModules()
	defer remove()
	for i, w := range with {
		if w.isFixed() {
			continue
		}
		out, said, err := b.runSplit(ctx, tool.path, nowhere, b.buildEnv(tool, nowhere), "list", "-m", "-json", w.String())
		var m moduleInfo
		if err == nil && json.Unmarshal([]byte(out), &m) == nil && m.Version != "" {
			with[i].Version = m.Version
			continue
		}
		if err == nil {
			err = errors.New("the go command did not say which version that is")
		}
		return nil, fmt.Errorf("%s: %s", w, strings.TrimPrefix(shortenMessage(said, err), w.String()+": "))
	}
	return with, nil
}

// pinKey hashes everything that can change the outcome of a preparation.
func pinKey(tool toolchain, mod leafModule, leaf Leaf, pin Pin) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "tare.pin/1\n%s\n%q\n%q\n", tool.env["GOVERSION"], pin.Go, absoluteReplaces(mod))
	for _, w := range pin.With {
		fmt.Fprintf(h, "with %q\n", w)
		if w.Dir == "" {
			continue
		}
		if err := hashTree(h, w.Dir, wantAll); err != nil {
			return "", err
		}
	}
	if err := hashTree(h, mod.root, wantAll); err != nil {
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
