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

// Link is a call of the linker that links a test binary again, with its functions in another order.
// The placement of code often changes the time of tight loops by more than the compared change
// does. So each trial gets another placement.
//
// Link uses the objects of the first build: later changes to the files have no effect.
type Link struct {
	Args []string `json:"args"`          // excludes -o and -randlayout; the last one is the object
	Env  []string `json:"env,omitempty"` // NAME=value, in addition to the environment
	Dir  string   `json:"dir"`           // working directory, and directory of the binaries
}

// Binary links a binary with the order of functions that seed defines, and returns its path.
func (l *Link) Binary(ctx context.Context, seed uint64) (string, error) {
	path := filepath.Join(l.Dir, fmt.Sprintf("%016x.test", seed))
	if filepath.Separator == '\\' {
		path += ".exe"
	}
	last := len(l.Args) - 1
	layout := fmt.Sprintf("-randlayout=%d", seed>>1) // the flag is a signed number
	args := slices.Concat(l.Args[1:last], []string{"-o", path, layout}, l.Args[last:])
	cmd := build.Command(ctx, l.Args[0], args...)
	cmd.Dir, cmd.Env = l.Dir, append(build.Environment(os.Environ()), l.Env...)
	output, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", &tare.TrialError{Class: tare.ErrStart, Message: fmt.Sprintf("link %s again: %v: %s", filepath.Base(l.Args[last]), err, strings.TrimSpace(string(output)))}
	}
	return path, nil
}

// layoutSeed returns the seed for the order of functions of a package. Each trial of a study has
// another seed.
func layoutSeed(study, trial, key string) uint64 {
	h := fnv.New64a()
	for _, part := range []string{study, trial, key} {
		_, _ = h.Write([]byte(part))
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}
