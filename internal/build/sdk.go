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

// moduleOf is the module dir is in, as it is built: with the builder's SDK
// where go.mod requires one and does not say where on this machine it is.
func (b *Builder) moduleOf(dir string) (module, error) {
	m, err := moduleOf(dir)
	if err != nil || b.SDK == "" || m.requires(sdkPath) == "" {
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

// supply is tool with the flag that makes the go command read, in place of the
// go.mod of mod, a copy in the directory work that says where the SDK is. The
// module's own files stay as they are. Where mod says so itself, tool is
// returned.
func (b *Builder) supply(ctx context.Context, tool toolchain, mod module, work string) (toolchain, error) {
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
	limited, cancel := b.limit(ctx)
	defer cancel()
	out, err := b.command(limited, tool.path, mod.root, b.buildEnv(tool, work), "mod", "edit", "-replace="+sdkPath+"="+b.SDK, gomod)
	switch {
	case ctx.Err() != nil:
		return tool, ctx.Err()
	case err != nil:
		return tool, fmt.Errorf("%s: %s", filepath.Join(mod.root, "go.mod"), firstLine(out, err))
	}
	return tool.with("GOFLAGS", flag("-modfile="+gomod)), nil
}

// flag is a flag as GOFLAGS holds one that may have spaces in it: in quotes,
// without escapes.
func flag(f string) string {
	if strings.Contains(f, `"`) {
		return "'" + f + "'"
	}
	return `"` + f + `"`
}
