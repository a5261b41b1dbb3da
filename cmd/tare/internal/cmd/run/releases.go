package run

import (
	"context"
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/session"
)

// withLocalReleases drops the studies that would download a Go release: no study of a bare run was
// named by the user. It prints a line for each, with the command that runs the study.
func withLocalReleases(ctx context.Context, w *session.Session, studies []cmdenv.Study, typed cmdenv.Command) []cmdenv.Study {
	sources, ok := w.Sources.(cmdenv.CatalogSources)
	if !ok {
		return studies
	}
	var out []cmdenv.Study
	for _, study := range studies {
		if missing := missingRelease(ctx, sources.Here, study.Study); missing != "" {
			w.Progress.Note(fmt.Sprintf("%s: left out, %s is not on this machine; %s fetches it", study.ID, missing, typed.WithArgs(study.ID)))
			continue
		}
		out = append(out, study)
	}
	return out
}

// missingRelease returns the first Go release that a study needs and that is not on this machine,
// or "".
func missingRelease(ctx context.Context, isInstalled func(context.Context, string) bool, study tare.Study) string {
	for _, e := range study.Contenders {
		if e.Go != "" && !isInstalled(ctx, e.Go) {
			return e.Go
		}
	}
	return ""
}
