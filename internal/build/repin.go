package build

import (
	"context"
	"fmt"
	"go/version"
	"slices"
	"strings"
)

// applyPin lets the go command change copied, a copy of mod. go get would do it in one step, but it
// keeps the requirements of a module's old version, in versions that may not even compile with the
// new one, and downgrades other modules if they conflict. So the requirements of the old version
// are removed first, and nothing else may change.
func (b *Builder) applyPin(ctx context.Context, tool toolchain, work string, copied Leaf, mod leafModule, pin Pin) error {
	run := func(tool toolchain, args ...string) (string, error) {
		out, said, err := b.runSplit(ctx, tool.path, copied.Src(), b.buildEnv(tool, work), args...)
		if err != nil {
			return "", pinError(said, err, copied)
		}
		return out, nil
	}
	if args := absoluteReplaces(mod); len(args) > 0 {
		if _, err := run(tool, append([]string{"mod", "edit"}, args...)...); err != nil {
			return err
		}
	}
	graph := ""
	if len(pin.With) > 0 {
		// The unchanged contender may need a newer toolchain than the pinned one.
		able := tool
		if machine := b.tool; version.Compare(machine.env["GOVERSION"], tool.env["GOVERSION"]) > 0 {
			able = machine
		}
		var err error
		if graph, err = run(able, "mod", "graph"); err != nil {
			return err
		}
	}
	if _, err := run(tool, append([]string{"mod", "edit"}, pin.editArgs(mod, graph)...)...); err != nil {
		return err
	}
	// Whatever go.mod and go.sum need for what is imported now.
	if _, err := run(tool, copied.withTags("list", "-mod=mod", "-deps", ".")...); err != nil {
		return err
	}
	return pin.checkPins(copied)
}

// absoluteReplaces returns arguments of go mod edit that make replacements independent of the
// module's directory.
func absoluteReplaces(mod leafModule) []string {
	var args []string
	for _, r := range mod.replace {
		if r.dir != "" {
			args = append(args, "-replace="+r.editName()+"="+r.dir)
		}
	}
	return args
}

// editArgs returns arguments of go mod edit that apply the pin: the go line is that of the
// toolchain, and each pinned module is required or replaced. graph is the output of go mod graph
// for mod.
func (p Pin) editArgs(mod leafModule, graph string) []string {
	var args []string
	if p.Go != "" {
		args = append(args, "-toolchain=none", "-go="+strings.TrimPrefix(p.Go, "go"))
	}
	pinned := func(path string) bool {
		return slices.ContainsFunc(p.With, func(w With) bool { return w.Path == path })
	}
	for _, r := range mod.replace {
		if pinned(r.path) {
			args = append(args, "-dropreplace="+r.editName())
		}
	}
	behalf := map[string]bool{} // path@version
	for _, w := range p.With {
		addReachable(graph, w.Path+"@"+mod.requiredVersion(w.Path), behalf)
	}
	for _, r := range mod.require {
		if r.indirect && behalf[r.path+"@"+r.version] && !pinned(r.path) {
			args = append(args, "-droprequire="+r.path)
		}
	}
	for _, w := range p.With {
		if w.Dir != "" {
			args = append(args, "-replace="+w.Path+"="+w.Dir)
		} else {
			args = append(args, "-require="+w.String())
		}
	}
	return args
}

// addReachable adds to seen what is reachable from from in a graph of lines "from to".
func addReachable(graph, from string, seen map[string]bool) {
	edges := map[string][]string{}
	for line := range strings.Lines(graph) {
		if a, b, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			edges[a] = append(edges[a], b)
		}
	}
	for todo := []string{from}; len(todo) > 0; {
		at := todo[0]
		todo = todo[1:]
		for _, to := range edges[at] {
			if !seen[to] {
				seen[to] = true
				todo = append(todo, to)
			}
		}
	}
}

// checkPins returns an error if another requirement of the module overrides a pinned version.
func (p Pin) checkPins(leaf Leaf) error {
	mod, err := moduleOf(leaf.Src())
	if err != nil {
		return err
	}
	for _, w := range p.With {
		if got := mod.requiredVersion(w.Path); w.Version != "" && got != w.Version && got != "" {
			return fmt.Errorf("%s cannot be built with %s: something else in it needs %s", leaf.Manifest.ID, w, got)
		}
	}
	return nil
}
