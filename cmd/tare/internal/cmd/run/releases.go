package run

import (
	"context"
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/session"
)

// onlyLocal skips studies that would have to download a Go release, because the user has not
// named them.
func onlyLocal(ctx context.Context, w *session.Session, studies []cmdenv.Study, own cmdenv.Command) []cmdenv.Study {
	from, ok := w.Sources.(cmdenv.CatalogSources)
	if !ok {
		return studies
	}
	var out []cmdenv.Study
	for _, study := range studies {
		if missing := missingRelease(ctx, from.Here, study.Study); missing != "" {
			w.Progress.Say(fmt.Sprintf("%s: left out, %s is not on this machine; %s fetches it", study.ID, missing, own.WithArgs(study.ID)))
			continue
		}
		out = append(out, study)
	}
	return out
}

// missingRelease returns a release that a study needs and that is not on this machine, or "".
func missingRelease(ctx context.Context, isHere func(context.Context, string) bool, study tare.Study) string {
	for _, e := range study.Contenders {
		if e.Go != "" && !isHere(ctx, e.Go) {
			return e.Go
		}
	}
	return ""
}
