package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/lab"
)

// This file chooses and sorts the studies of tare run without arguments.

// firstStudy is the study that runs before the others if the user names none.
const firstStudy = "json-encode"

// maxUnnamed is the longest quick budget of a study that the user does not have to name.
const maxUnnamed = 2 * time.Minute

// chooseBundled returns the sorted bundled studies of a run without arguments. At the quick budget
// it drops those longer than maxUnnamed, unless the user restricts the run in another way.
func chooseBundled(studies []cmdenv.Study, o session.Options, typed cmdenv.Command, p *session.Progress) []cmdenv.Study {
	sortStudies(studies, o.Quick)
	hasSelection := len(o.Only.Contenders)+len(o.Only.Workloads) > 0
	if !o.Quick || o.Rounds > 0 || hasSelection || o.Resume {
		return studies
	}
	return withoutLong(studies, typed, p.Note)
}

// withoutLong drops the studies that take longer than maxUnnamed. It calls say with a line for each,
// which has the command that runs the study.
func withoutLong(studies []cmdenv.Study, typed cmdenv.Command, say func(string)) []cmdenv.Study {
	const isQuick = true
	var out []cmdenv.Study
	for _, study := range studies {
		if budget := lab.Budget(study.Budget, isQuick); budget > maxUnnamed {
			say(fmt.Sprintf("%s: left out, it measures for %s; %s measures it", study.ID, cmdenv.Seconds(budget), typed.WithArgs(study.ID)))
			continue
		}
		out = append(out, study)
	}
	return out
}

func sortStudies(studies []cmdenv.Study, quick bool) {
	slices.SortStableFunc(studies, func(a, b cmdenv.Study) int {
		switch {
		case a.ID == b.ID: // equal: their budgets are equal, too
		case a.ID == firstStudy:
			return -1
		case b.ID == firstStudy:
			return 1
		}
		return cmp.Compare(lab.Budget(a.Budget, quick), lab.Budget(b.Budget, quick))
	})
}

// withLocalReleases drops the studies that would download a Go release, because the user has not
// named them. It prints how to run each.
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

// missingRelease returns the first Go release that a study needs and that is not on this machine, or
// "".
func missingRelease(ctx context.Context, isInstalled func(context.Context, string) bool, study tare.Study) string {
	for _, e := range study.Contenders {
		if e.Go != "" && !isInstalled(ctx, e.Go) {
			return e.Go
		}
	}
	return ""
}
