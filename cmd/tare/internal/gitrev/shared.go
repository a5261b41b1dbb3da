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

// Shared is a branch of a remote repository in which no file name is used twice, so that files
// added by several clones never conflict. It has no history in common with other branches.
type Shared struct {
	Repo   Repo
	Remote string // name or address
	Branch string
}

// maxTries limits how often files are added again if another clone was faster.
const maxTries = 20

// Files returns the hashes of the branch's files, by path. tip is "" if there is no such branch.
func (s Shared) Files(ctx context.Context) (tip string, files map[string]string, err error) {
	ref := "refs/heads/" + s.Branch
	// git may need a token of the environment to access a remote.
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

// Bounds of what a branch lists. A few kilobytes of trees that have each other as
// entries can list any number of files.
const (
	maxShared  = 100_000
	maxListing = 16 << 20
)

// LargeError means that a branch or file exceeds the bounds.
type LargeError struct{ What string }

func (e *LargeError) Error() string { return e.What }

// treeListing parses the output of git ls-tree -z as it comes, and stops it at the bounds.
type treeListing struct {
	files map[string]string // hashes, by path
	line  []byte            // received bytes without a terminator yet
	size  int
	large bool
}

func (l *treeListing) Write(p []byte) (int, error) {
	l.size += len(p)
	l.line = append(l.line, p...)
	for {
		line, rest, ended := bytes.Cut(l.line, []byte{0})
		if l.large = l.size > maxListing || len(l.files) > maxShared; l.large {
			return 0, errors.New("too many files") // git ends by the closed pipe
		}
		if !ended {
			return len(p), nil
		}
		if about, path, ok := strings.Cut(string(line), "\t"); ok {
			if f := strings.Fields(about); len(f) == 3 && f[1] == "blob" {
				l.files[path] = f[2]
			}
		}
		l.line = rest
	}
}

// Copy writes the content of a file of at most max bytes to a writer, by the hash that Files has
// for it, and returns its length. A few bytes of a repository can contain any number of zeros.
func (s Shared) Copy(ctx context.Context, to io.Writer, hash string, max int64) (int64, error) {
	text, err := runGit(ctx, s.Repo.Root, nil, "cat-file", "-s", hash)
	if err != nil {
		return 0, err
	}
	size, err := strconv.ParseInt(text, 10, 64)
	if err != nil || size > max {
		return 0, &LargeError{fmt.Sprintf("it has %s bytes, at most %d are read", text, max)}
	}
	return size, runGitIO(ctx, s.Repo.Root, nil, nil, to, "cat-file", "blob", hash)
}

// Add adds the missing ones of files to the branch, in one commit. If another clone adds some
// meanwhile, the commit follows its commit.
func (s Shared) Add(ctx context.Context, files map[string][]byte, subject string) (added int, err error) {
	for try := range maxTries {
		tip, there, err := s.Files(ctx)
		if err != nil {
			return 0, err
		}
		commit, n, err := s.commitFiles(ctx, tip, there, files, subject)
		if err != nil || n == 0 {
			return 0, err
		}
		_, err = runGit(ctx, s.Repo.Root, os.Environ(), "push", "--quiet", "--no-verify", "--", s.pushURL(ctx), commit+":refs/heads/"+s.Branch)
		if err == nil {
			return n, nil
		}
		if now, _, errNow := s.Files(ctx); errNow != nil || now == tip || try == maxTries-1 {
			return 0, fmt.Errorf("push to %s of %s: %w", s.Branch, s.Remote, err)
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(time.Duration((1+try)*(10+os.Getpid()%20)) * time.Millisecond): // others wait for another time
		}
	}
	return 0, errors.New("unreachable")
}

// pushURL returns the address to push to: by the remote's name git would record the branch among
// those of the remote.
func (s Shared) pushURL(ctx context.Context) string {
	if url, err := runGit(ctx, s.Repo.Root, nil, "remote", "get-url", "--push", "--", s.Remote); err == nil && url != "" {
		return url
	}
	return s.Remote
}

// commitFiles makes a commit after tip with files added to those there.
func (s Shared) commitFiles(ctx context.Context, tip string, there map[string]string, files map[string][]byte, subject string) (commit string, added int, err error) {
	tmp, remove, err := machine.TempDir("shared")
	if err != nil {
		return "", 0, err
	}
	defer remove()
	env := []string{
		"GIT_INDEX_FILE=" + filepath.Join(tmp, "index"),
		"GIT_AUTHOR_NAME=tare", "GIT_AUTHOR_EMAIL=tare@localhost", "GIT_COMMITTER_NAME=tare", "GIT_COMMITTER_EMAIL=tare@localhost",
	}
	in := func(stdin []byte, args ...string) (string, error) {
		return runGitInput(ctx, s.Repo.Root, env, bytes.NewReader(stdin), args...)
	}
	var entries bytes.Buffer
	for path, hash := range there {
		fmt.Fprintf(&entries, "100644 blob %s\t%s\x00", hash, path)
	}
	for path, text := range files {
		if there[path] != "" {
			continue
		}
		hash, err := in(text, "hash-object", "-w", "--no-filters", "--stdin")
		if err != nil {
			return "", 0, fmt.Errorf("keep %s: %w", path, err)
		}
		fmt.Fprintf(&entries, "100644 blob %s\t%s\x00", hash, path)
		added++
	}
	if added == 0 {
		return "", 0, nil
	}
	if _, err := in(entries.Bytes(), "update-index", "-z", "--add", "--index-info"); err != nil {
		return "", 0, fmt.Errorf("list the files of %s: %w", s.Branch, err)
	}
	tree, err := in(nil, "write-tree")
	if err != nil {
		return "", 0, fmt.Errorf("write the files of %s: %w", s.Branch, err)
	}
	args := []string{"commit-tree", tree, "-m", subject}
	if tip != "" {
		args = append(args, "-p", tip)
	}
	commit, err = in(nil, slices.Clip(args)...)
	return commit, added, err
}
