// Package gitrev unpacks revisions of a git repository into directories, without touching the
// repository: its worktree, its index and its list of worktrees stay as they are.
package gitrev

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare/internal/build"
)

// unusedAge is the time after which an unused directory is removed from the cache.
const unusedAge = 14 * 24 * time.Hour

// Repo is a git repository with a worktree.
type Repo struct {
	Root   string // of the worktree
	Prefix string // of the directory it was found from, below Root
}

// Find returns the repository of dir.
func Find(ctx context.Context, dir string) (Repo, error) {
	out, err := runGit(ctx, dir, nil, "rev-parse", "--show-toplevel", "--show-prefix")
	if err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return Repo{}, errors.New("a revision needs the git command, which was not found")
		}
		return Repo{}, fmt.Errorf("a revision needs a git repository with a worktree: %w", err)
	}
	root, prefix, _ := strings.Cut(out, "\n")
	return Repo{Root: filepath.FromSlash(root), Prefix: filepath.FromSlash(strings.TrimSpace(prefix))}, nil
}

// Revision is a commit of a repository.
type Revision struct {
	Name   string // as the user named it
	Commit string // in full
	Tree   string // hash of its tree
}

// String returns the name with the short hash of the commit.
func (r Revision) String() string {
	short := r.Commit[:min(9, len(r.Commit))]
	if strings.HasPrefix(r.Commit, r.Name) {
		return short
	}
	return r.Name + " (" + short + ")"
}

// Resolve finds a revision by any of the names that git has for it.
func (r Repo) Resolve(ctx context.Context, name string) (Revision, error) {
	if name == "" || strings.HasPrefix(name, "-") {
		return Revision{}, &UnknownError{name}
	}
	out, err := runGit(ctx, r.Root, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		return Revision{}, &UnknownError{name}
	}
	rev := Revision{Name: name, Commit: strings.TrimSpace(out)}
	out, err = runGit(ctx, r.Root, nil, "rev-parse", "--verify", rev.Commit+"^{tree}")
	rev.Tree = strings.TrimSpace(out)
	return rev, err
}

// UnknownError reports that there is no such revision.
type UnknownError struct{ Name string }

// Error is one line.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("no revision %q in this repository", e.Name)
}

// Extract unpacks the files of rev into a directory below cache and returns it, with a line about
// each thing that is missing there.
func (r Repo) Extract(ctx context.Context, rev Revision, cache string) (dir string, notes []string, err error) {
	all := filepath.Join(cache, "trees")
	if err := os.MkdirAll(all, 0o755); err != nil {
		return "", nil, fmt.Errorf("make the directory of revisions: %w", err)
	}
	Sweep(all, unusedAge)
	notes, submodules, err := r.listMissing(ctx, rev)
	if err != nil {
		return "", nil, err
	}
	dir = filepath.Join(all, rev.Tree)
	tmp, err := os.MkdirTemp(all, "new-")
	if err != nil {
		return "", nil, fmt.Errorf("make a directory for %s: %w", rev, err)
	}
	defer os.RemoveAll(tmp)
	// A separate index: the repository's stays as it is.
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(tmp, "index")}
	if _, err := runGit(ctx, r.Root, index, "read-tree", "--no-sparse-checkout", rev.Tree); err != nil {
		return "", nil, fmt.Errorf("read %s: %w", rev, err)
	}
	if _, err := os.Lstat(dir); err == nil {
		changed, err := r.isModified(ctx, dir, index, submodules)
		if err != nil {
			return "", nil, fmt.Errorf("compare the kept files of %s: %w", rev, err)
		}
		if !changed {
			now := time.Now()
			return dir, notes, os.Chtimes(dir, now, now)
		}
		// Benchmarks run in it, and some write; a cache may come from elsewhere.
		notes = append(notes, fmt.Sprintf("%s: its files in the cache had been changed, and were written again", rev))
		if err := os.Rename(dir, filepath.Join(tmp, "changed")); err != nil {
			return "", nil, fmt.Errorf("remove the changed files of %s: %w", rev, err)
		}
	}
	files := filepath.Join(tmp, "files")
	if err := os.Mkdir(files, 0o755); err != nil { // of a revision without files
		return "", nil, err
	}
	if _, err := runGit(ctx, r.Root, index, "checkout-index", "--all", "--quiet", "--prefix="+filepath.ToSlash(files)+"/"); err != nil {
		return "", nil, fmt.Errorf("write the files of %s: %w", rev, err)
	}
	if err := os.Rename(files, dir); err != nil {
		if _, errStat := os.Stat(dir); errStat != nil { // no other process was faster
			return "", nil, fmt.Errorf("keep the files of %s: %w", rev, err)
		}
	}
	return dir, notes, nil
}

