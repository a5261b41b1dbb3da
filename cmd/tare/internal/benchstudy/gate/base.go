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

// BaseError reports that there is no base to compare with, and advises what to do.
type BaseError struct{ What string }

// Error is one line.
func (e *BaseError) Error() string { return e.What }

// Sides are the two revisions that a gate compares: the base, and the head, which is to be judged.
type Sides struct {
	Base            string // revision of the base, e.g. v1.2.0 or a hash
	Branch          string // branch whose merge base with the head is the base; "" if the user names the base
	BaseCommit      string
	HeadCommit      string
	WorktreeDiffers bool // the worktree differs from HeadCommit
}

// AreEqual reports whether base and head have the same files.
func (s Sides) AreEqual() bool { return s.BaseCommit == s.HeadCommit && !s.WorktreeDiffers }

// FindSides finds the base and the commits of a gate in the repository of dir. spec is a revision, or, as
// projects write it, [project.MergeBase] and optionally a branch. The base is then the commit at which head
// left the branch. If head is [Worktree] or "", its commit is HEAD, and WorktreeDiffers is set if files
// differ from that commit. The error is a *BaseError if a revision or the repository does not exist.
//
// For example, spec "merge-base origin/main" and head "" compare the working directory with the commit at
// which it left origin/main.
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

// findMergeBase sets the base to the commit at which the head, printed as rev, left branch. If branch is
// "", it uses the first of the usual default branches that exists.
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

// resolveCommit returns the hash of the commit that a revision names.
func resolveCommit(ctx context.Context, dir, revision string) (string, error) {
	return runGit(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
}

// shallowHint returns the advice to fetch the rest of a shallow clone; "" if the clone is complete.
func shallowHint(ctx context.Context, dir string) string {
	if out, _ := runGit(ctx, dir, "rev-parse", "--is-shallow-repository"); out == "true" {
		return "; this clone is shallow: git fetch --unshallow gets the rest (fetch-depth: 0 in a checkout action)"
	}
	return ""
}

// runGit runs a git command that changes nothing in the repository, and trims its output.
func runGit(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := runGitInput(ctx, dir, nil, args...)
	return strings.TrimSpace(out), err
}

// runGitInput runs a git command with in as its input, and returns its exact output. If it fails the
// error is the first line of its standard error.
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
