// Package gitrev unpacks revisions of a git repository into directories. So tare can measure an old and
// a new version of a program. It runs git with a separate index, and never changes the worktree or the
// index of the repository.
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
	Root   string // top directory of the worktree
	Prefix string // directory that was passed to Find, relative to Root; "" for Root itself
}

func shortCommit(commit string) string { return commit[:min(9, len(commit))] }

// Find returns the repository of dir.
func Find(ctx context.Context, dir string) (Repo, error) {
	out, err := runGit(ctx, dir, nil, "rev-parse", "--show-toplevel", "--show-prefix")
	if err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return Repo{}, errors.New("a revision needs the git command, which was not found")
		}
		if strings.Contains(err.Error(), "dubious ownership") { // the owner is another user, as often in containers
			err = fmt.Errorf("%w; trust it with git config --global --add safe.directory %s", err, dir)
		}
		return Repo{}, fmt.Errorf("a revision needs a git repository with a worktree: %w", err)
	}
	root, prefix, _ := strings.Cut(out, "\n")
	return Repo{Root: filepath.FromSlash(root), Prefix: filepath.FromSlash(strings.TrimSpace(prefix))}, nil
}

// Revision is a commit of a repository.
type Revision struct {
	Name   string // name as the user gave it
	Commit string // full hash of the commit
	Tree   string // full hash of its tree
}

// String returns the name with the short hash of the commit.
func (r Revision) String() string {
	if isHash := strings.HasPrefix(r.Commit, r.Name); isHash {
		return shortCommit(r.Commit)
	}
	return r.Name + " (" + shortCommit(r.Commit) + ")"
}

// Resolve finds a revision by any name that git accepts. The error for another name is an
// [UnknownError].
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

// Extract unpacks the files of rev into a directory below cache and returns the directory. It uses the
// directory of an earlier call again unless files in it were modified. Each note is a line for the user
// about files that are missing (see listMissing) or were written again.
func (r Repo) Extract(ctx context.Context, rev Revision, cache string) (dir string, notes []string, err error) {
	trees := filepath.Join(cache, "trees")
	if err := os.MkdirAll(trees, 0o755); err != nil {
		return "", nil, fmt.Errorf("make the directory of revisions: %w", err)
	}
	Sweep(trees, unusedAge)
	notes, submodules, err := r.listMissing(ctx, rev)
	if err != nil {
		return "", nil, err
	}
	dir = filepath.Join(trees, rev.Tree)
	tmp, err := os.MkdirTemp(trees, "new-")
	if err != nil {
		return "", nil, fmt.Errorf("make a directory for %s: %w", rev, err)
	}
	defer os.RemoveAll(tmp)
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(tmp, "index")}
	if _, err := runGit(ctx, r.Root, index, "read-tree", "--no-sparse-checkout", rev.Tree); err != nil {
		return "", nil, fmt.Errorf("read %s: %w", rev, err)
	}
	if _, err := os.Lstat(dir); err == nil {
		modified, err := r.isModified(ctx, dir, index, submodules)
		if err != nil {
			return "", nil, fmt.Errorf("compare the kept files of %s: %w", rev, err)
		}
		if !modified {
			now := time.Now()
			return dir, notes, os.Chtimes(dir, now, now) // the time of the last use, for Sweep
		}
		// Benchmarks run in the directory, and some write files. A cache may also come from another
		// machine.
		notes = append(notes, fmt.Sprintf("%s: its files in the cache had been changed, and were written again", rev))
		if err := os.Rename(dir, filepath.Join(tmp, "changed")); err != nil {
			return "", nil, fmt.Errorf("remove the changed files of %s: %w", rev, err)
		}
	}
	if err := r.writeFiles(ctx, rev, filepath.Join(tmp, "files"), dir, index); err != nil {
		return "", nil, err
	}
	return dir, notes, nil
}

