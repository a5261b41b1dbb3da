package build

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
)

// This file computes the key of a build: a hash of everything that can change the binary. If a
// contender with the same key was built before, its binary is in the cache.

// buildFlags are the flags of every build of a contender. goBuild adds -v, which only prints and is
// not part of the key.
var buildFlags = [...]string{"-mod=readonly", "-trimpath", "-buildvcs=false"}

// buildKey returns a hash of everything that can change the contender's binary or its record:
// toolchain, flags, tags, the files of module m, its replacements, and the manifest.
func buildKey(t toolchain, leaf Leaf, m leafModule) (string, error) {
	h := sha256.New()
	pkg, err := filepath.Rel(m.root, leaf.Src())
	if err != nil {
		return "", err
	}
	fmt.Fprintf(h, "tare.build/4\n%s%q\ntags %q\npackage %q\n", t.settingsText(), buildFlags, leaf.Manifest.Tags, filepath.ToSlash(pkg))
	if err := hashTree(h, m.root, wantAll); err != nil {
		return "", err
	}
	if m.root != leaf.Dir { // otherwise the manifest is among the files of the module
		if err := hashFile(h, leaf.Dir, ManifestName); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	byName := slices.SortedFunc(slices.Values(m.replace), func(a, b replacement) int { return cmp.Compare(a.editName(), b.editName()) })
	for _, r := range byName {
		if r.dir == "" {
			continue // go.mod and go.sum identify the module and its content
		}
		fmt.Fprintf(h, "replace %q\n", r.editName())
		want := wantAll
		if r.path == sdkPath {
			want = sdkOnly
		}
		if err := hashTree(h, r.dir, want); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:32], nil
}
