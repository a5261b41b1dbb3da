package rerun

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/format"
)

// restoreBuilds selects the Go release and the modules of a result for building its contenders,
// and prints what differs.
func restoreBuilds(ctx context.Context, w *session.Session, study *cmdenv.Study, old *tare.Result) {
	r, ok := w.Sources.(cmdenv.CatalogSources)
	if !ok {
		return
	}
	if release := mainRelease(old); release != "" && w.Options.Release == "" {
		if err := r.Toolchain(ctx, release); err != nil {
			w.Progress.Say(fmt.Sprintf("contenders were built by %s then, which cannot be had here: %s", release, format.Line(err.Error(), 0)))
		}
	}
	entries := slices.Clone(study.Contenders)
	for i, e := range entries {
		then, ok := old.Contender(e.ID)
		if !ok || e.Launch() != tare.LaunchProgram || e.Program != "" {
			continue
		}
		added := olderModules(r.Versions(string(study.Kind), e), then.Modules, slices.Concat(e.With, w.Options.With))
		if len(added) > 0 {
			entries[i].With = slices.Concat(e.With, added)
			w.Progress.Say(fmt.Sprintf("%s: built with %s, as then", e.ID, strings.Join(added, ", ")))
		}
	}
	study.Contenders = entries
}

// olderModules returns the modules with which a contender's build links the versions of then.
// It skips modules in given.
func olderModules(today map[string]string, then []tare.Module, given []string) []string {
	var with []string
	for _, m := range then {
		is := today[m.Path]
		asked := slices.ContainsFunc(given, func(text string) bool {
			w, err := build.ParseWith(text, "")
			return err == nil && w.Path == m.Path
		})
		if is == "" || is == m.Version || m.Replace != "" || asked {
			continue
		}
		if w, err := build.ParseWith(m.Path+"@"+m.Version, ""); err == nil {
			with = append(with, w.String())
		}
	}
	return with
}

// mainRelease returns the Go release of most contenders of a result, or "" if unknown.
func mainRelease(old *tare.Result) string {
	count, most := map[string]int{}, ""
	for _, c := range old.Contenders {
		if release, _, _ := strings.Cut(c.Go, " "); release != "" {
			if count[release]++; count[release] > count[most] {
				most = release
			}
		}
	}
	return most
}
