package gate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/project"
)

// Policy is what a change does to the rules that it is judged by, and whether a
// reviewer accepts that.
type Policy struct {
	Changed []string // rules that tare.yaml has and the base's has not, a line each
	Review  string   // what a reviewer writes on a line to accept them, and what is worse; empty: the base asks for none
	Given   bool     // a reviewer wrote it
}

// Judged returns the project that a change is judged by. Where the base's
// tare.yaml asks for a review and there is none, its rules hold, whatever the
// change makes of them.
func Judged(head, base project.Project, reviews string) (project.Project, Policy) {
	policy := Policy{Review: base.Gate.Review}
	is := head.Rules()
	for i, was := range base.Rules() {
		if was != is[i] {
			policy.Changed = append(policy.Changed, fmt.Sprintf("%s was %s and is %s", was.Key, cmp.Or(was.Value, "not set"), cmp.Or(is[i].Value, "not set")))
		}
	}
	for line := range strings.Lines(reviews) {
		policy.Given = policy.Given || policy.Review != "" && strings.TrimSpace(line) == policy.Review
	}
	if policy.Review != "" && !policy.Given {
		from := head.Gate.Base // what is compared was named, or found, by the caller
		head.Bench, head.Gate, head.Accept = base.Bench, base.Gate, base.Accept
		head.Gate.Base = from
	}
	return head, policy
}

// ProjectAt returns the project at a commit of the repository with top root. path
// is where its tare.yaml is, from there.
func ProjectAt(ctx context.Context, root, commit, path string) (project.Project, error) {
	text, err := git(ctx, root, "show", commit+":"+path)
	if err != nil {
		return project.Default(root), nil // it has none
	}
	return project.Parse(path, []byte(text+"\n"))
}

// judgedBy remarks on changed rules, and lets pass what a reviewer accepts.
func (rep *Report) judgedBy(p Policy) {
	what := ""
	switch {
	case p.Review != "" && !p.Given:
		what = fmt.Sprintf("; the base's rules hold until a reviewer accepts the change with a line %q", p.Review)
	case p.Given:
		what = fmt.Sprintf("; a reviewer accepts it with %q", p.Review)
	}
	for _, changed := range p.Changed {
		rep.Remarks = append(rep.Remarks, Remark{
			Severity: IsWarning, Text: "this change also changes what it is judged by: " + changed + what,
			Place: Place{File: cmp.Or(rep.config, project.FileName), Line: 1},
		})
	}
	rep.review = p.Review
	for i := range rep.Rows {
		if r := &rep.Rows[i]; p.Given && r.Waived == nil && slices.Contains([]Outcome{Worse, Open}, r.Outcome) {
			r.Waived = &Waived{Reason: fmt.Sprintf("a reviewer wrote %q", p.Review)}
		}
	}
}
