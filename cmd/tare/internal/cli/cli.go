// Package cli is tare's command line: one file per command, one table of exit
// codes, progress on stderr and the product on stdout.
package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/bring/gate"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/kinds"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/studies"
)

// App is what the command line works with. The zero value is tare itself;
// tests and demonstrations put their own parts in.
type App struct {
	Kinds     map[string]lab.Kind                                                  // nil: kinds.All()
	Sources   func(Workshop) (lab.Sources, error)                                  // nil: the catalog, built with the go command
	Run       func(context.Context, tare.Study, lab.Options) (*tare.Result, error) // nil: lab.Run
	Studies   fs.FS                                                                // bundled studies, *.yaml at the top; nil: studies.FS
	Facts     func(context.Context) tare.Machine                                   // nil: machine.Facts
	Guard     func(run string) (*trial.Guardian, error)                            // nil: a guardian process; a nil guardian guards nothing
	Interrupt func() (signals <-chan os.Signal, restore func())                    // nil: Ctrl-C and SIGTERM of this process
	Terminal  func(stream any) (columns int, ok bool)                              // nil: asks the stream
	Now       func() time.Time                                                     // nil: time.Now
	Gate      gate.Bench                                                           // nil: builds both sides of a repository and weighs its benchmarks and studies
}

// Main runs tare with args (without the program's name) and returns the exit
// code. env looks up environment variables; empty is not set.
func Main(ctx context.Context, args []string, env func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	return App{}.Main(ctx, args, env, stdin, stdout, stderr)
}

// Main is Main with the app's own parts.
func (a App) Main(ctx context.Context, args []string, env func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := &shell{App: a.filled(), env: env, in: stdin, out: stdout, err: stderr, args: args}
	root := s.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	complain(stderr, err)
	return code(err)
}

// filled is the app with its defaults.
func (a App) filled() App {
	if a.Sources == nil {
		a.Sources = catalogSources
	}
	if a.Kinds == nil {
		a.Kinds = kinds.All()
	}
	if a.Run == nil {
		a.Run = lab.Run
	}
	if a.Studies == nil {
		a.Studies = studies.FS
	}
	if a.Facts == nil {
		a.Facts = machine.Facts
	}
	if a.Guard == nil {
		a.Guard = guard
	}
	if a.Interrupt == nil {
		a.Interrupt = interrupts
	}
	if a.Terminal == nil {
		a.Terminal = terminal
	}
	if a.Now == nil {
		a.Now = time.Now
	}
	return a
}

// guard starts the process that ends what is left of a run when tare itself
// is killed.
func guard(run string) (*trial.Guardian, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return trial.StartGuardian(self, run)
}

func interrupts() (<-chan os.Signal, func()) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	return signals, func() { signal.Stop(signals) }
}

// shell is one call of tare: the app and the streams of the caller.
type shell struct {
	App
	env func(string) string
	in  io.Reader
	out io.Writer // the product: tables, JSON
	err io.Writer // progress and complaints

	args []string // without the program's name
}

// root is the command tree.
func (s *shell) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "tare",
		Short: "Weigh implementations of the same thing against each other",
		Long: `tare answers "which one, by how much, and how sure are we?" on your own machine.

It runs contenders in lockstep rounds beside a control (the baseline once more)
and a null contender (the harness alone), checks what it saw, and claims no
difference that the control shows as well.`,
		Example: `  tare run                          every bundled study, quick, then the claims
  tare run json-encode --budget full
  tare run ./my-study.yaml -o result.json
  tare report json-encode --format md
  tare explain lockstep`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknown("command", args[0], commandNames(cmd), "tare --help lists the commands")
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{format.Line(err.Error(), 0), cmd.CommandPath() + " --help lists the flags"}
	})
	root.AddCommand(s.runCommand(), s.benchCommand(), s.gateCommand(), s.routesCommand(), s.loadCommand(), s.serveCommand(), s.reportCommand(), s.historyCommand(), s.rerunCommand(), s.listCommand(), s.explainCommand(), s.newCommand(), s.initCommand(), s.jsonCommand(), s.doctorCommand(), s.cleanCommand(), s.versionCommand())
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		completion.Example = "  source <(tare completion bash)"
	}
	root.SetHelpCommand(helpCommand(root))
	return root
}

// helpCommand is `tare help`, which cobra's own version lets succeed on
// commands that do not exist.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Show help for a command",
		Example: "  tare help run",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unknown("command", rest[0], commandNames(root), "tare --help lists the commands")
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}

func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return names
}

// atMost accepts up to n arguments.
func atMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return &usageError{fmt.Sprintf("%s: unexpected argument %q", cmd.CommandPath(), args[n]), cmd.CommandPath() + " --help shows how to call it"}
		}
		return nil
	}
}

// printJSON writes v as an indented document.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
