// Package newcmd implements tare new. It creates the source of a contender, a program that tare
// compares with others of its kind.
package newcmd

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
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

type newReport struct {
	Kind  string   `json:"kind"`
	Name  string   `json:"name"`
	Files []string `json:"files"`
	Next  []string `json:"next"` // commands with which the user continues
}

// Command returns tare new.
func Command(env cmdenv.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "new",
		Short:   "Create a contender of your own",
		Long:    `Create files of your own that work as they are. Existing files are not changed.`,
		Example: "  tare new contender codec/mine",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return cmdenv.Unknown("thing to begin", args[0], cmdenv.CommandNames(cmd), "tare new --help lists them", "tare new --help")
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.AddCommand(newContenderCommand(env))
	return cmd
}

func newContenderCommand(env cmdenv.Env) *cobra.Command {
	var dir, catalogDir string
	var asJSON bool
	kinds := catalog.Kinds()
	cmd := &cobra.Command{
		Use:   "contender KIND/NAME",
		Short: "Create a contender that builds and answers correctly",
		Long: `Create a contender: a small Go module with a program that answers correctly. Then
replace the library in it, and list in contender.json what it contains.

Inside the repository it becomes contenders/KIND/NAME. Elsewhere it becomes a
directory NAME in --dir, which a study names as its program (program: ./NAME).
Its go.mod contains no path of this machine: tare adds the SDK when it builds the
contender.

Kinds: ` + strings.Join(kinds, ", ") + `.`,
		Example: `  tare new contender codec/mine
  tare new contender codec/mine --dir ./bench`,
		Args: cobra.MatchAll(cmdenv.Needs(0, "a kind and a name", "e.g. tare new contender codec/mine"), cmdenv.AtMost(1)),
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
			created, err := newContender(env, args[0], dir, catalogDir)
			if err != nil {
				return err
			}
			if asJSON {
				return cmdenv.PrintJSON(env.Out, created)
			}
			fmt.Fprintf(env.Out, "made %s %s:\n", created.Kind, created.Name)
			for _, f := range created.Files {
				fmt.Fprintf(env.Out, "  %s\n", f)
			}
			fmt.Fprintln(env.Out, "next:")
			for _, command := range created.Next {
				fmt.Fprintf(env.Out, "  %s\n", command)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "dir", ".", "`directory` to make it in")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&catalogDir, "catalog", "", "`directory` of contenders; default: the repository's, else the built-in ones")
	return cmd
}

// newContender creates the contender id, which is KIND/NAME. It goes into the repository of tare
// around dir, or outside of the repository into dir.
func newContender(env cmdenv.Env, id, dir, catalogDir string) (newReport, error) {
	kind, name, ok := strings.Cut(id, "/")
	if !ok || kind == "" || name == "" {
		return newReport{}, cmdenv.Usage(fmt.Sprintf("%q is not KIND/NAME", id), "e.g. tare new contender codec/mine", "tare new contender codec/mine")
	}
	if known := catalog.Kinds(); !slices.Contains(known, kind) {
		return newReport{}, cmdenv.Unknown("kind", kind, known, "known: "+strings.Join(known, ", "))
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return newReport{}, cmdenv.Usage("--dir "+dir+": there is no such directory", "make it, or name another")
	}
	c, err := env.FindCatalog(catalogDir)
	if err != nil {
		return newReport{}, err
	}
	files, err := catalog.Scaffold(c, kind, name, dir)
	var ioErr *fs.PathError
	switch {
	case errors.As(err, &ioErr):
		return newReport{}, err
	case err != nil: // such as a name that is taken
		return newReport{}, cmdenv.UsageOf(err, "")
	}
	for i, f := range files {
		if !filepath.IsAbs(f) {
			files[i] = filepath.Join(dir, f)
		}
	}
	next, err := nextCommands(env, c, kind, name, dir, filepath.ToSlash(filepath.Dir(files[0])))
	return newReport{Kind: kind, Name: name, Files: files, Next: next}, err
}

// nextCommands returns the commands with which the user continues.
func nextCommands(env cmdenv.Env, c catalog.Catalog, kind, name, dir, contenderDir string) ([]string, error) {
	absDir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	switch _, err := catalog.Repository(absDir); {
	case err == nil:
		return nextInside(kind, name, contenderDir), nil
	case !errors.Is(err, catalog.ErrNone):
		return nil, err
	}
	if _, isPublished := catalog.SDKVersion(); isPublished {
		return nextElsewhere(kind, name, contenderDir, ""), nil
	}
	d, err := env.Dirs()
	if err != nil {
		return nil, err
	}
	sdk, err := catalog.SDK(c, d.Cache)
	return nextElsewhere(kind, name, contenderDir, filepath.ToSlash(sdk)), err
}

// nextInside returns shell commands that add a library to the contender in the repository's
// directory dir, test it, and measure it.
func nextInside(kind, name, dir string) []string {
	module := path.Join("contenders", kind, name)
	testCommand := "make contenders LEAVES=" + module
	if dir != module {
		testCommand = "make -C " + cmdenv.ShellQuote(strings.TrimSuffix(dir, "/"+module)) + " contenders LEAVES=" + module
	}
	return []string{"GOWORK=off go -C " + cmdenv.ShellQuote(dir) + " get MODULE@VERSION", testCommand, measureCommand(kind, name, name)}
}

// nextElsewhere returns the same commands as nextInside for a contender outside of the repository.
// sdk is the directory of an unpublished SDK, or "". The go command and editors need it in go.mod.
func nextElsewhere(kind, name, dir, sdk string) []string {
	entry := fmt.Sprintf("{id: %s, program: ./%s}", name, dir)
	if filepath.IsAbs(filepath.FromSlash(dir)) {
		entry = fmt.Sprintf("{id: %s, program: %q}", name, dir)
	}
	goIn := "GOWORK=off go -C " + cmdenv.ShellQuote(dir)
	commands := []string{goIn + " get . MODULE@VERSION", goIn + " vet ."}
	if sdk != "" {
		const edit, module = " mod edit ", "github.com/tarebench/tare"
		commands = slices.Concat(
			[]string{goIn + edit + cmdenv.ShellQuote("-replace="+module+"="+sdk) + " # for go and an editor on this machine"}, commands,
			[]string{goIn + edit + "-dropreplace=" + module + " # before it goes to another; tare needs none"})
	}
	return append(commands, measureCommand(kind, name, entry))
}

// measureCommand returns the command that compares a contender with the baseline of its kind on one
// small workload.
func measureCommand(kind, name, entry string) string {
	baseline, workload, metrics := "encoding-json", "id: devices-50/marshal, fixture: devices, n: 50, op: marshal", "time, bytes, allocs"
	switch kind {
	case "router":
		baseline, workload = "nethttp", "id: one/param, fixture: routes, n: 1, op: serve, set: {params: 1}"
	case "server":
		baseline, workload, metrics = "nethttp", "id: get-7/c10, fixture: tiny, op: get-7, connections: 10", "cpu, time, bytes, allocs"
	case "rpc":
		baseline, workload, metrics = "nethttp", "id: get/c10, fixture: users, n: 1000, op: get, connections: 10", "cpu, time, bytes, allocs"
	case "copier":
		baseline, workload = "hand-cgo", "id: object/single, fixture: object, n: 1, op: single"
	}
	return fmt.Sprintf("echo '{study: %s, kind: %s, baseline: %s, contenders: [%s, %s], workloads: [{%s}], metrics: [%s]}' | tare run -",
		name, kind, baseline, baseline, entry, workload, metrics)
}
