package build

import (
	"context"
	"path/filepath"
)

// Dir returns the directory in the cache for the contender's binary as built from today's sources,
// whether it exists or not. It runs no compiler.
func (b *Builder) Dir(ctx context.Context, leaf Leaf) (string, error) {
	tool, mod, err := b.findTools(ctx, leaf)
	if err != nil {
		return "", err
	}
	name, err := buildKey(tool, leaf, mod)
	return filepath.Join(b.Cache, "bin", name), err
}
