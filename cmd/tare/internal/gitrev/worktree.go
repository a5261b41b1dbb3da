package gitrev

import (
	"context"
	"fmt"

	"github.com/tarebench/tare/internal/machine"
)

// HashWorktree returns git's hash of the files as they are, except those that git
// ignores. The repository and its index stay as they are.
func (r Repo) HashWorktree(ctx context.Context) (string, error) {
	head, err := r.Resolve(ctx, "HEAD")
	if err != nil {
		return "", fmt.Errorf("the repository has no commit yet: %w", err)
	}
	dir, remove, err := machine.TempDir("tree")
	if err != nil {
		return "", err
	}
	defer remove()
	hash, _, err := r.writeWorktree(ctx, head, dir)
	return hash, err
}
