package gate

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
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
// change makes of them. root is the top of the repository.
func Judged(root string, head, base project.Project, reviews string) (project.Project, Policy) {
	policy := Policy{Review: base.Gate.Review}
	changed := func(key, was, is string) {
		policy.Changed = append(policy.Changed, fmt.Sprintf("%s was %s and is %s", key, cmp.Or(was, "not set"), cmp.Or(is, "not set")))
	}
	moved := base.Dir != head.Dir // other packages then, even by the same patterns
	if moved {
		was, _ := filepath.Rel(root, base.Dir)
		is, _ := filepath.Rel(root, head.Dir)
		changed("the directory of "+project.FileName, filepath.ToSlash(was), filepath.ToSlash(is))
	}
	is := head.Rules()
	for i, was := range base.Rules() {
		if was != is[i] {
			changed(was.Key, was.Value, is[i].Value)
		}
	}
	for line := range strings.Lines(reviews) {
		policy.Given = policy.Given || policy.Review != "" && strings.TrimSpace(line) == policy.Review
	}
	if policy.Review != "" && !policy.Given {
		from := head.Gate.Base // what is compared was named, or found, by the caller
		if moved {
			head = base // its paths begin where it lies
		}
		head.Bench, head.Gate, head.Accept = base.Bench, base.Gate, base.Accept
		head.Gate.Base = from
	}
	return head, policy
}

// ProjectAt returns the project that dir, which is absolute and has no links in
// its path, belongs to at a commit: as [project.Load] finds it in the files of
// that commit. What is wrong with its tare.yaml is a *yamlfile.Error, and a commit
// that is not there a *BaseError.
func ProjectAt(ctx context.Context, dir, commit string) (project.Project, error) {
	at, err := git(ctx, dir, "rev-parse", "--verify", "--end-of-options", commit+"^{commit}")
	if err != nil {
		return project.Project{}, &BaseError{fmt.Sprintf("there is no commit %q in this repository%s", commit, shallow(ctx, dir))}
	}
	prefix, err := git(ctx, dir, "rev-parse", "--show-prefix")
	if err != nil {
		return project.Project{}, err
	}
	top := dir
	for range strings.Count(prefix, "/") {
		top = filepath.Dir(top)
	}
	var paths []string
	for below := path.Clean(prefix); ; below = path.Dir(below) {
		if paths = append(paths, path.Join(below, project.FileName)); below == "." {
			break
		}
	}
	out, err := git(ctx, dir, append([]string{"--literal-pathspecs", "ls-tree", "--full-tree", "--name-only", "-z", at}, paths...)...)
	if err != nil {
		return project.Project{}, err
	}
	there := strings.Split(out, "\x00")
	i := slices.IndexFunc(paths, func(p string) bool { return slices.Contains(there, p) })
	if i < 0 {
		return project.Default(top), nil
	}
	text, err := contents(ctx, dir, at+":"+paths[i])
	if err != nil {
		return project.Project{}, err
	}
	p, err := project.Parse(paths[i], []byte(text))
	p.File = filepath.Join(top, filepath.FromSlash(paths[i]))
	p.Dir = filepath.Dir(p.File)
	return p, err
}

// contents is what a file holds, e.g. HEAD:tare.yaml. A link stands for what it leads to.
func contents(ctx context.Context, dir, object string) (string, error) {
	out, err := gitWith(ctx, dir, strings.NewReader(object+"\n"), "cat-file", "--batch", "--follow-symlinks")
	if err != nil {
		return "", err
	}
	head, text, _ := strings.Cut(out, "\n")
	if about := strings.Fields(head); len(about) != 3 || about[1] != "blob" {
		_, file, _ := strings.Cut(object, ":")
		return "", fmt.Errorf("%s is not a file there", file)
	}
	return text, nil
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
