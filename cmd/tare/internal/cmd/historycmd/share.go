package historycmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/gitrev"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/machine"
)

// This file implements tare history push and pull. They copy results to and from a branch of a git
// repository, so that a team can share them.

// sharingFlags contains the flags of tare history push and pull.
type sharingFlags struct {
	remote, branch string
	asJSON         bool
}

type pushResult struct {
	Remote     string   `json:"remote"`
	Branch     string   `json:"branch"`
	Added      int      `json:"added"`    // results
	Existing   int      `json:"there"`    // results that the branch had already
	Unreadable []string `json:"left_out"` // one line for each result that could not be read
}

func (s *sharingFlags) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.remote, "remote", "origin", "`name` or address of the remote repository")
	cmd.Flags().StringVar(&s.branch, "branch", "tare-history", "`name` of the branch, which shares no commit with others")
	cmd.Flags().BoolVar(&s.asJSON, "json", false, "print what was added or imported as JSON")
}

func (s sharingFlags) findBranch(ctx context.Context) (gitrev.Shared, error) {
	repo, err := gitrev.Find(ctx, ".")
	switch {
	case err != nil:
		return gitrev.Shared{}, cmdenv.UsageOf(err, "")
	case s.branch == "" || strings.HasPrefix(s.branch, "-") || strings.ContainsAny(s.branch, " :^~?*[\\"):
		return gitrev.Shared{}, cmdenv.Usage(fmt.Sprintf("--branch %q is not a name of a branch", s.branch), "e.g. tare-history")
	}
	return gitrev.Shared{Repo: repo, Remote: s.remote, Branch: s.branch}, nil
}

func pushCommand(env cmdenv.Env) *cobra.Command {
	var s sharingFlags
	cmd := &cobra.Command{
		Use:   "push [STUDY…]",
		Short: "Add stored results to a branch of a remote repository",
		Long: `Add the results in the data directory, of all studies or of the named ones, to a
branch of a remote repository of the working directory. The branch holds nothing
else and shares no commit with others. Each result is a file named by its
content, so it is stored once, and clones that push at the same time lose
nothing. Working tree, index and branches of the repository stay as they are.`,
		Example: `  tare history push
  tare history push 'bench example.com/m' --remote upstream --branch benchmarks`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return pushHistory(cmd.Context(), env, s, args)
		},
	}
	s.addFlags(cmd)
	return cmd
}

func pushHistory(ctx context.Context, env cmdenv.Env, s sharingFlags, studies []string) error {
	shared, err := s.findBranch(ctx)
	if err != nil {
		return err
	}
	x, d, err := openHistory(ctx, env)
	if err != nil {
		return err
	}
	defer x.Close()
	if err := checkStudies(ctx, x, studies); err != nil {
		return err
	}
	var archive bytes.Buffer
	_, unreadable, err := x.Export(ctx, &archive, studies) // the number of results is len(files) below
	if err != nil {
		return err
	}
	printOmissions(env, unreadable...)
	files := map[string][]byte{} // by path in the branch: STUDY/SHA256.json
	err = history.Scan("the stored results", &archive, func(k history.DocumentInfo, text []byte) error {
		files[path.Join(filepath.Base(d.Results(k.Study)), k.SHA256+".json")] = text
		return nil
	})
	if err != nil {
		return err
	}
	added, err := shared.Add(ctx, files, "tare: results")
	if err != nil {
		return err
	}
	present := len(files) - added
	if s.asJSON {
		return cmdenv.PrintJSON(env.Out, pushResult{
			Remote: s.remote, Branch: s.branch, Added: added, Existing: present, Unreadable: append([]string{}, unreadable...), // [], not null
		})
	}
	_, err = fmt.Fprintf(env.Out, "added %s to %s of %s, %d %s there already\n", format.Count(added, "result"), s.branch, s.remote, present, format.Choose(present, "was", "were"))
	return err
}

func pullCommand(env cmdenv.Env) *cobra.Command {
	var s sharingFlags
	cmd := &cobra.Command{
		Use:   "pull",
		Short: "Import results from a branch of a remote repository",
		Long: `Import the results that tare history push added to a branch, as tare history
import does: it skips results that are in the data directory, and marks the
others as imported.`,
		Example: `  tare history pull
  tare history pull --remote upstream --branch benchmarks`,
		Args: cmdenv.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return pullHistory(cmd.Context(), env, s)
		},
	}
	s.addFlags(cmd)
	return cmd
}

func pullHistory(ctx context.Context, env cmdenv.Env, s sharingFlags) error {
	shared, err := s.findBranch(ctx)
	if err != nil {
		return err
	}
	_, files, err := shared.Files(ctx)
	if err != nil {
		return sharedError(err)
	}
	tmp, remove, err := machine.TempFile("pull")
	if err != nil {
		return err
	}
	defer remove()
	copyTo := func(to io.Writer, hash string) (int64, error) { return shared.Copy(ctx, to, hash, history.MaxBytes) }
	if err := copyResults(tmp, s.branch+" of "+s.remote, files, copyTo, maxCopied); err != nil {
		return sharedError(err)
	}
	return importHistory(ctx, env, []string{tmp.Name()}, s.asJSON)
}

func sharedError(err error) error {
	var tooLargeError *gitrev.LargeError
	if errors.As(err, &tooLargeError) {
		return cmdenv.UsageOf(err, "a branch for results holds the files that tare history push wrote, and nothing else")
	}
	return err
}

// copyResults copies the results in a branch to a writer, one per line, at most maxBytes. files maps
// paths to hashes of content. It copies each hash once, because a small repository can name one
// large file any number of times.
func copyResults(w io.Writer, branch string, files map[string]string, copyTo func(w io.Writer, hash string) (int64, error), maxBytes int64) error {
	copied := map[string]bool{}
	var total int64
	for name, hash := range files {
		if path.Ext(name) != ".json" || copied[hash] {
			continue
		}
		copied[hash] = true
		n, err := copyTo(w, hash)
		if err != nil {
			return fmt.Errorf("copy %s of %s: %w", name, branch, cmdenv.Cause(err))
		}
		total += n
		if total > maxBytes {
			return tooLarge("what "+branch+" holds", maxBytes, "push to another branch from time to time, with --branch")
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return fmt.Errorf("copy %s of %s: %w", name, branch, cmdenv.Cause(err))
		}
	}
	return nil
}
