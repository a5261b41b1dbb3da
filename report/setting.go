package report

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// This file describes settings and builds that are not the default.

// thisModule is the path of the module tare. Contenders import it, and modules below this path that are
// directories of the repository.
const thisModule = "github.com/tarebench/tare"

// isOfThisModule reports whether m is tare, or a directory of its repository.
func isOfThisModule(m tare.Module) bool {
	dir, isBelow := strings.CutPrefix(m.Path, thisModule+"/")
	return m.Path == thisModule || isBelow && strings.HasSuffix(path.Clean(filepath.ToSlash(m.Replace)), "/"+dir)
}

// describeDeparture returns how settings, builds and Go versions differ from the default, for the line below the
// title.
func describeDeparture(r *tare.Result) string {
	parts := listSettings(r)
	var sentences []string
	if len(parts) > 0 {
		sentences = append(sentences, "Not the default: "+strings.Join(parts, ", ")+".")
	}
	for _, g := range listReplaced(r) {
		module, dir, _ := strings.Cut(g.key, " replaced by ")
		sentences = append(sentences, fmt.Sprintf("Built with %s from %s, instead of the released module: %s.", module, dir, joinNames(g.ids)))
	}
	if text := describeToolchains(r); text != "" {
		sentences = append(sentences, text+".")
	}
	return strings.Join(sentences, " ")
}

// listSettings returns the user's settings for every contender.
func listSettings(r *tare.Result) []string {
	var out []string
	if r.Procs > 0 {
		out = append(out, fmt.Sprintf("GOMAXPROCS=%d", r.Procs))
	}
	return append(out, r.Env...)
}

// newSettingItems returns entries about settings of every contender, and about unusual builds.
func newSettingItems(r *tare.Result) []Item {
	var out []Item
	if r.Procs > 0 {
		out = append(out, labelledItem("procs", fmt.Sprintf("every contender was given GOMAXPROCS=%d", r.Procs)))
	}
	if len(r.Env) > 0 {
		out = append(out, labelledItem("env", "every contender was given "+strings.Join(r.Env, ", ")))
	}
	if text := describeToolchains(r); text != "" {
		out = append(out, labelledItem("go", text))
	}
	for _, text := range describeModules(r) {
		out = append(out, labelledItem("modules", text))
	}
	return out
}

// describeModules returns the libraries with several versions, and the replaced modules.
func describeModules(r *tare.Result) []string {
	var out []string
	for _, name := range listSeveral(r) {
		var versions []string
		for _, g := range groupBy(builtContenders(r), func(c tare.Contender) string {
			if c.Name != name {
				return ""
			}
			return c.Version
		}) {
			versions = append(versions, g.key+" in "+joinNames(g.ids))
		}
		out = append(out, name+": "+strings.Join(versions, "; "))
	}
	for _, g := range listReplaced(r) {
		out = append(out, g.key+" in "+joinNames(g.ids))
	}
	return out
}

// builtContenders omits the repeated baseline (control) and the contender that does nothing.
func builtContenders(r *tare.Result) []tare.Contender {
	return slices.DeleteFunc(slices.Clone(r.Contenders), func(c tare.Contender) bool {
		return c.Role == tare.RoleControl || c.Role == tare.RoleNull
	})
}

type idGroup struct {
	key string
	ids []string
}

// groupBy groups contenders by key, in order of first occurrence. It skips the key "".
func groupBy(contenders []tare.Contender, key func(tare.Contender) string) []idGroup {
	var out []idGroup
	for _, c := range contenders {
		k := key(c)
		if k == "" {
			continue
		}
		i := slices.IndexFunc(out, func(g idGroup) bool { return g.key == k })
		if i < 0 {
			i = len(out)
			out = append(out, idGroup{key: k})
		}
		out[i].ids = append(out[i].ids, c.ID)
	}
	return out
}

// describeToolchains returns the Go versions of the contenders if they differ from tare's or from each other.
func describeToolchains(r *tare.Result) string {
	groups := groupBy(builtContenders(r), func(c tare.Contender) string { return c.Go })
	switch {
	case r.Machine.Go == "" || len(groups) == 0:
		return ""
	case len(groups) == 1 && groups[0].key == r.Machine.Go:
		return ""
	case len(groups) == 1:
		return fmt.Sprintf("Contenders were built with %s (tare itself with %s)", groups[0].key, r.Machine.Go)
	}
	text := "Contenders were not all built with the same Go: "
	if base, ok := r.Contender(r.Baseline()); ok && base.Go != "" {
		text = "Not built with the baseline's " + base.Go + ": "
		groups = slices.DeleteFunc(groups, func(g idGroup) bool { return g.key == base.Go })
	}
	var parts []string
	for _, g := range groups {
		parts = append(parts, joinNames(g.ids)+" ("+g.key+")")
	}
	return text + strings.Join(parts, "; ")
}

// listSeveral returns the libraries with several versions. Standard packages have Go's version and do not count.
func listSeveral(r *tare.Result) []string {
	var names []string
	for _, c := range builtContenders(r) {
		if c.Name == "" || c.Version == "" || c.Version == c.Go || slices.Contains(names, c.Name) {
			continue
		}
		if slices.ContainsFunc(builtContenders(r), func(o tare.Contender) bool {
			return o.Name == c.Name && o.Version != "" && o.Version != c.Version
		}) {
			names = append(names, c.Name)
		}
	}
	return names
}

// listReplaced returns the replaced modules with their contenders.
func listReplaced(r *tare.Result) []idGroup {
	var out []idGroup
	for _, c := range builtContenders(r) {
		for _, m := range c.Modules {
			if m.Replace == "" || isOfThisModule(m) {
				continue
			}
			key := m.Path + " replaced by " + m.Replace
			i := slices.IndexFunc(out, func(g idGroup) bool { return g.key == key })
			if i < 0 {
				i = len(out)
				out = append(out, idGroup{key: key})
			}
			out[i].ids = append(out[i].ids, c.ID)
		}
	}
	return out
}
