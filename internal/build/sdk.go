package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// moduleOf returns the module of dir, as it is built: with the builder's SDK if go.mod requires one
// and does not name its directory on this machine.
func (b *Builder) moduleOf(dir string) (leafModule, error) {
	m, err := moduleOf(dir)
	if err != nil || b.SDK == "" || m.requiredVersion(sdkPath) == "" {
		return m, err
	}
	sdk := func(r replacement) bool { return r.path == sdkPath }
	if i := slices.IndexFunc(m.replace, sdk); i >= 0 && (m.replace[i].dir == "" || isModule(m.replace[i].dir)) {
		return m, nil
	}
	m.replace = append(slices.DeleteFunc(m.replace, sdk), replacement{path: sdkPath, dir: b.SDK})
	m.supplied = true
	return m, nil
}

// supplySDK returns tool with a flag that makes the go command read, instead of the go.mod of mod,
// a copy in the directory work that names the SDK's directory. The module's own files are not
// changed. If mod names it itself, it returns tool unchanged.
func (b *Builder) supplySDK(ctx context.Context, tool toolchain, mod leafModule, work string) (toolchain, error) {
	if !mod.supplied {
		return tool, nil
	}
	gomod := filepath.Join(work, "supplied.mod")
	if err := copyInto(filepath.Join(mod.root, "go.mod"), gomod); err != nil {
		return tool, cacheError(work, err)
	}
	err := copyInto(filepath.Join(mod.root, "go.sum"), filepath.Join(work, "supplied.sum")) // where -modfile looks for it
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return tool, cacheError(work, err)
	}
	limited, cancel := b.withTimeout(ctx)
	defer cancel()
	out, err := b.runCombined(limited, tool.path, mod.root, b.buildEnv(tool, work), "mod", "edit", "-replace="+sdkPath+"="+b.SDK, gomod)
	switch {
	case ctx.Err() != nil:
		return tool, ctx.Err()
	case err != nil:
		return tool, fmt.Errorf("%s: %s", filepath.Join(mod.root, "go.mod"), firstLine(out, err))
	}
	return tool.withSetting("GOFLAGS", quoteFlag("-modfile="+gomod)), nil
}

// quoteFlag quotes a flag with spaces for GOFLAGS, without escapes.
func quoteFlag(f string) string {
	if strings.Contains(f, `"`) {
		return "'" + f + "'"
	}
	return `"` + f + `"`
}
