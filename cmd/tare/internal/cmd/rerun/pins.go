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

// restoreBuilds makes the session build the contenders of study with the Go release and the versions of
// modules of the result old, as far as these can be had, and prints what it restores and what it cannot.
func restoreBuilds(ctx context.Context, w *session.Session, study *cmdenv.Study, old *tare.Result) {
	sources, ok := w.Sources.(cmdenv.CatalogSources)
	if !ok {
		return
	}
	if release := mainRelease(old); release != "" && w.Options.Release == "" {
		if err := sources.Toolchain(ctx, release); err != nil {
			w.Progress.Say(fmt.Sprintf("contenders were built by %s then, which is not available: %s", release, format.Line(err.Error(), 0)))
		}
	}
	entries := slices.Clone(study.Contenders)
	for i, e := range entries {
		then, ok := old.Contender(e.ID)
		isOfCatalog := e.Launch() == tare.LaunchProgram && e.Program == ""
		if !ok || !isOfCatalog {
			continue
		}
		added := olderModules(sources.Versions(string(study.Kind), e), then.Modules, slices.Concat(e.With, w.Options.With))
		if len(added) > 0 {
			entries[i].With = slices.Concat(e.With, added)
			w.Progress.Say(fmt.Sprintf("%s: built with %s, as then", e.ID, strings.Join(added, ", ")))
		}
	}
	study.Contenders = entries
}

// olderModules returns the modules, as path@version, with which a contender is built with the versions of
// then. today has the versions by path. It skips modules that were replaced, and those of --with in
// selected.
func olderModules(today map[string]string, then []tare.Module, selected []string) []string {
	var with []string
	for _, m := range then {
		version := today[m.Path] // "" if the contender does not have the module any more
		isSelected := slices.ContainsFunc(selected, func(text string) bool {
			w, err := build.ParseWith(text, "")
			return err == nil && w.Path == m.Path
		})
		if version == "" || version == m.Version || m.Replace != "" || isSelected {
			continue
		}
		if w, err := build.ParseWith(m.Path+"@"+m.Version, ""); err == nil {
			with = append(with, w.String())
		}
	}
	return with
}

// mainRelease returns the Go release of most contenders of a result, or "" if it is unknown.
func mainRelease(old *tare.Result) string {
	counts, commonest := map[string]int{}, ""
	for _, c := range old.Contenders {
		release, _, _ := strings.Cut(c.Go, " ") // experiments follow
		if release == "" {
			continue
		}
		counts[release]++
		if counts[release] > counts[commonest] {
			commonest = release
		}
	}
	return commonest
}
