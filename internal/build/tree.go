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

// wantAll accepts all of a module's own files; those in a nested module are not among them.
func wantAll(string) bool { return true }

// SDKDirs returns the directories of the repository that contenders link packages
// of, next to the nouns in its root: the SDK, the applications, and what the load
// generator shares with the SDK.
func SDKDirs() []string {
	return []string{"apps", "contender", "internal/protowire", "internal/atomicfile", "load/h2", "load/hist", "load/nap", "load/pace"}
}

// InSDK reports whether a file of the repository is in one of SDKDirs, or a
// directory, whose path ends with a slash, is in or above one. What is there for
// labs and tests alone is in none.
func InSDK(rel string) bool {
	return !isLabOnly(rel) && slices.ContainsFunc(SDKDirs(), func(dir string) bool {
		return strings.HasPrefix(rel, dir+"/") || strings.HasSuffix(rel, "/") && strings.HasPrefix(dir, rel)
	})
}

// isLabOnly reports whether no contender links it: the list of apps, their workloads, and the
// conformance suites.
func isLabOnly(rel string) bool {
	parts := strings.Split(rel, "/")
	switch parts[0] {
	case "apps":
		return len(parts) == 2 && parts[1] != "" || len(parts) > 3 && (parts[2] == "workload" || parts[2] == "conformance")
	case "contender":
		return len(parts) > 2 && parts[1] == "contendertest"
	}
	return false
}

// sdkOnly reports whether a file or directory is the nouns' or the SDK's.
func sdkOnly(rel string) bool {
	if !strings.Contains(rel, "/") {
		return rel == "go.mod" || strings.HasSuffix(rel, ".go")
	}
	return InSDK(rel)
}

// walkFiles visits the files under root that want accepts, in lexical order, by slash path relative
// to root. It omits tests, other modules and version control.
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

// canRead reports whether the go command could read the file: a regular one, or a link to a regular
// one. It is false for a broken link.
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

// hashTree adds the files under root that want accepts.
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

// copyTree copies what hashTree reads, links as the files they lead to.
func copyTree(root, to string) error {
	return walkFiles(root, wantAll, func(root, rel string) error {
		return copyInto(filepath.Join(root, filepath.FromSlash(rel)), filepath.Join(to, filepath.FromSlash(rel)))
	})
}

// copyInto copies a file and makes the directories above it.
func copyInto(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if e := dst.Close(); err == nil {
		err = e
	}
	return err
}
