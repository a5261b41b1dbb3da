package gitrev

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tarebench/tare/internal/machine"
)

// HashWorktree returns the git tree hash of the files in the worktree. It omits files that
// git ignores, and the file excludePath unless that is "": the output file of a command in
// the worktree must not change the hash. The repository and its index are not changed.
func (r Repo) HashWorktree(ctx context.Context, excludePath string) (string, error) {
	head, err := r.Resolve(ctx, "HEAD")
	if err != nil {
		return "", fmt.Errorf("the repository has no commit yet: %w", err)
	}
	dir, remove, err := machine.TempDir("tree")
	if err != nil {
		return "", err
	}
	defer remove()
	excluded, err := r.excludeFile(excludePath)
	if err != nil {
		return "", err
	}
	hash, _, err := r.writeWorktree(ctx, head, dir, excluded...)
	return hash, err
}

// excludeFile returns git pathspecs that exclude the file at path, and .NAME-*, the temporary file
// that package atomicfile renames to NAME. It returns nil if path is "" or outside of the worktree.
func (r Repo) excludeFile(path string) ([]string, error) {
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
	name := escape.Replace(filepath.Base(path))
	var excluded []string
	for _, pattern := range []string{name, "." + name + "-*"} {
		excluded = append(excluded, ":(exclude,top,glob)"+filepath.ToSlash(filepath.Join(escape.Replace(dir), pattern)))
	}
	return excluded, nil
}
