package gitrev

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/internal/machine"
)

// This file stores files in a branch of a remote repository. For example, tare history push adds
// results to such a branch.

// Shared is a branch of a remote repository to which several clones add files, such as results of
// measurements. A file name is used only once, so that clones never conflict. The branch has its own
// history.
type Shared struct {
	Repo   Repo
	Remote string // name or URL
	Branch string
}

// maxTries limits the attempts to push if other clones push at the same time.
const maxTries = 20

// Files returns the hashes of the branch's files by path, and its last commit. If the branch does not
// exist, tip is "".
func (s Shared) Files(ctx context.Context) (tip string, files map[string]string, err error) {
	ref := "refs/heads/" + s.Branch
	// The full environment is passed: git may need a token in it to access the remote.
	out, err := runGit(ctx, s.Repo.Root, os.Environ(), "ls-remote", "--", s.Remote, ref)
	if err != nil {
		return "", nil, fmt.Errorf("read %s: %w", s.Remote, err)
	}
	files = map[string]string{}
	if tip, _, _ = strings.Cut(out, "\t"); tip == "" {
		return "", files, nil
	}
	if _, err := runGit(ctx, s.Repo.Root, os.Environ(), "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--refmap=", "--", s.Remote, ref); err != nil {
		return "", nil, fmt.Errorf("fetch %s of %s: %w", s.Branch, s.Remote, err)
	}
	list := &treeListing{files: files}
	err = runGitIO(ctx, s.Repo.Root, nil, nil, list, "ls-tree", "-r", "-z", "--full-tree", tip)
	if list.large {
		err = &LargeError{fmt.Sprintf("it has more than %d files, or %d bytes of their names", maxShared, maxListing)}
	}
	if err != nil {
		return "", nil, fmt.Errorf("list %s of %s: %w", s.Branch, s.Remote, err)
	}
	return tip, files, nil
}

// Bounds of the list of a branch's files. A few kilobytes of trees that refer to each other can list
// any number of files.
const (
	maxShared  = 100_000  // files
	maxListing = 16 << 20 // bytes of the list
)

// LargeError means that a branch or file exceeds the bounds.
type LargeError struct{ What string }

// Error returns e.What.
func (e *LargeError) Error() string { return e.What }

// treeListing parses the output of git ls-tree -z, and fails at the bounds.
type treeListing struct {
	files map[string]string // hashes by path
	line  []byte            // bytes of an incomplete entry
	size  int               // bytes so far
	large bool              // a bound is exceeded
}

// Write parses the complete entries of the output so far. An entry is MODE TYPE HASH\tPATH\x00, such as
// 100644 blob 4b825dc…      a/b.json.
func (l *treeListing) Write(p []byte) (int, error) {
	l.size += len(p)
	l.line = append(l.line, p...)
	for {
		line, rest, ended := bytes.Cut(l.line, []byte{0})
		l.large = l.size > maxListing || len(l.files) > maxShared
		if l.large {
			return 0, errors.New("too many files") // git then ends, as its pipe is closed
		}
		if !ended {
			return len(p), nil
		}
		if entry, path, ok := strings.Cut(string(line), "\t"); ok {
			if fields := strings.Fields(entry); len(fields) == 3 && fields[1] == "blob" {
				l.files[path] = fields[2]
			}
		}
		l.line = rest
	}
}

// Copy writes the content of the file with a hash of [Shared.Files] to w, and returns its length. The
// error is a [LargeError] if it has more than max bytes. A few compressed bytes can contain any number
// of zeros.
func (s Shared) Copy(ctx context.Context, w io.Writer, hash string, max int64) (int64, error) {
	text, err := runGit(ctx, s.Repo.Root, nil, "cat-file", "-s", hash)
	if err != nil {
		return 0, err
	}
	size, err := strconv.ParseInt(text, 10, 64)
	if err != nil || size > max {
		return 0, &LargeError{fmt.Sprintf("it has %s bytes, at most %d are read", text, max)}
	}
	return size, runGitIO(ctx, s.Repo.Root, nil, nil, w, "cat-file", "blob", hash)
}

