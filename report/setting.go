package report

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// ownModule is linked from a directory into every contender there is; modules
// below it are linked into some.
const ownModule = "github.com/tarebench/tare"

// isOwn reports whether a module is this repository's, as contenders that come
// with it link it: from where it lies beside them.
func isOwn(m tare.Module) bool {
	below, is := strings.CutPrefix(m.Path, ownModule+"/")
	return m.Path == ownModule || is && strings.HasSuffix(path.Clean(filepath.ToSlash(m.Replace)), "/"+below)
}

// departure says under the title in what the run was not the usual one, and
// which Go contenders were built with where that is not tare's own; empty where
// there is nothing to say.
func departure(r *tare.Result) string {
	parts, sentences := given(r), []string(nil)
	for _, g := range replaced(r) {
		parts = append(parts, g.of+" in "+inWords(g.ids))
	}
	if len(parts) > 0 {
		sentences = append(sentences, "Not the default: "+strings.Join(parts, ", ")+".")
	}
	if text := toolchains(r); text != "" {
		sentences = append(sentences, text+".")
	}
	return strings.Join(sentences, " ")
}

// given are the settings that every contender was given.
func given(r *tare.Result) []string {
	var out []string
	if r.Procs > 0 {
		out = append(out, fmt.Sprintf("GOMAXPROCS=%d", r.Procs))
	}
	return append(out, r.Env...)
}

// settings are what every contender was given besides its work, and where
// contenders were built otherwise than one would expect: with another Go than
// tare itself, one library in several versions, or with a module replaced.
func settings(r *tare.Result) []Item {
	var out []Item
	if r.Procs > 0 {
		out = append(out, labelled("procs", fmt.Sprintf("every contender was given GOMAXPROCS=%d", r.Procs)))
	}
	if len(r.Env) > 0 {
		out = append(out, labelled("env", "every contender was given "+strings.Join(r.Env, ", ")))
	}
	if text := toolchains(r); text != "" {
		out = append(out, labelled("go", text))
	}
	for _, text := range modules(r) {
		out = append(out, labelled("modules", text))
	}
	return out
}

// modules say which libraries were measured in several versions, and which
// modules were replaced.
func modules(r *tare.Result) []string {
	var out []string
	for _, name := range several(r) {
		var versions []string
		for _, g := range gathered(builtContenders(r), func(c tare.Contender) string {
			if c.Name != name {
				return ""
			}
			return c.Version
		}) {
			versions = append(versions, g.of+" in "+inWords(g.ids))
		}
		out = append(out, name+": "+strings.Join(versions, "; "))
	}
	for _, g := range replaced(r) {
		out = append(out, g.of+" in "+inWords(g.ids))
	}
	return out
}

// builtContenders are the contenders that were built for the study's sake: neither the
// control, which is the baseline again, nor the null contender.
func builtContenders(r *tare.Result) []tare.Contender {
	return slices.DeleteFunc(slices.Clone(r.Contenders), func(c tare.Contender) bool {
		return c.Role == tare.RoleControl || c.Role == tare.RoleNull
	})
}

// group is some contenders that have something in common.
type group struct {
	of  string
	ids []string
}

// gathered are contenders under what key says of them, in the order in
// which it first does; who has no key is left out.
func gathered(contenders []tare.Contender, key func(tare.Contender) string) []group {
	var out []group
	for _, c := range contenders {
		k := key(c)
		if k == "" {
			continue
		}
		i := slices.IndexFunc(out, func(g group) bool { return g.of == k })
		if i < 0 {
			i = len(out)
			out = append(out, group{of: k})
		}
		out[i].ids = append(out[i].ids, c.ID)
	}
	return out
}

// toolchains says with which Go contenders were built, where that is not the
// one tare itself was built with or not the same for all; empty where it is, or
// is not known.
func toolchains(r *tare.Result) string {
	by := gathered(builtContenders(r), func(c tare.Contender) string { return c.Go })
	switch {
	case r.Machine.Go == "" || len(by) == 0 || len(by) == 1 && by[0].of == r.Machine.Go:
		return ""
	case len(by) == 1:
		return fmt.Sprintf("Contenders were built with %s (tare itself with %s)", by[0].of, r.Machine.Go)
	}
	text := "Contenders were not all built with the same Go: "
	if base, ok := r.Contender(r.Baseline()); ok && base.Go != "" {
		text = "Not built with the baseline's " + base.Go + ": "
		by = slices.DeleteFunc(by, func(g group) bool { return g.of == base.Go })
	}
	var parts []string
	for _, g := range by {
		parts = append(parts, inWords(g.ids)+" ("+g.of+")")
	}
	return text + strings.Join(parts, "; ")
}

// several are the libraries of which more than one version was measured. What
// belongs to Go has Go's version and is not among them.
func several(r *tare.Result) []string {
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

// replaced are the modules that contenders linked something else for.
func replaced(r *tare.Result) []group {
	var out []group
	for _, c := range builtContenders(r) {
		for _, m := range c.Modules {
			if m.Replace == "" || isOwn(m) {
				continue
			}
			of := m.Path + " replaced by " + m.Replace
			if i := slices.IndexFunc(out, func(g group) bool { return g.of == of }); i >= 0 {
				out[i].ids = append(out[i].ids, c.ID)
				continue
			}
			out = append(out, group{of, []string{c.ID}})
		}
	}
	return out
}
