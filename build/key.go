package build

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// sdkPath is the module whose replacement holds the SDK.
const sdkPath = "github.com/tarebench/tare"

// buildFlags are what every contender is built with. -v, which only prints,
// is added to them and does not enter the key.
var buildFlags = [...]string{"-mod=readonly", "-trimpath", "-buildvcs=false"}

// module is the Go module a leaf belongs to.
type module struct {
	root    string            // directory of go.mod
	replace map[string]string // module path → absolute directory it is replaced by
}

// base is where paths in messages start: the repository for its own leaves,
// else the leaf's module.
func (m module) base() string {
	if sdk := m.replace[sdkPath]; sdk != "" {
		if rel, err := filepath.Rel(sdk, m.root); err == nil && filepath.IsLocal(rel) {
			return sdk
		}
	}
	return m.root
}

// moduleOf finds the module dir is in, walking up.
func moduleOf(dir string) (module, error) {
	for at := dir; ; {
		src, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil {
			return module{root: at, replace: replacements(at, src)}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return module{}, err
		}
		up := filepath.Dir(at)
		if up == at {
			return module{}, fmt.Errorf("%s: no go.mod here or above; a contender is a Go module", dir)
		}
		at = up
	}
}

// replacements are the local replace directives of a go.mod. Anything odd is
// left to the go command to refuse.
func replacements(dir string, gomod []byte) map[string]string {
	out := map[string]string{}
	block := false
	for line := range strings.Lines(string(gomod)) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
			continue
		case words[0] == "replace" && len(words) == 2 && words[1] == "(":
			block = true
			continue
		case words[0] == ")":
			block = false
			continue
		case words[0] == "replace":
			words = words[1:]
		case !block:
			continue
		}
		for i, w := range words {
			if w != "=>" || i == 0 || i+2 != len(words) {
				continue // a target with a version is a module, not a directory
			}
			target := strings.Trim(words[i+1], "\"`")
			if !filepath.IsAbs(target) {
				target = filepath.Join(dir, filepath.FromSlash(target))
			}
			out[strings.Trim(words[0], "\"`")] = target
		}
	}
	return out
}

// key hashes everything that can change the leaf's binary: toolchain, flags,
// the leaf's module and every directory it is replaced to.
func key(t toolchain, leaf Leaf, m module) (string, error) {
	h := sha256.New()
	rel, err := filepath.Rel(m.root, leaf.Dir)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(h, "tare.build/1\n%s%q\npackage %q\n", t.identity(), buildFlags, filepath.ToSlash(rel))
	if err := hashTree(h, m.root, everything); err != nil {
		return "", err
	}
	if m.root != leaf.Dir { // else it is among the module's files
		if err := hashFile(h, leaf.Dir, ManifestName); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(m.replace)) {
		fmt.Fprintf(h, "replace %q\n", path)
		want := everything
		if path == sdkPath {
			want = sdkOnly
		}
		if err := hashTree(h, m.replace[path], want); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:32], nil
}

// everything is a module's own files; what is in a nested module is not.
func everything(string) bool { return true }

// sdkOnly are the files of the repository a contender can link: the nouns, the
// SDK and the applications, not the lab and not the conformance suite.
func sdkOnly(rel string) bool {
	dir, _, nested := strings.Cut(rel, "/")
	if !nested {
		return rel == "go.mod" || strings.HasSuffix(rel, ".go")
	}
	return (dir == "contender" || dir == "app") && !strings.HasPrefix(rel, "contender/contendertest/")
}

// hashTree adds the files under root for which want says yes, in lexical
// order, by slash path relative to root. Tests, other modules and version
// control are left out.
func hashTree(h hash.Hash, root string, want func(rel string) bool) error {
	root, err := filepath.EvalSymlinks(root) // WalkDir does not enter a link
	if err != nil {
		return err
	}
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel == "." {
				return nil
			}
			if d.Name() == ".git" || !want(rel+"/") || isModule(path) {
				return fs.SkipDir
			}
			return nil
		}
		if !want(rel) || strings.HasSuffix(rel, "_test.go") || !linkable(path, d) {
			return nil
		}
		return hashFile(h, root, rel)
	})
}

// linkable reports whether the go command could read the file: regular, or a
// link to a regular one. A broken link is none of ours.
func linkable(path string, d fs.DirEntry) bool {
	if d.Type()&fs.ModeSymlink == 0 {
		return d.Type().IsRegular()
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isModule(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil && info.Mode().IsRegular()
}

func hashFile(h hash.Hash, root, rel string) error {
	f, err := os.Open(filepath.Join(root, filepath.FromSlash(rel)))
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	fmt.Fprintf(h, "%q %x\n", rel, sum.Sum(nil))
	return nil
}
