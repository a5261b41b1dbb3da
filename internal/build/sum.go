package build

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Sum returns a hash of the contender's sources, go.mod, go.sum and manifest. If other sources are
// built, it includes the files in their directory. It does not read subdirectories. The hash is the
// same for a clone and an archive of the repository.
func (l Leaf) Sum() (string, error) {
	h := sha256.New()
	dirs := []string{l.Dir}
	if src := l.Src(); src != l.Dir {
		dirs = append(dirs, src)
	}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return "", fmt.Errorf("read %s: %w", dir, err)
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || !isSource(e.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return "", fmt.Errorf("read %s: %w", dir, err)
			}
			fmt.Fprintf(h, "%s %d\n%s\n", e.Name(), len(text), text)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func isSource(name string) bool {
	if slices.Contains([]string{"go.mod", "go.sum", "contender.json"}, name) {
		return true
	}
	isCode := slices.Contains([]string{".go", ".c", ".h", ".s"}, filepath.Ext(name))
	return isCode && !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, ".")
}
