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

// Policy describes how a change alters the rules that judge it, and whether a reviewer accepts
// that.
type Policy struct {
	Changed []string // rules that tare.yaml has and the base's has not, a line each
	Review  string   // line of a review that accepts them, and what is worse; "" if the base requires none
	Given   bool     // a reviewer wrote it
}

// Judged returns the project whose rules judge a change. If the base's tare.yaml requires a review
// and the change has none, these are the rules of the base. root is the top of the repository.
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
		from := head.Gate.Base // the caller chose the revision to compare with
		if moved {
			head = base // its paths are relative to its directory
		}
		head.Bench, head.Gate, head.Accept = base.Bench, base.Gate, base.Accept
		head.Gate.Base = from
	}
	return head, policy
}

// ProjectAt returns the project of dir, which is absolute and has no links in its path, at a
// commit: as [project.Load] finds it in the files of that commit. An error in its tare.yaml is a
// *yamlfile.Error, and an unknown commit a *BaseError.
func ProjectAt(ctx context.Context, dir, commit string) (project.Project, error) {
	at, err := runGit(ctx, dir, "rev-parse", "--verify", "--end-of-options", commit+"^{commit}")
	if err != nil {
		return project.Project{}, &BaseError{fmt.Sprintf("there is no commit %q in this repository%s", commit, shallowHint(ctx, dir))}
	}
	prefix, err := runGit(ctx, dir, "rev-parse", "--show-prefix")
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
	out, err := runGit(ctx, dir, append([]string{"--literal-pathspecs", "ls-tree", "--full-tree", "--name-only", "-z", at}, paths...)...)
	if err != nil {
		return project.Project{}, err
	}
	there := strings.Split(out, "\x00")
	i := slices.IndexFunc(paths, func(p string) bool { return slices.Contains(there, p) })
	if i < 0 {
		return project.Default(top), nil
	}
	text, err := readObject(ctx, dir, at+":"+paths[i])
	if err != nil {
		return project.Project{}, err
	}
	p, err := project.Parse(paths[i], []byte(text))
	p.File = filepath.Join(top, filepath.FromSlash(paths[i]))
	p.Dir = filepath.Dir(p.File)
	return p, err
}

// readObject returns the content of a file, e.g. HEAD:tare.yaml. It follows links.
func readObject(ctx context.Context, dir, object string) (string, error) {
	out, err := runGitInput(ctx, dir, strings.NewReader(object+"\n"), "cat-file", "--batch", "--follow-symlinks")
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

// applyPolicy remarks on changed rules, and lets rows pass that a reviewer accepts.
func (rep *Report) applyPolicy(p Policy) {
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