// writeFiles writes the files of rev, which index lists, to the new directory files, and moves that
// to dir.
func (r Repo) writeFiles(ctx context.Context, rev Revision, files, dir string, index []string) error {
	if err := os.Mkdir(files, 0o755); err != nil { // git makes none for a revision without files
		return err
	}
	if _, err := runGit(ctx, r.Root, index, "checkout-index", "--all", "--quiet", "--prefix="+filepath.ToSlash(files)+"/"); err != nil {
		return fmt.Errorf("write the files of %s: %w", rev, err)
	}
	if err := os.Rename(files, dir); err != nil {
		if _, errStat := os.Stat(dir); errStat != nil { // else another process has unpacked the revision
			return fmt.Errorf("keep the files of %s: %w", rev, err)
		}
	}
	return nil
}

// isModified reports whether the files in dir differ from an index. Another file counts, even one
// that git ignores. The directories of submodules must be empty, as git does not read them. index is
// the environment variable that names the index.
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
	// The new index has no file times, so git hashes all contents. Files that differ make the command
	// fail, and diff-files reports them.
	if _, err := runGit(ctx, dir, env, "update-index", "-q", "--ignore-submodules", "--refresh"); err != nil && ctx.Err() != nil {
		return false, err
	}
	if _, err := runGit(ctx, dir, env, "diff-files", "--quiet", "--ignore-submodules", "--no-ext-diff"); err != nil {
		return true, ctx.Err() // the command fails if files differ
	}
	others, err := runGit(ctx, dir, env, "ls-files", "--others")
	return others != "", err
}

// isEmptyDir reports whether path is an empty directory. It returns false for a link, and for a path
// that does not exist.
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

// listMissing returns notes on what the files of rev lack: submodules and, without git-lfs, contents
// in Git LFS. It also returns the paths of the submodules.
func (r Repo) listMissing(ctx context.Context, rev Revision) (notes, submodules []string, err error) {
	out, err := runGit(ctx, r.Root, nil, "ls-tree", "-r", "-z", "--full-tree", rev.Tree)
	if err != nil {
		return nil, nil, fmt.Errorf("list the files of %s: %w", rev, err)
	}
	const submoduleMode = "160000 "
	hasAttributes := false
	for line := range strings.SplitSeq(out, "\x00") { // MODE TYPE HASH\tPATH
		entry, path, _ := strings.Cut(line, "\t")
		if strings.HasPrefix(entry, submoduleMode) {
			notes = append(notes, fmt.Sprintf("%s: submodule %s is left empty; git submodules are not fetched", rev, path))
			submodules = append(submodules, path)
		}
		hasAttributes = hasAttributes || path == ".gitattributes"
	}
	if hasAttributes {
		text, err := runGit(ctx, r.Root, nil, "cat-file", "blob", rev.Tree+":.gitattributes")
		filter, _ := runGit(ctx, r.Root, nil, "config", "filter.lfs.smudge") // fails if it is not set
		usesLFS := err == nil && strings.Contains(text, "filter=lfs")
		if usesLFS && filter == "" {
			notes = append(notes, fmt.Sprintf("%s: what is kept in Git LFS is there as pointers only, as git-lfs is not installed", rev))
		}
	}
	return notes, submodules, nil
}

// Changed lists the files that differ between base and head, relative to Root. A nil head means the
// worktree. Its untracked files count, unless git ignores them.
func (r Repo) Changed(ctx context.Context, base Revision, head *Revision) ([]string, error) {
	args := []string{"diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", base.Commit}
	if head != nil {
		args = append(args, head.Commit)
	}
	out, err := runGit(ctx, r.Root, nil, append(args, "--")...)
	if err == nil && head == nil {
		var untracked string
		untracked, err = runGit(ctx, r.Root, nil, "ls-files", "--others", "--exclude-standard", "-z")
		out += untracked
	}
	if err != nil {
		return nil, fmt.Errorf("find what changed: %w", err)
	}
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), nil
}

// Match is a line of a file.
type Match struct {
	File string // relative to Root, with slashes
	Line string
}

