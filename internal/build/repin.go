package build

import (
	"context"
	"fmt"
	"go/version"
	"slices"
	"strings"
)

// This file changes the go.mod of a copied contender to other versions. A pin has the versions that
// the user wants, such as github.com/bytedance/sonic@v1.14.0.

// applyPin lets the go command change copied, a copy of mod, to the versions in pin.
//
// go get could change a version in one step. But it keeps requirements of the old version, which may not even
// compile with the new one. It also downgrades conflicting modules. So applyPin first removes the requirements
// of the old version.
func (b *Builder) applyPin(ctx context.Context, tool toolchain, work string, copied Leaf, mod leafModule, pin Pin) error {
	run := func(tool toolchain, args ...string) (string, error) {
		out, errText, err := b.runSplit(ctx, tool.path, copied.Src(), b.buildEnv(tool, work), args...)
		if err != nil {
			return "", pinError(errText, err, copied)
		}
		return out, nil
	}
	if args := absoluteReplaces(mod); len(args) > 0 {
		if _, err := run(tool, append([]string{"mod", "edit"}, args...)...); err != nil {
			return err
		}
	}
	graph := "" // which module requires which
	if len(pin.With) > 0 {
		// The unchanged contender may need a newer toolchain than the pinned one.
		newest := tool
		if installed := b.tool; version.Compare(installed.env["GOVERSION"], tool.env["GOVERSION"]) > 0 {
			newest = installed
		}
		var err error
		if graph, err = run(newest, "mod", "graph"); err != nil {
			return err
		}
	}
	if _, err := run(tool, append([]string{"mod", "edit"}, pin.editArgs(mod, graph)...)...); err != nil {
		return err
	}
	// Add to go.mod and go.sum whatever the imported packages need now.
	if _, err := run(tool, copied.withTags("list", "-mod=mod", "-deps", ".")...); err != nil {
		return err
	}
	return pin.checkPins(copied)
}

// absoluteReplaces makes the directories of replacements absolute, for go mod edit.
func absoluteReplaces(mod leafModule) []string {
	var args []string
	for _, r := range mod.replace {
		if r.dir != "" {
			args = append(args, "-replace="+r.editName()+"="+r.dir)
		}
	}
	return args
}

// editArgs returns arguments of go mod edit for the pin. The toolchain sets the go line. Pinned modules are
// required or replaced. graph is the output of go mod graph.
func (p Pin) editArgs(mod leafModule, graph string) []string {
	var args []string
	if p.Go != "" {
		args = append(args, "-toolchain=none", "-go="+strings.TrimPrefix(p.goRelease(), "go"))
	}
	isPinned := func(path string) bool {
		return slices.ContainsFunc(p.With, func(w With) bool { return w.Path == path })
	}
	for _, r := range mod.replace {
		if isPinned(r.path) {
			args = append(args, "-dropreplace="+r.editName())
		}
	}
	required := map[string]bool{} // path@version of all modules that the old versions of pinned modules require
	for _, w := range p.With {
		addReachable(graph, w.Path+"@"+mod.requiredVersion(w.Path), required)
	}
	for _, r := range mod.require {
		if r.indirect && required[r.path+"@"+r.version] && !isPinned(r.path) {
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

// addReachable adds to seen all nodes that are reachable from start. graph has a line "from to" for
// each edge.
func addReachable(graph, start string, seen map[string]bool) {
	edges := map[string][]string{}
	for line := range strings.Lines(graph) {
		if from, to, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			edges[from] = append(edges[from], to)
		}
	}
	todo := []string{start}
	for len(todo) > 0 {
		from := todo[0]
		todo = todo[1:]
		for _, to := range edges[from] {
			if !seen[to] {
				seen[to] = true
				todo = append(todo, to)
			}
		}
	}
}

// checkPins finds pinned versions that other requirements override.
func (p Pin) checkPins(leaf Leaf) error {
	mod, err := readModule(leaf.Src())
	if err != nil {
		return err
	}
	for _, w := range p.With {
		got := mod.requiredVersion(w.Path)
		areKnown := w.Version != "" && got != "" // a module in a directory has no version
		if areKnown && got != w.Version {
			return fmt.Errorf("%s cannot be built with %s: something else in it needs %s", leaf.Manifest.ID, w, got)
		}
	}
	return nil
}
