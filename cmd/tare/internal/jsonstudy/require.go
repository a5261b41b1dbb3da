package jsonstudy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gocmd"
	"github.com/tarebench/tare/internal/build"
)

// requireAll makes all modules of the bench require the bridge, and the bridge the user's module.
func (o *UserType) requireAll(ctx context.Context, run gocmd.Go, bench string) error {
	if _, err := run.In(ctx, bench, "mod", "edit", "-require="+o.bridgePath()+"@v0.0.0"); err != nil {
		return err
	}
	dirs, err := filepath.Glob(filepath.Join(bench, "contenders", "codec", "*"))
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		const bridge = "../../../own" // from contenders/codec/NAME
		if err := o.requireIn(ctx, run, dir, bridge); err != nil {
			return fmt.Errorf("building %s with the module %s: %w", filepath.Base(dir), o.path, err)
		}
	}
	return nil
}

// requireIn makes the go.mod in dir require the user's module and the bridge. The path "" means that
// dir is the bridge.
func (o *UserType) requireIn(ctx context.Context, run gocmd.Go, dir, bridge string) error {
	args := []string{"mod", "edit", "-require=" + o.path + "@v0.0.0"}
	if bridge != "" {
		args = append(args, "-require="+o.bridgePath()+"@v0.0.0", "-replace="+o.bridgePath()+"="+bridge)
	}
	for _, m := range o.modules {
		args = append(args, "-replace="+m.Path+"="+m.Dir)
	}
	for _, r := range o.replace {
		args = append(args, "-replace="+r[0]+"="+r[1])
	}
	if _, err := run.In(ctx, dir, args...); err != nil {
		return err
	}
	if err := o.addSums(filepath.Join(dir, "go.sum")); err != nil {
		return fmt.Errorf("%w %s: %w", build.ErrCache, dir, err)
	}
	_, err := run.In(ctx, dir, "list", "-mod=mod", "-deps", "./...") // completes go.mod and go.sum
	return err
}

// addSums adds the lines of the user's go.sum files, each once.
func (o *UserType) addSums(file string) error {
	existing, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	text := string(existing)
	for line := range strings.Lines(o.sums) {
		if line != "\n" && !strings.Contains(text, line) {
			text += line
		}
	}
	return os.WriteFile(file, []byte(text), 0o644)
}
