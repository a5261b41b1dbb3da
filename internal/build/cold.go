package build

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// cold reports whether a build says what adopting the contender costs: every
// third-party module was compiled anew, nothing had to be downloaded, and what is not the contender's, the
// SDK and the standard library, was not. printed is what go build -v wrote: the
// packages it compiled. own is the path of the contender's module.
func cold(printed, own string, modules []tare.Module) bool {
	compiled := strings.Split(strings.TrimSpace(printed), "\n")
	if strings.Contains(printed, "go: downloading ") { // the network is not the compiler
		return false
	}
	within := func(path string) bool {
		return slices.ContainsFunc(compiled, func(pkg string) bool { return pkg == path || strings.HasPrefix(pkg, path+"/") })
	}
	for _, m := range modules {
		if m.Path != sdkPath && !within(m.Path) {
			return false
		}
	}
	std := func(pkg string) bool {
		first, _, _ := strings.Cut(pkg, "/")
		message := strings.Contains(pkg, " ") // go: downloading …
		return pkg != "" && !strings.Contains(first, ".") && !message && pkg != own && !strings.HasPrefix(pkg, own+"/")
	}
	sdk := slices.ContainsFunc(SDKDirs(), func(dir string) bool { return within(sdkPath + "/" + dir) })
	return !sdk && !slices.ContainsFunc(compiled, std)
}

// Cold builds leaf as on a machine that has compiled the standard library and
// the SDK and nothing else, and returns the seconds of that one go build. Both
// are compiled into a build cache of its own first, which takes longer than
// what is measured; it is removed afterwards. What was built is not kept, the
// time is: later builds from the cache carry it as Adoption.ColdBuildSeconds.
// The error is one line; see [Builder.Build].
func (b *Builder) Cold(ctx context.Context, leaf Leaf) (seconds float64, err error) {
	built, err := b.Build(ctx, leaf) // so that everything is downloaded, and to have where to note the time
	if err != nil {
		return 0, err
	}
	tool, mod, err := b.bench(ctx, leaf)
	if err != nil {
		return 0, err
	}
	dir := filepath.Dir(built.Path)
	tmp, work, done, err := workplace(filepath.Dir(dir))
	if err != nil {
		return 0, err
	}
	defer removeAll(tmp)
	if tool, err = b.supply(ctx, tool, mod, work); err != nil {
		return 0, err
	}
	tool = tool.with("GOCACHE", filepath.Join(tmp, "gocache"))
	limited, cancel := b.limit(ctx)
	defer cancel()
	err = b.warm(limited, tool, leaf, mod, work)
	switch {
	case ctx.Err() != nil:
		return 0, fmt.Errorf("building %s: %w", leaf.Manifest.ID, ctx.Err())
	case limited.Err() != nil:
		return 0, fmt.Errorf("building what %s needs took longer than %v and was ended", leaf.Manifest.ID, b.timeout())
	case err != nil:
		return 0, err
	}
	if _, seconds, err = b.compile(ctx, tool, mod, leaf, filepath.Join(done, binaryName()), work); err != nil {
		return 0, err
	}
	built.contender.Adoption.ColdBuildSeconds = seconds
	return seconds, note(dir, tmp, record{built.Seconds, built.contender})
}

// sharedPackages makes go list print what every contender of a kind has: the
// standard library's packages and the SDK's.
const sharedPackages = `{{if .Standard}}{{.ImportPath}}{{else}}{{with .Module}}{{if eq .Path "` + sdkPath + `"}}{{$.ImportPath}}{{end}}{{end}}{{end}}`

// warm compiles what leaf shares with every other contender.
func (b *Builder) warm(ctx context.Context, tool toolchain, leaf Leaf, mod module, work string) error {
	env := b.buildEnv(tool, work)
	out, said, err := b.query(ctx, tool.path, leaf.Src(), env, leaf.tagged("list", "-mod=readonly", "-deps", "-f", sharedPackages, ".")...)
	if err != nil {
		return compileError(said, err, leaf, tool.bases(mod)...)
	}
	args := leaf.tagged("build", slices.Concat(buildFlags[:], strings.Fields(out))...)
	if out, err := b.command(ctx, tool.path, leaf.Src(), env, args...); err != nil {
		return compileError(out, err, leaf, tool.bases(mod)...)
	}
	return nil
}
