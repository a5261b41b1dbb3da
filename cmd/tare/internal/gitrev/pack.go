package gitrev

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Packed describes revisions of a repository and its worktree for another machine. The packs of
// their objects are sent with it.
type Packed struct {
	Prefix  string   `json:"prefix,omitempty"` // of the directory, below the top, with slashes
	Head    string   `json:"head"`             // commit that is checked out
	Commits []string `json:"commits"`          // all packed ones, without their parents
	Tree    string   `json:"tree"`             // of the worktree
}

// hashRE matches git's name of an object.
var hashRE = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

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

// Pack writes the objects of revs into packs in dir, a pack for each: another call likely needs the
// first again. With worktree the last pack has the files as they are, except those that git
// ignores; without, the last revision is checked out. The repository stays as it is.
func (r Repo) Pack(ctx context.Context, revs []Revision, worktree bool, dir string) (p Packed, packs []string, err error) {
	p.Prefix = filepath.ToSlash(filepath.Clean(r.Prefix))
	if p.Prefix == "." {
		p.Prefix = ""
	}
	head, err := r.Resolve(ctx, "HEAD")
	if !worktree && len(revs) > 0 {
		head, err = revs[len(revs)-1], nil
	}
	if err != nil {
		return p, nil, errors.New("the repository has no commit yet")
	}
	p.Head, p.Tree = head.Commit, head.Tree
	env := []string{}
	if worktree {
		if p.Tree, env, err = r.writeWorktree(ctx, head, dir); err != nil {
			return p, nil, fmt.Errorf("read the worktree: %w", err)
		}
	}
	var before []string
	for _, group := range append(groupsOf(revs), []string{head.Commit, p.Tree}) {
		var ids []string
		for _, id := range group {
			if !slices.Contains(before, id) {
				ids = append(ids, id)
			}
		}
		if len(ids) == 0 {
			continue
		}
		path := filepath.Join(dir, fmt.Sprintf("%d.pack", len(packs)+1))
		if err := r.writePack(ctx, env, ids, before, path); err != nil {
			return p, nil, fmt.Errorf("pack what is compared: %w", err)
		}
		packs, before = append(packs, path), append(before, ids...)
	}
	for _, rev := range append([]Revision{head}, revs...) {
		if !slices.Contains(p.Commits, rev.Commit) {
			p.Commits = append(p.Commits, rev.Commit)
		}
	}
	return p, packs, nil
}

func groupsOf(revs []Revision) (groups [][]string) {
	for _, rev := range revs {
		groups = append(groups, []string{rev.Commit})
	}
	return groups
}

// writeWorktree writes the worktree as a tree of git into a directory of objects below dir. With
// env git finds it. except are pathspecs of files that it does not have.
func (r Repo) writeWorktree(ctx context.Context, head Revision, dir string, except ...string) (tree string, env []string, err error) {
	objects := filepath.Join(dir, "objects")
	if err := os.Mkdir(objects, 0o755); err != nil {
		return "", nil, err
	}
	own, err := runGit(ctx, r.Root, nil, "rev-parse", "--git-path", "objects")
	if err != nil {
		return "", nil, err
	}
	if !filepath.IsAbs(own) {
		own = filepath.Join(r.Root, own)
	}
	env = []string{"GIT_OBJECT_DIRECTORY=" + objects, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + own}
	index := append(slices.Clone(env), "GIT_INDEX_FILE="+filepath.Join(dir, "index"))
	for _, args := range [][]string{{"read-tree", "--no-sparse-checkout", head.Tree}, append([]string{"add", "--all", "--", ":/"}, except...)} {
		if _, err := runGit(ctx, r.Root, index, args...); err != nil {
			return "", nil, err
		}
	}
	tree, err = runGit(ctx, r.Root, index, "write-tree")
	return tree, env, err
}

// writePack writes a pack of ids with all objects that they refer to, except those that before
// refers to. One thread makes the same pack of the same objects, so that its hash is the same the
// next time.
func (r Repo) writePack(ctx context.Context, env, ids, before []string, path string) error {
	args := []string{"rev-list", "--objects", "--no-walk"}
	args = append(args, ids...)
	for _, id := range before {
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

// Unpack makes a repository in dir of packs, with its worktree, and returns the
// directory in it. It has no history but the commits that were packed.
func Unpack(ctx context.Context, p Packed, packs []string, dir string) (string, error) {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	format := "sha1"
	if len(p.Head) > 40 {
		format = "sha256"
	}
	if _, err := runGit(ctx, root, nil, "init", "--quiet", "--template=", "--object-format="+format, "."); err != nil {
		return "", fmt.Errorf("make a repository: %w", err)
	}
	for _, path := range packs {
		if err := unpackOne(ctx, root, path); err != nil {
			return "", fmt.Errorf("unpack what is compared: %w", err)
		}
	}
	own := filepath.Join(root, ".git")
	for name, text := range map[string]string{"shallow": strings.Join(p.Commits, "\n") + "\n", "HEAD": p.Head + "\n"} {
		if err := os.WriteFile(filepath.Join(own, name), []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	// A file of the worktree that equals the commit must not appear modified.
	files := []string{"GIT_INDEX_FILE=" + filepath.Join(own, "tare-worktree")}
	for _, step := range []struct {
		env  []string
		args []string
	}{
		{files, []string{"read-tree", p.Tree}},
		{files, []string{"checkout-index", "--all", "--quiet"}},
		{nil, []string{"read-tree", p.Head}},
		{nil, []string{"update-index", "-q", "--refresh"}},
	} {
		if _, err := runGit(ctx, root, step.env, step.args...); err != nil && step.args[0] != "update-index" { // which fails if files differ
			return "", fmt.Errorf("check out what is compared: %w", err)
		}
	}
	subdir := filepath.Join(root, filepath.FromSlash(p.Prefix))
	if info, err := os.Stat(subdir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("what is compared has no directory %s", p.Prefix)
	}
	return subdir, nil
}

func unpackOne(ctx context.Context, root, path string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = runGitInput(ctx, root, nil, in, "index-pack", "--stdin")
	return err
}
