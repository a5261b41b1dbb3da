package run

import (
	"context"
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/session"
)

// here leaves studies out that would have to fetch a Go release first: nobody
// asked for them by name.
func here(ctx context.Context, w *session.Session, studies []cmdenv.Study, own cmdenv.Command) []cmdenv.Study {
	from, ok := w.Sources.(cmdenv.CatalogSources)
	if !ok {
		return studies
	}
	var out []cmdenv.Study
	for _, study := range studies {
		if missing := lacking(ctx, from.Here, study.Study); missing != "" {
			w.Progress.Say(fmt.Sprintf("%s: left out, %s is not on this machine; %s fetches it", study.ID, missing, own.WithArgs(study.ID)))
			continue
		}
		out = append(out, study)
	}
	return out
}

// lacking is a release that a study builds contenders with and that is not here;
// empty: there is none.
func lacking(ctx context.Context, isHere func(context.Context, string) bool, study tare.Study) string {
	for _, e := range study.Contenders {
		if e.Go != "" && !isHere(ctx, e.Go) {
			return e.Go
		}
	}
	return ""
}
