// Package cli puts the commands of tare, each of which is a package, into one tree, and runs this
// process as tare. Commands print their results to stdout and progress to stderr.
package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench"
	"github.com/tarebench/tare/cmd/tare/internal/cmd/agentcmd"
	"github.com/tarebench/tare/cmd/tare/internal/cmd/auditcmd"
	"github.com/tarebench/tare/cmd/tare/internal/cmd/bench"
	"github.com/tarebench/tare/cmd/tare/internal/cmd/bisectcmd"
	"github.com/tarebench/tare/cmd/tare/internal/cmd/clean"
	"github.com/tarebench/tare/cmd/tare/internal/cmd/doctor"
	"github.com/tarebench/tare/cmd/tare/internal/cmd/explain"
	"github.com/tarebench/tare/cmd/tare/internal/cmd/fleetcmd"
	"github.com/tarebench/tare/cmd/tare/internal/cmd/gatecmd"
	"github.com/tarebench/tare/cmd/tare/internal/cmd/historycmd"
	"github.com/tarebench/tare/cmd/tare/internal/cmd/initcmd"
	"github.com/tarebench/tare/cmd/tare/internal/cmd/jsoncmd"
	"github.com/tarebench/tare/cmd/tare/internal/cmd/list"
	"github.com/tarebench/tare/cmd/tare/internal/cmd/loadcmd"
	"github.com/tarebench/tare/cmd/tare/internal/cmd/mcpcmd"
	"github.com/tarebench/tare/cmd/tare/internal/cmd/newcmd"
	"github.com/tarebench/tare/cmd/tare/internal/cmd/reportcmd"
	"github.com/tarebench/tare/cmd/tare/internal/cmd/rerun"
	"github.com/tarebench/tare/cmd/tare/internal/cmd/routes"
	"github.com/tarebench/tare/cmd/tare/internal/cmd/rpccmd"
	"github.com/tarebench/tare/cmd/tare/internal/cmd/run"
	"github.com/tarebench/tare/cmd/tare/internal/cmd/serve"
	"github.com/tarebench/tare/cmd/tare/internal/cmd/version"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/kinds"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/studies"
)

// RunProcess runs this process and returns its exit code. Another tare may have started it as its
// guardian, which ends processes if that tare is killed. Or it is its null contender, a server that
// does nothing. go vet can start it as its tool. Otherwise it runs the command of its arguments.
func RunProcess() int {
	if trial.GuardianMain() {
		return 0
	}
	NullMain() // does not return in a null contender
	if gobench.IsVetCall(os.Args[1:]) {
		gobench.RunVet() // does not return
	}
	return Main(context.Background(), cmdenv.Env{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Args: os.Args[1:], Getenv: os.Getenv})
}

// Main runs tare and returns the exit code.
func Main(ctx context.Context, env cmdenv.Env) int {
	env = PrepareOutput(env)
	path, err := Execute(ctx, env)
	return Report(env, path, err)
}

// PrepareOutput returns env with outputs for the selected formats. In JSON, stdout records whether
// anything was written. If nothing was, [Report] writes the error there. For progress as NDJSON, stderr
// converts everything to that format.
func PrepareOutput(env cmdenv.Env) cmdenv.Env {
	if cmdenv.WantsProgressLines(env.Args) {
		env.Err = cmdenv.NewProgressLines(env.Err)
	}
	if cmdenv.WantsJSON(env.Args) {
		env.Out = &trackedOutput{Writer: env.Out}
	}
	return env
}

type trackedOutput struct {
	io.Writer
	written atomic.Bool
}

// Write implements [io.Writer].
func (o *trackedOutput) Write(p []byte) (int, error) {
	o.written.Store(true)
	return o.Writer.Write(p)
}

// Report prints the error of the command at path, and returns the exit code. If the user selected
// JSON and stdout got nothing, it also writes the error there as JSON.
func Report(env cmdenv.Env, path string, err error) int {
	cmdenv.Complain(env.Err, err)
	if lines, ok := env.Err.(*cmdenv.ProgressLines); ok {
		lines.Flush()
	}
	if out, ok := env.Out.(*trackedOutput); ok && !out.written.Load() {
		_ = cmdenv.WriteError(out, path, err) // err was printed; another error could be printed nowhere
	}
	return cmdenv.ExitCode(err)
}

// Execute carries out the command of env's arguments. It returns the command's path, such as "tare
// bench", and the error, which it does not print.
func Execute(ctx context.Context, env cmdenv.Env) (path string, err error) {
	root := newRoot(withDefaults(env))
	root.SetArgs(env.Args)
	cmd, err := root.ExecuteContextC(ctx)
	return cmd.CommandPath(), err
}

func withDefaults(env cmdenv.Env) cmdenv.Env {
	l := &env.Lab
	if l.Sources == nil {
		l.Sources = session.CatalogSources
	}
	if l.Kinds == nil {
		l.Kinds = kinds.All()
	}
	if l.Run == nil {
		l.Run = lab.Run
	}
	if l.Studies == nil {
		l.Studies = studies.FS
	}
	if l.Facts == nil {
		l.Facts = machine.Facts
	}
	if l.Guard == nil {
		l.Guard = startGuardian
	}
	if l.Interrupt == nil {
		l.Interrupt = notifyInterrupts
	}
	if l.Terminal == nil {
		l.Terminal = cmdenv.Terminal
	}
	if env.Now == nil {
		env.Now = time.Now
	}
	return env
}

// startGuardian starts the process that ends a run's processes if tare is killed.
func startGuardian(run string) (*trial.Guardian, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return trial.StartGuardian(self, run)
}

// notifyInterrupts returns a channel of Ctrl-C and SIGTERM, and a function that ends the notification.
func notifyInterrupts() (<-chan os.Signal, func()) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	return signals, func() { signal.Stop(signals) }
}

func newRoot(env cmdenv.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "tare",
		Short: "Compare implementations of the same thing by measuring them",
		Long: `tare answers "which one, by how much, and how sure are we?" on your own machine.

It builds each candidate (a contender) as a separate program, checks its answers,
and measures all of them in turns (lockstep rounds). The baseline runs twice; its
second run is the control. tare claims no difference that the control shows as
well.`,
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
			return unknownCommand(cmd, args[0])
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return flagError(cmd, env.Args, err)
	})
	root.AddCommand(
		run.Command(env), bench.Command(env), bisectcmd.Command(env), gatecmd.Command(env), auditcmd.Command(env), routes.Command(env),
		rpccmd.Command(env), loadcmd.Command(env), serve.Command(env), reportcmd.Command(env), historycmd.Command(env), rerun.Command(env, newRoot),
		rerun.VerifyCommand(env, newRoot), agentcmd.Command(env, newRoot), mcpcmd.Command(env, newRoot), fleetcmd.Command(env), list.Command(env),
		explain.Command(env), newcmd.Command(env), initcmd.Command(env), jsoncmd.Command(env), doctor.Command(env), clean.Command(env), version.Command(env), newExitCodesTopic(),
	)
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		completion.Example = "  source <(tare completion bash)"
	}
	root.SetHelpCommand(helpCommand(root))
	return root
}

// helpCommand returns tare help. Unlike the command of cobra, it returns an error for unknown commands.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Show help for a command",
		Example: "  tare help run",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(root, rest[0])
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}
