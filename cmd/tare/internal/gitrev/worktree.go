package gitrev

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tarebench/tare/internal/machine"
)

// HashWorktree returns git's hash of the files as they are, except those that git
// ignores and the file at without, if it is not "": what a command writes about a
// worktree, into it, is not part of it. The repository and its index stay as they are.
func (r Repo) HashWorktree(ctx context.Context, without string) (string, error) {
	head, err := r.Resolve(ctx, "HEAD")
	if err != nil {
		return "", fmt.Errorf("the repository has no commit yet: %w", err)
	}
	dir, remove, err := machine.TempDir("tree")
	if err != nil {
		return "", err
	}
	defer remove()
	except, err := r.exceptFile(without)
	if err != nil {
		return "", err
	}
	hash, _, err := r.writeWorktree(ctx, head, dir, except...)
	return hash, err
}

// exceptFile returns the pathspecs of git that leave out the file at path, and the
// temporary file that becomes it. It returns none if path is "" or outside the worktree.
func (r Repo) exceptFile(path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	root, err := filepath.EvalSymlinks(r.Root)
	if err != nil {
		return nil, err
	}
	dir, err = filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(dir) {
		return nil, nil //nolint:nilerr // on another drive of Windows
	}
	escape := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)
	var except []string
	for _, pattern := range []string{escape.Replace(filepath.Base(path)), "." + escape.Replace(filepath.Base(path)) + "-*"} {
		except = append(except, ":(exclude,top,glob)"+filepath.ToSlash(filepath.Join(escape.Replace(dir), pattern)))
	}
	return except, nil
}
