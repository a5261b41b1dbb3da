package build

import (
	"context"
	"fmt"
	"go/version"
	"slices"
	"strings"
)

// repin lets the go command change copied, a copy of mod. go get would do it in
// one step, but leaves what the old version of a module asked for, in versions
// that the other one may not even compile with, and lowers other modules where
// they stand in the way. So what is required on behalf of the old version goes
// first, and nothing else may change.
func (b *Builder) repin(ctx context.Context, tool toolchain, work string, copied Leaf, mod module, pin Pin) error {
	run := func(tool toolchain, args ...string) (string, error) {
		out, said, err := b.query(ctx, tool.path, copied.Src(), b.buildEnv(tool, work), args...)
		if err != nil {
			return "", pinError(said, err, copied)
		}
		return out, nil
	}
	if args := absolute(mod); len(args) > 0 {
		if _, err := run(tool, append([]string{"mod", "edit"}, args...)...); err != nil {
			return err
		}
	}
	graph := ""
	if len(pin.With) > 0 {
		// The leaf as it is may need a newer toolchain than the one that is asked.
		able := tool
		if machine := b.tool; version.Compare(machine.env["GOVERSION"], tool.env["GOVERSION"]) > 0 {
			able = machine
		}
		var err error
		if graph, err = run(able, "mod", "graph"); err != nil {
			return err
		}
	}
	if _, err := run(tool, append([]string{"mod", "edit"}, pin.edits(mod, graph)...)...); err != nil {
		return err
	}
	// Whatever go.mod and go.sum need for what is imported now.
	if _, err := run(tool, copied.tagged("list", "-mod=mod", "-deps", ".")...); err != nil {
		return err
	}
	return pin.held(copied)
}

// absolute are the arguments that make go mod edit take a module elsewhere.
func absolute(mod module) []string {
	var args []string
	for _, r := range mod.replace {
		if r.dir != "" {
			args = append(args, "-replace="+r.name()+"="+r.dir)
		}
	}
	return args
}

// edits are the arguments that make go mod edit carry the pin out: the go line
// is the toolchain's own, and each module is required or replaced as asked.
// graph is what go mod graph says of mod.
func (p Pin) edits(mod module, graph string) []string {
	var args []string
	if p.Go != "" {
		args = append(args, "-toolchain=none", "-go="+strings.TrimPrefix(p.Go, "go"))
	}
	pinned := func(path string) bool {
		return slices.ContainsFunc(p.With, func(w With) bool { return w.Path == path })
	}
	for _, r := range mod.replace {
		if pinned(r.path) {
			args = append(args, "-dropreplace="+r.name())
		}
	}
	behalf := map[string]bool{} // path@version
	for _, w := range p.With {
		reach(graph, w.Path+"@"+mod.requires(w.Path), behalf)
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

// reach adds to seen what from leads to in a graph of lines "from to".
func reach(graph, from string, seen map[string]bool) {
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

// held reports a version that something else in the leaf overruled.
func (p Pin) held(leaf Leaf) error {
	mod, err := moduleOf(leaf.Src())
	if err != nil {
		return err
	}
	for _, w := range p.With {
		if got := mod.requires(w.Path); w.Version != "" && got != w.Version && got != "" {
			return fmt.Errorf("%s cannot be built with %s: something else in it needs %s", leaf.Manifest.ID, w, got)
		}
	}
	return nil
}
