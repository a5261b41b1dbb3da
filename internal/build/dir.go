package build

import (
	"context"
	"path/filepath"
)

// Dir returns the directory in the cache in which Build would store the binary of the contender's
// present sources. The directory need not exist. Dir runs no compiler.
func (b *Builder) Dir(ctx context.Context, leaf Leaf) (string, error) {
	tool, mod, err := b.findTools(ctx, leaf)
	if err != nil {
		return "", err
	}
	key, err := buildKey(tool, leaf, mod)
	return filepath.Join(b.Cache, "bin", key), err
}