// isModified reports whether the files in dir differ from an index: other contents, or more files,
// ignored ones included. git reads nothing in the directories of submodules, which must be empty.
func (r Repo) isModified(ctx context.Context, dir string, index, submodules []string) (bool, error) {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return true, err
	}
	for _, path := range submodules {
		if empty, err := isEmptyDir(filepath.Join(dir, path)); err != nil || !empty {
			return true, err
		}
	}
	repository, err := runGit(ctx, r.Root, nil, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return false, err
	}
	env := append([]string{"GIT_DIR=" + repository, "GIT_WORK_TREE=" + dir}, index...)
	// A new index knows no times: every content is hashed.
	if _, err := runGit(ctx, dir, env, "update-index", "-q", "--ignore-submodules", "--refresh"); err != nil && ctx.Err() != nil {
		return false, err
	}
	if _, err := runGit(ctx, dir, env, "diff-files", "--quiet", "--ignore-submodules", "--no-ext-diff"); err != nil {
		return true, ctx.Err()
	}
	more, err := runGit(ctx, dir, env, "ls-files", "--others")
	return more != "", err
}

// isEmptyDir reports whether path is a directory, not a link to one, and empty.
func isEmptyDir(path string) (bool, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || !info.IsDir() {
		return false, err
	}
	entries, err := os.ReadDir(path)
	return len(entries) == 0, err
}

// listMissing returns a line about each thing that the files of rev lack: submodules, whose paths
// it returns as well, and contents in Git LFS if its program is not installed.
func (r Repo) listMissing(ctx context.Context, rev Revision) (notes, submodules []string, err error) {
	out, err := runGit(ctx, r.Root, nil, "ls-tree", "-r", "-z", "--full-tree", rev.Tree)
	if err != nil {
		return nil, nil, fmt.Errorf("list the files of %s: %w", rev, err)
	}
	attributes := false
	for line := range strings.SplitSeq(out, "\x00") {
		about, path, _ := strings.Cut(line, "\t")
		if strings.HasPrefix(about, "160000 ") {
			notes = append(notes, fmt.Sprintf("%s: submodule %s is left empty; git submodules are not fetched", rev, path))
			submodules = append(submodules, path)
		}
		attributes = attributes || path == ".gitattributes"
	}
	if attributes {
		text, err := runGit(ctx, r.Root, nil, "cat-file", "blob", rev.Tree+":.gitattributes")
		filter, _ := runGit(ctx, r.Root, nil, "config", "filter.lfs.smudge")
		if err == nil && strings.Contains(text, "filter=lfs") && filter == "" {
			notes = append(notes, fmt.Sprintf("%s: what is kept in Git LFS is there as pointers only, as git-lfs is not installed", rev))
		}
	}
	return notes, submodules, nil
}

// Changed lists the files that differ between base and head, from Root. A nil head means the
// worktree; unknown files then count, unless git ignores them.
func (r Repo) Changed(ctx context.Context, base Revision, head *Revision) ([]string, error) {
	args := []string{"diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", base.Commit}
	if head != nil {
		args = append(args, head.Commit)
	}
	out, err := runGit(ctx, r.Root, nil, append(args, "--")...)
	if err == nil && head == nil {
		var more string
		more, err = runGit(ctx, r.Root, nil, "ls-files", "--others", "--exclude-standard", "-z")
		out += more
	}
	if err != nil {
		return nil, fmt.Errorf("find what changed: %w", err)
	}
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), nil
}

