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

// This file supplies contenders with tare's SDK, the packages that they import. For example, the
// go.mod of a contender in another repository requires the SDK. It is then built with the SDK of
// this tare.

// loadModule reads the go.mod above dir. If it requires the SDK, but has no usable replacement, the builder's
// SDK is added.
func (b *Builder) loadModule(dir string) (leafModule, error) {
	m, err := readModule(dir)
	if err != nil || b.SDK == "" || m.requiredVersion(sdkPath) == "" {
		return m, err
	}
	isSDK := func(r replacement) bool { return r.path == sdkPath }
	isUsable := func(r replacement) bool { return r.dir == "" || isModule(r.dir) }
	if i := slices.IndexFunc(m.replace, isSDK); i >= 0 && isUsable(m.replace[i]) {
		return m, nil
	}
	m.replace = append(slices.DeleteFunc(m.replace, isSDK), replacement{path: sdkPath, dir: b.SDK})
	m.supplied = true
	return m, nil
}

// supplySDK makes a copy of the go.mod of mod in the directory work, and adds the replacement of
// the SDK to the copy. It returns tool with a flag that makes the go command read the copy. If mod
// needs no added replacement, it returns tool unchanged.
func (b *Builder) supplySDK(ctx context.Context, tool toolchain, mod leafModule, work string) (toolchain, error) {
	if !mod.supplied {
		return tool, nil
	}
	gomod := filepath.Join(work, "supplied.mod")
	if err := copyInto(filepath.Join(mod.root, "go.mod"), gomod); err != nil {
		return tool, cacheError(work, err)
	}
	// The go command expects the go.sum next to the -modfile, with the same name but for its ending.
	err := copyInto(filepath.Join(mod.root, "go.sum"), filepath.Join(work, "supplied.sum"))
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

// quoteFlag quotes a flag for GOFLAGS, which has quotes but no escapes.
func quoteFlag(f string) string {
	if strings.Contains(f, `"`) {
		return "'" + f + "'"
	}
	return `"` + f + `"`
}