// Add adds the files that the branch does not have yet, in one commit, and returns their number. If
// another clone pushes first, it tries again on top of that commit.
func (s Shared) Add(ctx context.Context, files map[string][]byte, subject string) (added int, err error) {
	for try := range maxTries {
		tip, existing, err := s.Files(ctx)
		if err != nil {
			return 0, err
		}
		commit, n, err := s.commitFiles(ctx, tip, existing, files, subject)
		if err != nil || n == 0 {
			return 0, err
		}
		_, err = runGit(ctx, s.Repo.Root, os.Environ(), "push", "--quiet", "--no-verify", "--", s.pushURL(ctx), commit+":refs/heads/"+s.Branch)
		if err == nil {
			return n, nil
		}
		newTip, _, errTip := s.Files(ctx)
		hasMoved := errTip == nil && newTip != tip // another clone has pushed first
		if !hasMoved || try == maxTries-1 {
			return 0, fmt.Errorf("push to %s of %s: %w", s.Branch, s.Remote, err)
		}
		// Wait for a time that depends on the process, so that two clones do not collide again.
		delay := time.Duration((1+try)*(10+os.Getpid()%20)) * time.Millisecond
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(delay):
		}
	}
	return 0, errors.New("unreachable")
}

// pushURL returns the URL to push to. The name of the remote would also set its tracking branch.
func (s Shared) pushURL(ctx context.Context) string {
	if url, err := runGit(ctx, s.Repo.Root, nil, "remote", "get-url", "--push", "--", s.Remote); err == nil && url != "" {
		return url
	}
	return s.Remote
}

// commitFiles makes a commit whose parent is tip. It has the existing files, given by path and hash,
// and those of files, by path and content, that do not exist yet. If all exist, it returns "" and 0.
func (s Shared) commitFiles(ctx context.Context, tip string, existing map[string]string, files map[string][]byte, subject string) (commit string, added int, err error) {
	tmp, remove, err := machine.TempDir("shared")
	if err != nil {
		return "", 0, err
	}
	defer remove()
	env := []string{
		"GIT_INDEX_FILE=" + filepath.Join(tmp, "index"),
		"GIT_AUTHOR_NAME=tare", "GIT_AUTHOR_EMAIL=tare@localhost",
		"GIT_COMMITTER_NAME=tare", "GIT_COMMITTER_EMAIL=tare@localhost",
	}
	git := func(stdin []byte, args ...string) (string, error) {
		return runGitInput(ctx, s.Repo.Root, env, bytes.NewReader(stdin), args...)
	}
	var entries bytes.Buffer // entries of the new index
	for path, hash := range existing {
		fmt.Fprintf(&entries, "100644 blob %s\t%s\x00", hash, path)
	}
	for path, text := range files {
		if existing[path] != "" {
			continue
		}
		hash, err := git(text, "hash-object", "-w", "--no-filters", "--stdin")
		if err != nil {
			return "", 0, fmt.Errorf("keep %s: %w", path, err)
		}
		fmt.Fprintf(&entries, "100644 blob %s\t%s\x00", hash, path)
		added++
	}
	if added == 0 {
		return "", 0, nil
	}
	if _, err := git(entries.Bytes(), "update-index", "-z", "--add", "--index-info"); err != nil {
		return "", 0, fmt.Errorf("list the files of %s: %w", s.Branch, err)
	}
	tree, err := git(nil, "write-tree")
	if err != nil {
		return "", 0, fmt.Errorf("write the files of %s: %w", s.Branch, err)
	}
	args := []string{"commit-tree", tree, "-m", subject}
	if tip != "" {
		args = append(args, "-p", tip)
	}
	commit, err = git(nil, slices.Clip(args)...)
	return commit, added, err
}
