package suite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tarebench/tare/kinds/gobench"
)

// BuildCounted builds the test binary of a package for a counter, in dir. It differs from the measured
// binary: it has an additional build tag and a symbol table, but not the test that tare adds. Valgrind
// reads tables that are not compressed in less time.
func (b *Suite) BuildCounted(ctx context.Context, key, tag, dir string) (*gobench.Link, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the directory of counted binaries: %w", err)
	}
	s := *b.Side
	s.Tags = strings.TrimPrefix(s.Tags+","+tag, ",")
	args := s.withFlags("test", "-c", "-vet=off", "-o", filepath.Join(dir, "counted.test"))
	return s.buildLinked(ctx, append(args, "-ldflags="+strings.TrimSpace(s.ldflags+" "+randLayout+"=1 -compressdwarf=false"), b.ImportPath(key)), dir)
}