// Grep returns the lines that match an extended regular expression, in the files that
// match a pathspec: of a revision, or of the worktree if rev is nil.
func (r Repo) Grep(ctx context.Context, rev *Revision, expression, pathspec string) ([]string, error) {
	args := []string{"grep", "-h", "-E", "--no-color", "--no-line-number", "--no-column"}
	if rev == nil {
		args = append(args, "--untracked", "--no-exclude-standard")
	}
	args = append(args, "-e", expression)
	if rev != nil {
		args = append(args, rev.Commit)
	}
	out, err := runGit(ctx, r.Root, nil, append(args, "--", pathspec)...)
	var failed *exec.ExitError
	if errors.As(err, &failed) && failed.ExitCode() == 1 { // nothing matches
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("search the files: %w", err)
	}
	return strings.Split(out, "\n"), nil
}

// Commit is one commit between two revisions.
type Commit struct {
	ID, Author, Subject string
	Parents             []string
	Time                time.Time
}

// Between lists the commits that head has and base has not, children before their parents. Base has
// to be an ancestor of head. With firstParent a merge counts for the merged commits.
func (r Repo) Between(ctx context.Context, base, head Revision, firstParent bool) ([]Commit, error) {
	if from, err := runGit(ctx, r.Root, nil, "merge-base", base.Commit, head.Commit); ctx.Err() != nil {
		return nil, ctx.Err()
	} else if err != nil || from != base.Commit {
		return nil, &ApartError{base, head, from}
	}
	args := []string{"log", "--topo-order", "--no-show-signature", "-z", "--format=%H%n%P%n%an%n%cI%n%s"}
	if firstParent {
		args = append(args, "--first-parent")
	}
	out, err := runGit(ctx, r.Root, nil, append(args, base.Commit+".."+head.Commit, "--")...)
	if err != nil {
		return nil, fmt.Errorf("list the commits between %s and %s: %w", base, head, err)
	}
	var commits []Commit
	for record := range strings.SplitSeq(out, "\x00") {
		f := strings.SplitN(record, "\n", 5)
		if len(f) < 5 {
			continue
		}
		at, _ := time.Parse(time.RFC3339, f[3])
		commits = append(commits, Commit{ID: f[0], Parents: strings.Fields(f[1]), Author: f[2], Time: at, Subject: f[4]})
	}
	if firstParent {
		for i := range commits {
			commits[i].Parents = commits[i].Parents[:min(1, len(commits[i].Parents))]
		}
	}
	return commits, nil
}

// ApartError reports that one revision is no ancestor of another.
type ApartError struct {
	Base, Head Revision
	From       string // commit that both come from; "" if there is none, or it is beyond a shallow clone
}

// Error is one line.
func (e *ApartError) Error() string {
	text := fmt.Sprintf("%s is no ancestor of %s", e.Base, e.Head)
	if e.From != "" {
		text += "; both come from " + e.From[:min(9, len(e.From))]
	}
	return text
}

// Worktree returns the name of the worktree as a side: its commit, and whether files differ from
// that.
func (r Repo) Worktree(ctx context.Context) string {
	name := "worktree"
	if rev, err := r.Resolve(ctx, "HEAD"); err == nil {
		name += " at " + rev.Commit[:min(9, len(rev.Commit))]
	}
	if out, err := runGit(ctx, r.Root, nil, "status", "--porcelain"); err == nil && out != "" {
		name += " with changes"
	}
	return name
}

// Sweep removes the entries of dir that have not been used for age.
func Sweep(dir string, age time.Duration) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > age {
			_ = os.RemoveAll(filepath.Join(dir, e.Name())) // another time, then
		}
	}
}

// runGit runs a command that changes nothing in the repository.
func runGit(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	return runGitInput(ctx, dir, env, nil, args...)
}

// runGitInput runs a command that reads in, and returns its output without the last newline.
func runGitInput(ctx context.Context, dir string, env []string, in io.Reader, args ...string) (string, error) {
	var out bytes.Buffer
	err := runGitIO(ctx, dir, env, in, &out, args...)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// runGitIO runs a command that reads in and writes out.
func runGitIO(ctx context.Context, dir string, env []string, in io.Reader, out io.Writer, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = slices.Concat(build.Environment(os.Environ()), env, []string{"GIT_OPTIONAL_LOCKS=0", "LC_ALL=C"})
	var stderr bytes.Buffer
	cmd.Stdin = in
	cmd.Stdout, cmd.Stderr = out, &stderr
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		if line, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n"); line != "" {
			return fmt.Errorf("git: %s", strings.TrimPrefix(line, "fatal: "))
		}
	}
	return err
}
