package gatecmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gate"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
	"github.com/tarebench/tare/internal/atomicfile"
)

// judgingProject returns the project whose rules judge the change, and how the change alters them. p is
// the project of the head. A change could weaken the rules that judge it. So the tare.yaml of the base
// can require a review of changed rules. Without that review, the rules of the base apply.
func (o options) judgingProject(ctx context.Context, p project.Project, wd workDir, base string) (project.Project, gate.Policy, error) {
	reviews, err := readReviews(o.reviewsFile)
	if err != nil || !wd.inRepository { // outside of a repository there is no base
		return p, gate.Policy{}, err
	}
	baseProject, err := wd.rulesAt(ctx, base)
	if err != nil {
		if o.record && ctx.Err() == nil { // --record blocks nothing: a message is enough
			return p, gate.Policy{ChangedRules: []string{err.Error()}}, nil
		}
		return p, gate.Policy{}, err
	}
	if o.base != "" || o.record {
		baseProject.Gate.Base = p.Gate.Base // chosen by flags, not by the change
	}
	judging, policy := gate.ChooseRules(wd.root, p, baseProject, reviews)
	return judging, policy, nil
}

// namedBase returns the base that tare.yaml names. A change must not choose its own base if a review is
// required. In that case the tare.yaml before the change names the base.
func (o options) namedBase(ctx context.Context, p project.Project, wd workDir) (string, error) {
	fork, err := gate.FindSides(ctx, p.Dir, project.MergeBase, o.head)
	if err != nil {
		return p.Gate.Base, ctx.Err() // without a default branch, the tare.yaml of the change counts
	}
	forkProject, err := wd.rulesAt(ctx, fork.BaseCommit)
	if err != nil || forkProject.Gate.Review == "" {
		return p.Gate.Base, err
	}
	return forkProject.Gate.Base, nil
}

// rulesAt returns the project of a commit. An unreadable tare.yaml is an error: it may have required a
// review.
func (wd workDir) rulesAt(ctx context.Context, commit string) (project.Project, error) {
	p, err := gate.ProjectAt(ctx, wd.dir, commit)
	var invalid *yamlfile.Error
	var unknown *gate.BaseError
	switch {
	case ctx.Err() != nil:
		return p, cmdenv.ErrInterrupted
	case errors.As(err, &unknown):
		return p, cmdenv.UsageOf(err, "")
	case errors.As(err, &invalid):
		return p, cmdenv.Usage(fmt.Sprintf("the rules of the base %s cannot be read: %v", shortHash(commit), err), "correct them there first, or name another base, e.g. --base HEAD~1")
	case err != nil:
		return p, fmt.Errorf("cannot read the rules of the base %s: %w", shortHash(commit), err)
	}
	return p, nil
}

// maxReviews limits the file of reviews, in bytes: anyone can write a review.
const maxReviews = 16 << 20

func readReviews(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := atomicfile.ReadStart(path, maxReviews)
	if err != nil {
		return "", cmdenv.Usage(fmt.Sprintf("cannot read %s: %v", path, cmdenv.Cause(err)), "")
	}
	if len(text) > maxReviews {
		return "", cmdenv.Usage(fmt.Sprintf("%s is larger than %d MiB", path, maxReviews>>20), "name a file of what reviewers wrote")
	}
	return string(text), nil
}
