package gobench

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/build"
)

// Link is a call of the linker that makes a package's test binary again, with its functions in
// another order. Code placement changes the time of tight loops by more than most changes do, and
// two trials of one binary never show it.
//
// It links the objects of the first build: later changes to the files of a side have no effect.
type Link struct {
	Args []string `json:"args"`          // the linker, then its arguments but -o and -randlayout
	Env  []string `json:"env,omitempty"` // NAME=value, in addition to the caller's environment
	Dir  string   `json:"dir"`           // working directory, and directory of the binaries
}

// Binary links a binary with the order of functions of seed, and returns its path.
func (l *Link) Binary(ctx context.Context, seed uint64) (string, error) {
	path := filepath.Join(l.Dir, fmt.Sprintf("%016x.test", seed))
	if filepath.Separator == '\\' {
		path += ".exe"
	}
	args := slices.Concat(l.Args[1:len(l.Args)-1], []string{"-o", path, fmt.Sprintf("-randlayout=%d", seed>>1)}, l.Args[len(l.Args)-1:])
	cmd := build.Command(ctx, l.Args[0], args...)
	cmd.Dir, cmd.Env = l.Dir, append(build.Environment(os.Environ()), l.Env...)
	said, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", &tare.TrialError{Class: tare.ErrStart, Message: fmt.Sprintf("link %s anew: %v: %s", filepath.Base(l.Args[len(l.Args)-1]), err, strings.TrimSpace(string(said)))}
	}
	return path, nil
}

// layoutSeed returns the seed of the order in which the functions of a package are linked for a
// trial: no two trials of a study have the same.
func layoutSeed(study, trial, path string) uint64 {
	h := fnv.New64a()
	for _, part := range []string{study, trial, path} {
		_, _ = h.Write([]byte(part))
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}
