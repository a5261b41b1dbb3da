package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/internal/build"
)

// BaseError reports in one line that there is no base to compare with, and what to do.
type BaseError struct{ What string }

// Error returns e.What.
func (e *BaseError) Error() string { return e.What }

// Sides are the two revisions that a gate compares. The head is the change to be judged.
type Sides struct {
	Base            string // revision, e.g. v1.2.0 or a hash
	Branch          string // branch that the head left at the base, or ""
	BaseCommit      string
	HeadCommit      string
	WorktreeDiffers bool // files differ from HeadCommit
}

// AreEqual reports whether base and head have the same files.
func (s Sides) AreEqual() bool { return s.BaseCommit == s.HeadCommit && !s.WorktreeDiffers }

// FindSides finds the base and the commits of a gate in the repository of dir. The base, spec, is a
// revision, or [project.MergeBase] with an optional branch. A head of [Worktree] or "" has the
// commit HEAD. The error is a *BaseError if a revision or the repository does not exist.
//
// For example, spec "merge-base origin/main" and head "" compare the working directory with the
// commit at which it left origin/main.
func FindSides(ctx context.Context, dir, spec, head string) (s Sides, err error) {
	rev, isWorktree := head, head == "" || head == Worktree
	if isWorktree {
		rev = "HEAD"
	}
	if s.HeadCommit, err = resolveCommit(ctx, dir, rev); err != nil {
		if _, errRepo := runGit(ctx, dir, "rev-parse", "--git-dir"); errRepo != nil {
			return s, &BaseError{"a gate needs a git repository and the git command: " + errRepo.Error()}
		}
		return s, &BaseError{fmt.Sprintf("there is no revision %q to measure; git log shows which there are", rev)}
	}
	if isWorktree {
		status, err := runGit(ctx, dir, "status", "--porcelain")
		s.WorktreeDiffers = err != nil || status != ""
	}
	branch, hasPrefix := strings.CutPrefix(spec, project.MergeBase)
	isMergeBase := hasPrefix && (branch == "" || branch[0] == ' ') // otherwise a revision whose name begins with MergeBase
	if !isMergeBase {
		s.Base = spec
		if s.BaseCommit, err = resolveCommit(ctx, dir, spec); err != nil {
			return s, &BaseError{fmt.Sprintf("there is no revision %q to compare the head with; git branch --all and git tag list those there are%s", spec, shallowHint(ctx, dir))}
		}
		return s, nil
	}
	err = s.findMergeBase(ctx, dir, strings.TrimSpace(branch), rev)
	return s, err
}

// findMergeBase sets the base to the commit at which the head left branch. rev is the head's
// printed name. If branch is "", it tries the usual default branches.
func (s *Sides) findMergeBase(ctx context.Context, dir, branch, rev string) error {
	candidates := []string{branch}
	if branch == "" {
		candidates = []string{"origin/HEAD", "origin/main", "origin/master", "main", "master"}
	}
	for _, name := range candidates {
		commit, err := resolveCommit(ctx, dir, name)
		if err != nil {
			continue
		}
		s.BaseCommit, err = runGit(ctx, dir, "merge-base", commit, s.HeadCommit)
		if err != nil {
			return &BaseError{fmt.Sprintf("%s and %s have no commit in common%s", name, rev, shallowHint(ctx, dir))}
		}
		s.Base, s.Branch = s.BaseCommit, name
		return nil
	}
	if branch != "" {
		return &BaseError{fmt.Sprintf("there is no revision %q to have left%s", branch, shallowHint(ctx, dir))}
	}
	return &BaseError{"cannot tell which branch the head left: there is no origin/HEAD, main or master; name a base, e.g. --base v1.2.0" + shallowHint(ctx, dir)}
}

func resolveCommit(ctx context.Context, dir, revision string) (string, error) {
	return runGit(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
}

func shallowHint(ctx context.Context, dir string) string {
	if out, _ := runGit(ctx, dir, "rev-parse", "--is-shallow-repository"); out == "true" {
		return "; this clone is shallow: git fetch --unshallow gets the rest (fetch-depth: 0 in a checkout action)"
	}
	return ""
}

func runGit(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := runGitInput(ctx, dir, nil, args...)
	return strings.TrimSpace(out), err
}

// runGitInput runs a git command in dir with the input in, and returns its exact output. The error
// is the first line of its standard error.
func runGitInput(ctx context.Context, dir string, in io.Reader, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Stdin = dir, in
	cmd.Env = append(build.Environment(os.Environ()), "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.As(err, &exit):
		line, _, _ := strings.Cut(strings.TrimSpace(string(exit.Stderr)), "\n")
		return "", errors.New(strings.TrimPrefix(line, "fatal: "))
	case err != nil:
		return "", err
	}
	return string(out), nil
}
