package gitrev

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file packs revisions and the worktree of a repository for another machine, and unpacks them
// there.

// Packed describes revisions of a repository and its worktree, for another machine that measures them.
// That machine also receives the packs, files with objects of git.
type Packed struct {
	Prefix  string   `json:"prefix,omitempty"` // directory relative to the top, with slashes
	Head    string   `json:"head"`             // commit that is checked out
	Commits []string `json:"commits"`          // packed commits, whose parents are not packed
	Tree    string   `json:"tree"`             // hash of the tree of the worktree
}

var hashRE = lazyregexp.New(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// Check returns an error if a Packed from another machine is invalid.
func (p Packed) Check() error {
	for _, id := range append(slices.Clone(p.Commits), p.Head, p.Tree) {
		if !hashRE.MatchString(id) {
			return errors.New("its repository has an object without a hash")
		}
	}
	if p.Prefix != "" && !filepath.IsLocal(filepath.FromSlash(p.Prefix)) {
		return errors.New("its directory is outside of its repository")
	}
	return nil
}

// Pack writes the objects of revs into packs in dir, one for each revision. A later call often makes
// the same first pack, which the other machine may have already. With worktree, the last pack has
// the files of the worktree, except those that git ignores, and p.Head is HEAD. Otherwise p.Head is
// the last of revs.
func (r Repo) Pack(ctx context.Context, revs []Revision, worktree bool, dir string) (p Packed, packs []string, err error) {
	p.Prefix = filepath.ToSlash(filepath.Clean(r.Prefix))
	if p.Prefix == "." {
		p.Prefix = ""
	}
	var head Revision
	if !worktree && len(revs) > 0 {
		head = revs[len(revs)-1]
	} else if head, err = r.Resolve(ctx, "HEAD"); err != nil {
		return p, nil, errors.New("the repository has no commit yet")
	}
	p.Head, p.Tree = head.Commit, head.Tree
	env := []string{} // names the directory with the objects of the worktree
	if worktree {
		if p.Tree, env, err = r.writeWorktree(ctx, head, dir); err != nil {
			return p, nil, fmt.Errorf("read the worktree: %w", err)
		}
	}
	var groups [][]string // hashes of the objects of each pack
	for _, rev := range revs {
		groups = append(groups, []string{rev.Commit})
	}
	groups = append(groups, []string{head.Commit, p.Tree})
	var packed []string // hashes of the objects in the packs so far
	for _, group := range groups {
		var ids []string
		for _, id := range group {
			if !slices.Contains(packed, id) {
				ids = append(ids, id)
			}
		}
		if len(ids) == 0 {
			continue
		}
		path := filepath.Join(dir, fmt.Sprintf("%d.pack", len(packs)+1))
		if err := r.writePack(ctx, env, ids, packed, path); err != nil {
			return p, nil, fmt.Errorf("pack what is compared: %w", err)
		}
		packs, packed = append(packs, path), append(packed, ids...)
	}
	for _, rev := range append([]Revision{head}, revs...) {
		if !slices.Contains(p.Commits, rev.Commit) {
			p.Commits = append(p.Commits, rev.Commit)
		}
	}
	return p, packs, nil
}

// writeWorktree writes the worktree as a git tree below dir, without the pathspecs excluded. It returns
// the environment with which git finds the objects.
func (r Repo) writeWorktree(ctx context.Context, head Revision, dir string, excluded ...string) (tree string, env []string, err error) {
	objects := filepath.Join(dir, "objects")
	if err := os.Mkdir(objects, 0o755); err != nil {
		return "", nil, err
	}
	repoObjects, err := runGit(ctx, r.Root, nil, "rev-parse", "--git-path", "objects")
	if err != nil {
		return "", nil, err
	}
	if !filepath.IsAbs(repoObjects) {
		repoObjects = filepath.Join(r.Root, repoObjects)
	}
	env = []string{"GIT_OBJECT_DIRECTORY=" + objects, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + repoObjects}
	index := append(slices.Clone(env), "GIT_INDEX_FILE="+filepath.Join(dir, "index"))
	for _, args := range [][]string{
		{"read-tree", "--no-sparse-checkout", head.Tree},
		append([]string{"add", "--all", "--", ":/"}, excluded...),
	} {
		if _, err := runGit(ctx, r.Root, index, args...); err != nil {
			return "", nil, err
		}
	}
	tree, err = runGit(ctx, r.Root, index, "write-tree")
	return tree, env, err
}

// writePack writes a pack with the objects ids and all that they refer to, except what packed refers
// to. git uses one thread, so that the same objects always give the same pack.
func (r Repo) writePack(ctx context.Context, env, ids, packed []string, path string) error {
	args := []string{"rev-list", "--objects", "--no-walk"}
	args = append(args, ids...)
	for _, id := range packed {
		args = append(args, "^"+id+"^{tree}")
	}
	list, err := runGit(ctx, r.Root, env, args...)
	if err != nil {
		return err
	}
	var names strings.Builder
	for line := range strings.Lines(list + "\n") {
		id, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		names.WriteString(id + "\n")
	}
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := runGitIO(ctx, r.Root, env, strings.NewReader(names.String()), out, "pack-objects", "--stdout", "--threads=1", "--no-reuse-delta", "-q"); err != nil {
		return err
	}
	return out.Close()
}

// Unpack makes a repository with a worktree in dir from packs, and returns the directory p.Prefix of
// it. Its history has only the packed commits.
func Unpack(ctx context.Context, p Packed, packs []string, dir string) (string, error) {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	const sha1Length = 40 // hexadecimal digits
	format := "sha1"
	if len(p.Head) > sha1Length {
		format = "sha256"
	}
	if _, err := runGit(ctx, root, nil, "init", "--quiet", "--template=", "--object-format="+format, "."); err != nil {
		return "", fmt.Errorf("make a repository: %w", err)
	}
	for _, path := range packs {
		if err := indexPack(ctx, root, path); err != nil {
			return "", fmt.Errorf("unpack what is compared: %w", err)
		}
	}
	gitDir := filepath.Join(root, ".git")
	for name, text := range map[string]string{
		"shallow": strings.Join(p.Commits, "\n") + "\n", // commits without parents
		"HEAD":    p.Head + "\n",
	} {
		if err := os.WriteFile(filepath.Join(gitDir, name), []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	// A separate index checks out the worktree. The index of the repository is that of the commit.
	// update-index records files that equal it as unmodified, and fails if others differ.
	files := []string{"GIT_INDEX_FILE=" + filepath.Join(gitDir, "tare-worktree")}
	for _, step := range []struct {
		env  []string
		args []string
	}{
		{files, []string{"read-tree", p.Tree}},
		{files, []string{"checkout-index", "--all", "--quiet"}},
		{nil, []string{"read-tree", p.Head}},
		{nil, []string{"update-index", "-q", "--refresh"}},
	} {
		mayFail := step.args[0] == "update-index"
		if _, err := runGit(ctx, root, step.env, step.args...); err != nil && !mayFail {
			return "", fmt.Errorf("check out what is compared: %w", err)
		}
	}
	subdir := filepath.Join(root, filepath.FromSlash(p.Prefix))
	if info, err := os.Stat(subdir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("what is compared has no directory %s", p.Prefix)
	}
	return subdir, nil
}

func indexPack(ctx context.Context, root, path string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = runGitInput(ctx, root, nil, in, "index-pack", "--stdin")
	return err
}
