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

// This file makes copies of contenders with other versions of modules or Go. A pin has the versions
// that the user wants, such as github.com/bytedance/sonic@v1.14.0.

// Prepare returns the contender with the versions that pin selects. It copies the contender's
// module to Cache/pinned/<key>/ and lets the go command change the versions there. The contender's
// directory is not changed. If the copy exists already, the go command only resolves versions such
// as a branch.
//
// The error is one line, as for [Builder.Build].
func (b *Builder) Prepare(ctx context.Context, leaf Leaf, pin Pin) (Leaf, error) {
	if pin.IsZero() {
		return leaf, nil
	}
	tool, err := b.loadToolchain(ctx)
	if err != nil {
		return Leaf{}, err
	}
	tool = tool.withRelease(pin.Go)
	mod, err := b.loadModule(leaf.Src())
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
	pinned, err := leaf.inCopy(mod, dir, pin)
	pinned.Manifest.Modules = pin.withoutPinned(leaf.Manifest.Modules)
	return pinned, err
}

// inCopy returns the contender in dir, a copy of its module. It has no Source: manifest and main package are
// together.
func (l Leaf) inCopy(mod leafModule, dir string, pin Pin) (Leaf, error) {
	rel, err := filepath.Rel(mod.root, l.Src())
	copied := Leaf{Dir: filepath.Join(dir, rel), Manifest: l.Manifest, Go: pin.Go}
	copied.Manifest.Source = ""
	return copied, err
}

// preparePinned returns the directory of the pinned copy of mod. It makes the copy if it does not
// exist.
func (b *Builder) preparePinned(ctx context.Context, tool toolchain, mod leafModule, leaf Leaf, pin Pin) (dir string, err error) {
	if pin.With, err = b.resolveVersions(ctx, tool, pin.With); err != nil {
		return "", err
	}
	key, err := pinKey(tool, mod, leaf, pin)
	if err != nil {
		return "", fmt.Errorf("reading the sources of %s: %w", leaf.Manifest.ID, err)
	}
	parent := filepath.Join(b.Cache, "pinned")
	dir = filepath.Join(parent, key)
	if atomicfile.Sealed(dir) {
		return dir, nil
	}
	tmp, work, done, err := makeWorkDirs(parent)
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
	if leaf.Manifest.Source != "" { // replace the copied manifest, which belongs to the source
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
		return "", cacheError(parent, err)
	}
	return dir, nil
}

// resolveVersions replaces versions that are not exact: the go command looks up a branch, a commit,
// "latest" or a part of a version.
func (b *Builder) resolveVersions(ctx context.Context, tool toolchain, with []With) ([]With, error) {
	resolved := slices.Clone(with)
	workDir, remove := OutsideModules()
	defer remove()
	for i, w := range with {
		if w.isFixed() {
			continue
		}
		out, errText, err := b.runSplit(ctx, tool.path, workDir, b.buildEnv(tool, workDir), "list", "-m", "-json", w.String())
		var m moduleInfo
		if err == nil && json.Unmarshal([]byte(out), &m) == nil && m.Version != "" {
			resolved[i].Version = m.Version
			continue
		}
		if err == nil {
			err = errors.New("the go command did not say which version that is")
		}
		return nil, fmt.Errorf("%s: %s", w, strings.TrimPrefix(shortenMessage(errText, err), w.String()+": "))
	}
	return resolved, nil
}

// pinKey returns a hash of everything that can change the pinned copy.
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
