package gatecmd

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/tarebench/tare/cmd/tare/internal/bring/gate"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/project"
)

// judged returns the project that a change is judged by, and what the change does
// to that.
func (o options) judged(ctx context.Context, p project.Project, root, base string) (project.Project, gate.Policy, error) {
	reviews, err := read(o.reviews)
	if err != nil || base == "" {
		return p, gate.Policy{}, err
	}
	file := p.File
	if file == "" { // it may have been taken away
		file = filepath.Join(p.Dir, project.FileName)
	}
	was, err := gate.ProjectAt(ctx, root, base, below(root, file))
	if err != nil {
		return p, gate.Policy{Changed: []string{"the base's was not readable: " + err.Error()}}, nil
	}
	if o.base != "" || o.record {
		was.Gate.Base = p.Gate.Base // neither names it
	}
	judged, policy := gate.Judged(p, was, reviews)
	return judged, policy, nil
}

// mostReviews bounds the file of reviews, in bytes: outsiders write in it.
const mostReviews = 16 << 20

// read returns the text of a file of reviews; nothing if path is empty.
func read(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := cmdenv.ReadFile(path, mostReviews)
	if err != nil {
		return "", cmdenv.Usage(fmt.Sprintf("cannot read %s: %v", path, cmdenv.Cause(err)), "")
	}
	if len(text) > mostReviews {
		return "", cmdenv.Usage(fmt.Sprintf("%s is larger than %d MiB", path, mostReviews>>20), "name a file of what reviewers wrote")
	}
	return string(text), nil
}
