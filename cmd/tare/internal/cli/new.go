package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/catalog"
)

// made is what tare new contender made.
type made struct {
	Kind  string   `json:"kind"`
	Name  string   `json:"name"`
	Files []string `json:"files"`
	Next  []string `json:"next"` // commands
}

func (s *shell) newCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new",
		Short: "Begin something of your own: a contender",
		Long: `Begin something of your own, with files that work as they are. What is there
already is never touched.`,
		Example: "  tare new contender codec/mine",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknown("thing to begin", args[0], commandNames(cmd), "tare new --help lists them")
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.AddCommand(s.newContenderCommand())
	return cmd
}

func (s *shell) newContenderCommand() *cobra.Command {
	var dir, catalogDir string
	var asJSON bool
	kinds := catalog.Kinds()
	cmd := &cobra.Command{
		Use:   "contender KIND/NAME",
		Short: "Begin a contender that builds and answers right as it is",
		Long: `Begin a contender: a small Go module with a program that answers right as it is.
Put another library in its place and tell contender.json what it contains.

Inside the repository it goes to contenders/KIND/NAME, elsewhere into a directory
NAME in --dir, where a study names it by that directory (program: ./NAME).

Kinds: ` + strings.Join(kinds, ", ") + `.`,
		Example: `  tare new contender codec/mine
  tare new contender codec/mine --dir ./bench`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{"tare new contender needs a kind and a name", "e.g. tare new contender codec/mine"}
			}
			return atMost(1)(cmd, args)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
			var offers []string
			for _, k := range kinds {
				if len(args) == 0 && strings.HasPrefix(k+"/", start) {
					offers = append(offers, k+"/")
				}
			}
			return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		},
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := s.newContender(args[0], dir, catalogDir)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(s.out, m)
			}
			fmt.Fprintf(s.out, "made %s %s:\n", m.Kind, m.Name)
			for _, f := range m.Files {
				fmt.Fprintf(s.out, "  %s\n", f)
			}
			fmt.Fprintln(s.out, "next:")
			for _, command := range m.Next {
				fmt.Fprintf(s.out, "  %s\n", command)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "dir", ".", "`directory` to make it in")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&catalogDir, "catalog", "", "`directory` of contenders; default: the repository's, else the built-in ones")
	return cmd
}

// newContender makes KIND/NAME.
func (s *shell) newContender(what, dir, catalogDir string) (made, error) {
	kind, name, ok := strings.Cut(what, "/")
	if !ok || kind == "" || name == "" {
		return made{}, &usageError{fmt.Sprintf("%q is not KIND/NAME", what), "e.g. tare new contender codec/mine"}
	}
	if known := catalog.Kinds(); !slices.Contains(known, kind) {
		return made{}, unknown("kind", kind, known, "known: "+strings.Join(known, ", "))
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return made{}, &usageError{"--dir " + dir + ": there is no such directory", "make it, or name another"}
	}
	d, err := s.dirs()
	if err != nil {
		return made{}, err
	}
	c, err := findCatalog(catalogDir, d.Cache)
	if err != nil {
		return made{}, err
	}
	files, err := catalog.Scaffold(c, kind, name, dir)
	var io *fs.PathError
	switch {
	case errors.As(err, &io):
		return made{}, err
	case err != nil:
		return made{}, &usageError{err.Error(), ""}
	}
	for i, f := range files {
		if !filepath.IsAbs(f) {
			files[i] = filepath.Join(dir, f)
		}
	}
	at, err := filepath.Abs(dir)
	if err != nil {
		return made{}, err
	}
	_, inside := catalog.Repository(at)
	return made{kind, name, files, next(kind, name, filepath.ToSlash(filepath.Dir(files[0])), inside)}, nil
}

// next are the commands that put a library into the contender in directory at,
// see whether it still builds and answers right, and weigh it. They are for a
// POSIX shell; inside says that at is in the repository.
func next(kind, name, at string, inside bool) []string {
	entry, get, try := name, "go", "go -C "+quoted(at)+" vet ."
	switch leaf := path.Join("contenders", kind, name); {
	case inside && at != leaf:
		get, try = "GOWORK=off go", "make -C "+quoted(strings.TrimSuffix(at, "/"+leaf))+" contenders LEAVES="+leaf
	case inside:
		get, try = "GOWORK=off go", "make contenders LEAVES="+leaf
	case filepath.IsAbs(filepath.FromSlash(at)):
		entry = fmt.Sprintf("{id: %s, program: %q}", name, at)
	default:
		entry = fmt.Sprintf("{id: %s, program: ./%s}", name, at)
	}
	return []string{
		get + " -C " + quoted(at) + " get MODULE@VERSION",
		try,
		fmt.Sprintf("echo '{study: %s, kinds: [%s], baseline: encoding-json, contenders: [encoding-json, %s], "+
			"workloads: [{id: devices-50/marshal, fixture: devices, n: 50, op: marshal}], metrics: [time, bytes, allocs]}' | tare run -", name, kind, entry),
	}
}

// quoted is a path as a shell reads it in one piece.
func quoted(path string) string {
	if strings.ContainsAny(path, " \t'\"$&;()`*?<>|") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}
