package build

import (
	"context"
	"path/filepath"
)

// Dir is where in the cache the leaf's binary is as it would be built from
// today's sources, whether it is there or not. No compiler runs.
func (b *Builder) Dir(ctx context.Context, leaf Leaf) (string, error) {
	tool, mod, err := b.bench(ctx, leaf)
	if err != nil {
		return "", err
	}
	name, err := key(tool, leaf, mod)
	return filepath.Join(b.Cache, "bin", name), err
}
