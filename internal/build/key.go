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

// buildFlags are the flags of every build of a contender. -v, which only prints, is added to them
// and does not enter the key.
var buildFlags = [...]string{"-mod=readonly", "-trimpath", "-buildvcs=false"}

// buildKey hashes everything that can change the contender's binary or its record: toolchain, flags and
// tags, the module the contender is built from, every directory that is replaced to, and the contender's
// manifest.
func buildKey(t toolchain, leaf Leaf, m leafModule) (string, error) {
	h := sha256.New()
	rel, err := filepath.Rel(m.root, leaf.Src())
	if err != nil {
		return "", err
	}
	fmt.Fprintf(h, "tare.build/4\n%s%q\ntags %q\npackage %q\n", t.settingsText(), buildFlags, leaf.Manifest.Tags, filepath.ToSlash(rel))
	if err := hashTree(h, m.root, wantAll); err != nil {
		return "", err
	}
	if m.root != leaf.Dir { // else its manifest is among the module's files
		if err := hashFile(h, leaf.Dir, ManifestName); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	byName := slices.SortedFunc(slices.Values(m.replace), func(a, b replacement) int { return cmp.Compare(a.editName(), b.editName()) })
	for _, r := range byName {
		if r.dir == "" {
			continue // go.mod names the module, go.sum its content
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
