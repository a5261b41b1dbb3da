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

// buildFlags are the flags of every build. goBuild adds -v, which only prints.
var buildFlags = [...]string{"-mod=readonly", "-trimpath", "-buildvcs=false"}

// buildKey returns a hash of everything that can change the binary or its record.
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
	if m.root != leaf.Dir { // otherwise hashed with the module
		if err := hashFile(h, leaf.Dir, ManifestName); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	byName := slices.SortedFunc(slices.Values(m.replace), func(a, b replacement) int { return cmp.Compare(a.editName(), b.editName()) })
	for _, r := range byName {
		if r.dir == "" {
			continue // identified by go.mod and go.sum
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
