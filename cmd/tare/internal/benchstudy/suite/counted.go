package suite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tarebench/tare/kinds/gobench"
)

// BuildCounted builds in dir a test binary whose instructions are counted. tag is an additional
// build tag. files replace files of the standard library, by path. The binary has a symbol table,
// which Valgrind reads faster uncompressed.
func (b *Suite) BuildCounted(ctx context.Context, key, tag string, files map[string][]byte, dir string) (*gobench.Link, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the directory of counted binaries: %w", err)
	}
	overlay, err := writeOverlay(files, dir)
	if err != nil {
		return nil, fmt.Errorf("write the files of counted binaries: %w", err)
	}
	s := *b.Side
	if len(files) > 0 && b.roots.replaceable != b.roots.path {
		s = *b.Side.withRoot(b.roots.replaceable)
	}
	s.Tags = strings.TrimPrefix(s.Tags+","+tag, ",")
	args := s.withFlags("test", "-c", "-vet=off", "-overlay="+overlay, "-o", filepath.Join(dir, "counted.test"))
	return s.buildLinked(ctx, append(args, "-ldflags="+strings.TrimSpace(s.ldflags+" "+randLayout+"=1 -compressdwarf=false"), b.ImportPath(key)), dir)
}
