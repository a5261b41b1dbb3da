package session

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/build"
)

// Typed is the command line of tare bench, tare json or tare rpc. Their study is in no file, so a result
// contains the command line. For other commands it is zero.
type Typed struct {
	Args []string
	Dir  string            // absolute
	Sums map[string]string // SHA-256 by file name
}

func (w *Session) recordAsked(res *tare.Result) {
	res.Tare = cmdenv.ThisVersion().Short()
	if w.current.ID != res.Study { // not a study of this session
		return
	}
	res.Asked = tare.Asked{
		Study: w.current.Source, Budget: "full", Rounds: w.Options.Rounds, Slice: w.Options.Slice,
		Contenders: w.Options.Only.Contenders, Workloads: w.Options.Only.Workloads, With: w.Options.With, Go: w.Options.Release,
	}
	switch {
	case w.Options.User, w.Options.Until > 0:
		res.Asked.Budget = w.Options.Budget.String()
	case w.Options.Quick:
		res.Asked.Budget = "quick"
	}
	if w.current.Source == "" {
		w.Options.Typed.recordIn(&res.Asked)
	}
	if isRelative(w.current.Study) {
		res.Asked.Dir = w.current.Dir
	}
}

// isRelative reports whether a study may depend on its directory: it has relative paths, or commands, which may
// contain some.
func isRelative(s tare.Study) bool {
	isPath := func(path string) bool { return path != "" && !filepath.IsAbs(path) }
	hasDir := func(with string) bool {
		w, err := build.ParseWith(with, "")
		return err == nil && w.Dir != ""
	}
	return slices.ContainsFunc(s.Contenders, func(e tare.Entry) bool {
		return isPath(e.Program) || len(e.Command) > 0 || slices.ContainsFunc(e.With, hasDir)
	}) || slices.ContainsFunc(s.Workloads, func(w tare.Workload) bool { return isPath(w.File) })
}

func (t Typed) recordIn(asked *tare.Asked) {
	asked.Command = t.Args
	asked.WorkDir = t.Dir
	asked.Files = t.Sums
}

// HideEnv replaces values of --env in the arguments, given in env, by those in record.
func (t *Typed) HideEnv(env, record []string) { t.Args = withoutValues(t.Args, env, record) }

// TypedBy returns the command line of this process, with hashes of the readable files that it names.
func TypedBy(env cmdenv.Env, cmd *cobra.Command) (t Typed) {
	dir, err := os.Getwd()
	if err != nil {
		return t
	}
	t = Typed{Args: env.Args, Dir: dir, Sums: map[string]string{}}
	for _, name := range FilesOf(cmd) {
		if sum, err := SumOf(name); err == nil {
			t.Sums[name] = sum
		}
	}
	return t
}

// FilesOf returns the files that a command names.
func FilesOf(cmd *cobra.Command) []string {
	switch cmd.Name() {
	case "json":
		return cmd.Flags().Args()
	case "rpc":
		names := cmd.Flags().Args()
		if data, _ := cmd.Flags().GetString("data"); data != "" {
			names = append(names, data)
		}
		return names
	}
	if pgo, _ := cmd.Flags().GetString("pgo"); pgo != "" && pgo != "off" && pgo != "auto" {
		return []string{pgo}
	}
	return nil
}

// SumOf returns the SHA-256 of a file, in hexadecimal digits.
func SumOf(name string) (string, error) {
	// Opening a pipe would block until another process writes to it.
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(err, errors.New("not a file"))
	}
	sum, _, err := atomicfile.Digest(name)
	return sum, err
}
