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

// This file prevents a change from passing its own gate by changing tare.yaml. If the project
// requires a review, the rules of the base judge the change.

// Policy describes how a change alters its own rules, and whether a reviewer accepts that.
type Policy struct {
	ChangedRules []string // rules that differ between base and head, a line each
	RequiredLine string   // line of a reviewer who accepts; "" if the base requires no review
	Accepted     bool     // a reviewer wrote RequiredLine
}

// ChooseRules returns the project whose rules judge a change. Usually that is head. If base requires
// a review and no text of reviews has the required line, it is head with the rules of base. root is
// the top of the repository.
func ChooseRules(root string, head, base project.Project, reviews string) (project.Project, Policy) {
	policy := Policy{RequiredLine: base.Gate.Review}
	changed := func(key, was, is string) {
		policy.ChangedRules = append(policy.ChangedRules, fmt.Sprintf("%s was %s and is %s", key, cmp.Or(was, "not set"), cmp.Or(is, "not set")))
	}
	moved := base.Dir != head.Dir // the same patterns match other packages then
	if moved {
		baseDir, _ := filepath.Rel(root, base.Dir)
		headDir, _ := filepath.Rel(root, head.Dir)
		changed("the directory of "+project.FileName, filepath.ToSlash(baseDir), filepath.ToSlash(headDir))
	}
	headRules := head.Rules() // has the same keys, in the same order
	for i, rule := range base.Rules() {
		if rule != headRules[i] {
			changed(rule.Key, rule.Value, headRules[i].Value)
		}
	}
	requiresReview := policy.RequiredLine != ""
	isRequiredLine := func(line string) bool { return strings.TrimSpace(line) == policy.RequiredLine }
	policy.Accepted = requiresReview && slices.ContainsFunc(strings.Split(reviews, "\n"), isRequiredLine)
	if requiresReview && !policy.Accepted {
		revision := head.Gate.Base // the caller chose the revision to compare with
		if moved {
			head = base // its paths are relative to its directory
		}
		head.Bench, head.Gate, head.Accept = base.Bench, base.Gate, base.Accept
		head.Gate.Base = revision
	}
	return head, policy
}

// ProjectAt returns the project of dir at a commit. dir must be absolute, without symbolic links.
// The error is a *yamlfile.Error if tare.yaml is invalid, and a *BaseError if the commit is
// unknown.
func ProjectAt(ctx context.Context, dir, commit string) (project.Project, error) {
	hash, err := runGit(ctx, dir, "rev-parse", "--verify", "--end-of-options", commit+"^{commit}")
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
	var paths []string // paths of tare.yaml, the nearest first
	for below := path.Clean(prefix); ; below = path.Dir(below) {
		if paths = append(paths, path.Join(below, project.FileName)); below == "." {
			break
		}
	}
	out, err := runGit(ctx, dir, append([]string{"--literal-pathspecs", "ls-tree", "--full-tree", "--name-only", "-z", hash}, paths...)...)
	if err != nil {
		return project.Project{}, err
	}
	existing := strings.Split(out, "\x00")
	i := slices.IndexFunc(paths, func(p string) bool { return slices.Contains(existing, p) })
	if i < 0 {
		return project.Default(top), nil
	}
	text, err := readObject(ctx, dir, hash+":"+paths[i])
	if err != nil {
		return project.Project{}, err
	}
	p, err := project.Parse(paths[i], []byte(text))
	p.File = filepath.Join(top, filepath.FromSlash(paths[i]))
	p.Dir = filepath.Dir(p.File)
	return p, err
}

// readObject returns the content of a file at a revision, e.g. HEAD:tare.yaml. git prints a line
// with hash, type and size before the content.
func readObject(ctx context.Context, dir, object string) (string, error) {
	out, err := runGitInput(ctx, dir, strings.NewReader(object+"\n"), "cat-file", "--batch", "--follow-symlinks")
	if err != nil {
		return "", err
	}
	header, text, _ := strings.Cut(out, "\n")
	if fields := strings.Fields(header); len(fields) != 3 || fields[1] != "blob" {
		_, file, _ := strings.Cut(object, ":")
		return "", fmt.Errorf("%s is not a file there", file)
	}
	return text, nil
}

// applyPolicy adds a remark about each changed rule. If a reviewer wrote the required line, it
// waives the rows that are worse or undecided.
func (rep *Report) applyPolicy(p Policy) {
	consequence := ""
	switch {
	case p.RequiredLine != "" && !p.Accepted:
		consequence = fmt.Sprintf("; the base's rules hold until a reviewer accepts the change with a line %q", p.RequiredLine)
	case p.Accepted:
		consequence = fmt.Sprintf("; a reviewer accepts it with %q", p.RequiredLine)
	}
	for _, changed := range p.ChangedRules {
		rep.Remarks = append(rep.Remarks, Remark{
			Severity: SeverityWarning, Text: "this change also changes what it is judged by: " + changed + consequence,
			Place: Place{File: cmp.Or(rep.configFile, project.FileName), Line: 1},
		})
	}
	rep.requiredLine = p.RequiredLine
	for i := range rep.Rows {
		r := &rep.Rows[i]
		needsWaiver := r.Waived == nil && (r.Outcome == Worse || r.Outcome == Open)
		if p.Accepted && needsWaiver {
			r.Waived = &Waived{Reason: fmt.Sprintf("a reviewer wrote %q", p.RequiredLine)}
		}
	}
}