// Grep returns the lines that match an extended regular expression, in files that match a pathspec.
// It returns nil if no line matches. A nil rev means the worktree.
func (r Repo) Grep(ctx context.Context, rev *Revision, expression, pathspec string) ([]Match, error) {
	args := []string{"grep", "-z", "-E", "--no-color", "--no-line-number", "--no-column"}
	if rev == nil {
		args = append(args, "--untracked", "--no-exclude-standard")
	}
	args = append(args, "-e", expression)
	if rev != nil {
		args = append(args, rev.Commit)
	}
	out, err := runGit(ctx, r.Root, nil, append(args, "--", pathspec)...)
	var failed *exec.ExitError
	noMatch := errors.As(err, &failed) && failed.ExitCode() == 1
	if noMatch {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("search the files: %w", err)
	}
	var matches []Match
	for line := range strings.SplitSeq(out, "\n") { // FILE\x00LINE, or COMMIT:FILE\x00LINE
		file, text, _ := strings.Cut(line, "\x00")
		if rev != nil {
			file = strings.TrimPrefix(file, rev.Commit+":")
		}
		matches = append(matches, Match{file, text})
	}
	return matches, nil
}

// Commit is one commit between two revisions.
type Commit struct {
	ID, Author, Subject string
	Parents             []string  // hashes
	Time                time.Time // zero if unknown
}

// Between lists the commits of head that base does not have, children before their parents. If base is
// not an ancestor of head, the error is an [ApartError]. With firstParent, the list follows only the
// first parent of each merge.
func (r Repo) Between(ctx context.Context, base, head Revision, firstParent bool) ([]Commit, error) {
	ancestor, err := runGit(ctx, r.Root, nil, "merge-base", base.Commit, head.Commit)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil || ancestor != base.Commit {
		return nil, &ApartError{Base: base, Head: head, From: ancestor}
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
		fields := strings.SplitN(record, "\n", 5) // as in --format
		if len(fields) < 5 {
			continue
		}
		committed, _ := time.Parse(time.RFC3339, fields[3])
		commits = append(commits, Commit{
			ID:      fields[0],
			Parents: strings.Fields(fields[1]),
			Author:  fields[2],
			Time:    committed,
			Subject: fields[4],
		})
	}
	if firstParent {
		for i := range commits {
			commits[i].Parents = commits[i].Parents[:min(1, len(commits[i].Parents))]
		}
	}
	return commits, nil
}

// ApartError reports that a revision is not an ancestor of another.
type ApartError struct {
	Base, Head Revision
	From       string // common ancestor; "" if absent, or if a shallow clone does not have it
}

// Error is one line.
func (e *ApartError) Error() string {
	text := fmt.Sprintf("%s is no ancestor of %s", e.Base, e.Head)
	if e.From != "" {
		text += "; both come from " + shortCommit(e.From)
	}
	return text
}

// Worktree describes the worktree as a side of a comparison: its commit, and whether files differ
// from that.
func (r Repo) Worktree(ctx context.Context) string {
	name := "worktree"
	if rev, err := r.Resolve(ctx, "HEAD"); err == nil {
		name += " at " + shortCommit(rev.Commit)
	}
	if out, err := runGit(ctx, r.Root, nil, "status", "--porcelain"); err == nil && out != "" {
		name += " with changes"
	}
	return name
}

// Sweep removes the entries of dir that have not been modified for age. Extract sets the modification
// time of a directory that it uses again.
func Sweep(dir string, age time.Duration) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > age {
			_ = os.RemoveAll(filepath.Join(dir, e.Name())) // a later call tries again
		}
	}
}

// runGit runs git in dir with additional environment variables. It returns the output without the
// last newline.
func runGit(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	return runGitInput(ctx, dir, env, nil, args...)
}

func runGitInput(ctx context.Context, dir string, env []string, in io.Reader, args ...string) (string, error) {
	var out bytes.Buffer
	err := runGitIO(ctx, dir, env, in, &out, args...)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// runGitIO runs git with standard input and output. The error is the first line of standard error,
// or that of ctx if ctx has ended. Without optional locks, other git commands of the user are not
// disturbed. Objects that git replace has replaced are read as they were: a hash means its object.
func runGitIO(ctx context.Context, dir string, env []string, in io.Reader, out io.Writer, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = slices.Concat(build.Environment(os.Environ()), env, []string{"GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "LC_ALL=C"})
	var stderr bytes.Buffer
	cmd.Stdin = in
	cmd.Stdout, cmd.Stderr = out, &stderr
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	line, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
	if err != nil && line != "" {
		return fmt.Errorf("git: %s", strings.TrimPrefix(line, "fatal: "))
	}
	return err
}
