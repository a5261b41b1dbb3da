package build

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// This file reads and copies the source files that a build needs. The SDK is the part of tare's
// repository that contenders import. A lab, the program that measures, is not a part of it.

// wantAll accepts all files of a module.
func wantAll(string) bool { return true }

// SDKDirs returns the directories of the repository whose packages contenders link. The root is not
// among them, although they link its package, too.
func SDKDirs() []string {
	return []string{"apps", "contender", "internal/protowire", "internal/userswire", "internal/atomicfile", "load/h2", "load/hist", "load/nap", "load/pace"}
}

// InSDK reports whether the file at rel, a slash path in the repository, is in one of SDKDirs. If
// rel ends with a slash, it is a directory, which may also be above one of SDKDirs. Files that only
// measuring programs and tests use are not in the SDK.
func InSDK(rel string) bool {
	return !isLabOnly(rel) && slices.ContainsFunc(SDKDirs(), func(dir string) bool {
		isInside := strings.HasPrefix(rel, dir+"/")
		isAbove := strings.HasSuffix(rel, "/") && strings.HasPrefix(dir, rel)
		return isInside || isAbove
	})
}

// isLabOnly reports whether rel is in a directory of the SDK, but only measuring programs and tests
// use it.
func isLabOnly(rel string) bool {
	parts := strings.Split(rel, "/") // the last one is "" for a directory
	switch parts[0] {
	case "apps":
		isFile := len(parts) == 2 && parts[1] != ""
		isInPackage := len(parts) > 3 // apps/NAME/PACKAGE/…
		isTestPackage := isInPackage && (parts[2] == "workload" || parts[2] == "conformance")
		return isFile || isTestPackage
	case "contender":
		return len(parts) > 2 && parts[1] == "contendertest"
	}
	return false
}

// sdkOnly accepts the files of the SDK, of the package in the root of the repository, and go.mod.
func sdkOnly(rel string) bool {
	if !strings.Contains(rel, "/") {
		return rel == "go.mod" || strings.HasSuffix(rel, ".go")
	}
	return InSDK(rel)
}

// walkFiles visits the files below root that want accepts, in lexical order. rel is a slash path
// relative to root; that of a directory ends with a slash. Tests, nested modules and .git are
// omitted.
func walkFiles(root string, want func(rel string) bool, visit func(root, rel string) error) error {
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
		if !want(rel) || strings.HasSuffix(rel, "_test.go") || !canRead(path, d) {
			return nil
		}
		return visit(root, rel)
	})
}

// canRead reports whether the go command would read the file: it is a regular file or a link to
// one.
func canRead(path string, d fs.DirEntry) bool {
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

// hashTree adds the paths and contents of the files below root that want accepts to h.
func hashTree(h hash.Hash, root string, want func(rel string) bool) error {
	return walkFiles(root, want, func(root, rel string) error { return hashFile(h, root, rel) })
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

// copyTree copies the files of the module in root. A link becomes a copy of its file.
func copyTree(root, target string) error {
	return walkFiles(root, wantAll, func(root, rel string) error {
		return copyInto(filepath.Join(root, filepath.FromSlash(rel)), filepath.Join(target, filepath.FromSlash(rel)))
	})
}

// copyInto copies a file, and makes the directories above the copy.
func copyInto(source, target string) error {
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	src, err := os.Open(source)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.Create(target)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if closeErr := dst.Close(); err == nil {
		err = closeErr
	}
	return err
}
