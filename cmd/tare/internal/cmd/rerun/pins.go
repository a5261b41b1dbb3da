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

// restoreBuilds makes the session build the programs of study like those of the result old: with its
// Go release and versions of modules. It prints what it restores and what it cannot.
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
		oldContender, found := old.Contender(e.ID)
		isOfCatalog := e.Launch() == tare.LaunchProgram && e.Program == "" // otherwise tare does not build it
		if !found || !isOfCatalog {
			continue
		}
		selected := slices.Concat(e.With, w.Options.With)
		added := olderModules(sources.Versions(string(study.Kind), e), oldContender.Modules, selected)
		if len(added) > 0 {
			entries[i].With = slices.Concat(e.With, added)
			w.Progress.Say(fmt.Sprintf("%s: built with %s, as then", e.ID, strings.Join(added, ", ")))
		}
	}
	study.Contenders = entries
}

// olderModules returns the modules of old whose versions differ today, as path@version of old. It
// skips replaced modules and those in selected, whose versions the user chooses. today has the
// present versions by path.
func olderModules(today map[string]string, old []tare.Module, selected []string) []string {
	var with []string
	for _, m := range old {
		version := today[m.Path] // "" if the contender does not have the module any more
		isSelected := slices.ContainsFunc(selected, func(text string) bool {
			w, err := build.ParseWith(text, "")
			return err == nil && w.Path == m.Path
		})
		isUnneeded := version == "" || version == m.Version
		if isUnneeded || m.Replace != "" || isSelected {
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
		release, _, _ := strings.Cut(c.Go, " ") // names of Go experiments may follow the release
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
