package gatecmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/tarebench/tare/cmd/tare/internal/bring/gate"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
	"github.com/tarebench/tare/internal/whole"
)

// judged returns the project that a change is judged by, and what the change does
// to that.
func (o options) judged(ctx context.Context, p project.Project, at place, base string) (project.Project, gate.Policy, error) {
	reviews, err := read(o.reviews)
	if err != nil || !at.kept { // parts can be judged anywhere, and then by the tare.yaml there
		return p, gate.Policy{}, err
	}
	was, err := at.rules(ctx, base)
	if err != nil {
		if o.record && ctx.Err() == nil { // nothing is blocked
			return p, gate.Policy{Changed: []string{err.Error()}}, nil
		}
		return p, gate.Policy{}, err
	}
	if o.base != "" || o.record {
		was.Gate.Base = p.Gate.Base // neither names it
	}
	judged, policy := gate.Judged(at.root, p, was, reviews)
	return judged, policy, nil
}

// baseNamed returns the base that tare.yaml names. A change must not choose what it
// is compared with: where the commit at which it left the default branch asks for a
// review, that commit names the base.
func (o options) baseNamed(ctx context.Context, p project.Project, at place) (string, error) {
	left, err := gate.Base(ctx, p.Dir, project.MergeBase, o.head)
	if err != nil {
		return p.Gate.Base, ctx.Err() // no branch to have left
	}
	was, err := at.rules(ctx, left.BaseCommit)
	if err != nil || was.Gate.Review == "" {
		return p.Gate.Base, err
	}
	return was.Gate.Base, nil
}

// rules returns the project that a commit has for the place. What it asks for is not
// known where its tare.yaml cannot be read, so that is an error.
func (at place) rules(ctx context.Context, commit string) (project.Project, error) {
	p, err := gate.ProjectAt(ctx, at.dir, commit)
	var wrong *yamlfile.Error
	var unknown *gate.BaseError
	switch {
	case ctx.Err() != nil:
		return p, cmdenv.ErrInterrupted
	case errors.As(err, &unknown):
		return p, cmdenv.Usage(err.Error(), "")
	case errors.As(err, &wrong):
		return p, cmdenv.Usage(fmt.Sprintf("the rules of the base %s cannot be read: %v", short(commit), err), "correct them there first, or name another base, e.g. --base HEAD~1")
	case err != nil:
		return p, fmt.Errorf("cannot read the rules of the base %s: %w", short(commit), err)
	}
	return p, nil
}

// mostReviews bounds the file of reviews, in bytes: outsiders write in it.
const mostReviews = 16 << 20

// read returns the text of a file of reviews; nothing if path is empty.
func read(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := whole.ReadStart(path, mostReviews)
	if err != nil {
		return "", cmdenv.Usage(fmt.Sprintf("cannot read %s: %v", path, cmdenv.Cause(err)), "")
	}
	if len(text) > mostReviews {
		return "", cmdenv.Usage(fmt.Sprintf("%s is larger than %d MiB", path, mostReviews>>20), "name a file of what reviewers wrote")
	}
	return string(text), nil
}
