package gitrev

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/tarebench/tare/internal/machine"
)

// HashWorktree returns the git tree hash of the files in the worktree. It omits files that git ignores.
// The running command writes outputs, which must not change the hash.
func (r Repo) HashWorktree(ctx context.Context, outputs ...string) (string, error) {
	head, err := r.Resolve(ctx, "HEAD")
	if err != nil {
		return "", fmt.Errorf("the repository has no commit yet: %w", err)
	}
	dir, remove, err := machine.TempDir("tree")
	if err != nil {
		return "", err
	}
	defer remove()
	var excluded []string
	for _, path := range outputs {
		patterns, err := r.excludeFile(path)
		if err != nil {
			return "", err
		}
		excluded = append(excluded, patterns...)
	}
	hash, _, err := r.writeWorktree(ctx, head, dir, excluded...)
	return hash, err
}

// excludeFile returns git pathspecs that exclude the file at path, such as
// ":(exclude,top,glob)out/NAME".
func (r Repo) excludeFile(path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
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
