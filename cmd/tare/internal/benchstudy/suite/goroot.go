package suite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

type goRoots struct {
	path string // GOROOT
	// replaceable is a path by which an overlay, a file for go build -overlay, may replace files,
	// or "". The go command does not replace files below the module cache, where it downloads
	// toolchains. A link from another directory avoids this.
	replaceable string
}

func (s *Side) findRoots(ctx context.Context, dir string) (goRoots, error) {
	out, err := s.runGo(ctx, "env", "GOROOT", "GOMODCACHE")
	if err != nil {
		return goRoots{}, err
	}
	root, cache, _ := strings.Cut(strings.TrimSpace(out), "\n")
	roots := goRoots{path: strings.TrimSpace(root), replaceable: strings.TrimSpace(root)}
	rel, err := filepath.Rel(strings.TrimSpace(cache), roots.path)
	if err != nil || !filepath.IsLocal(rel) {
		return roots, nil
	}
	// The build cache has the standard library by its content, whatever the path.
	link := filepath.Join(dir, "goroot")
	err = os.MkdirAll(dir, 0o755)
	if err == nil {
		err = os.Symlink(roots.path, link)
	}
	if err == nil || errors.Is(err, fs.ErrExist) {
		roots.replaceable = link
	} else {
		roots.replaceable = "" // Windows lets few users make links
	}
	return roots, nil
}

func (s *Side) withRoot(root string) *Side {
	out := *s
	out.goRoot = root
	return &out
}

func (s *Side) goCommand() string {
	name := "go"
	if runtime.GOOS == "windows" {
		name = "go.exe"
	}
	return filepath.Join(s.goRoot, "bin", name)
}
