package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/trial"
)

// This file builds the program of tare serve and runs it until it ends.

// endTimeout limits the time that a service may take to end after a signal. It is longer than the 5 s
// that the service allows itself.
const endTimeout = 10 * time.Second

// runServe runs a program that serves an app until it ends.
func runServe(ctx context.Context, env cmdenv.Env, o options) error {
	d, err := env.Dirs()
	if err != nil {
		return err
	}
	c, err := env.FindCatalog(o.catalog)
	if err != nil {
		return err
	}
	st, err := findStack(c, o.app, o.stack)
	if err != nil {
		return err
	}
	if o.faces && !st.leaf.Manifest.Together {
		return cmdenv.Usage(fmt.Sprintf("--face is for a stack that serves several faces, and %s is one", st.ID), "leave --stack out, or --face")
	}
	st = st.withDatabase(c, o.store)
	args := append([]string{"-app=" + o.app}, o.args...)
	var forward *forwarding
	if o.app == ingest.Name && !o.build { // --build-only is for studies, whose destination has no port yet
		if forward, args, err = parseForwarding(args, o.value, o.spool); err != nil {
			return err
		}
	}
	if st.variant != "" {
		args = append(args, "-variant="+st.variant)
	}
	if o.dryRun {
		p := st.newPlan(args)
		if o.asJSON {
			return cmdenv.PrintJSON(env.Out, p)
		}
		return p.writeText(env.Out)
	}
	if err := d.MakeCache(); err != nil {
		return err
	}
	tag := env.Tag()
	signals, restore := env.Lab.Interrupt()
	defer restore()
	guardian, err := env.Lab.Guard(tag) // before any other process
	if err != nil {
		return fmt.Errorf("start the process that cleans up when tare is killed: %w", err)
	}
	program, err := buildStack(ctx, env, signals, st, cmdenv.Workshop{Cache: d.Cache, Catalog: env.CatalogDir(o.catalog), Run: tag}, o.quiet)
	if err == nil && !o.build {
		err = forward.runWith(env, signals, func() error {
			return runService(ctx, env, signals, program.Path, append([]string{st.catalogID}, args...), tag, guardian, o.renewsOnHangup(env))
		})
	}
	if errDone := guardian.Done(); err == nil {
		err = errDone
	}
	return err
}

// renewsOnHangup reports whether SIGHUP makes the service read its certificate again. On a terminal,
// SIGHUP means that it was closed.
func (o options) renewsOnHangup(env cmdenv.Env) bool {
	_, _, terminal := cmdenv.Terminal(env.In)
	return !terminal && o.value(flagTLSCert) != ""
}

type servePlan struct {
	Stack   string   `json:"stack"`
	Sources string   `json:"sources"`        // directory of the main package
	Tags    []string `json:"tags,omitempty"` // build tags
	Command []string `json:"command"`        // the program's name and its arguments
}

func (st stack) newPlan(args []string) servePlan {
	return servePlan{st.catalogID, st.leaf.Src(), st.leaf.Manifest.Tags, append([]string{st.catalogID}, args...)}
}

func (p servePlan) writeText(w io.Writer) error {
	var words []string
	for _, word := range p.Command {
		words = append(words, cmdenv.ShellQuote(word))
	}
	lines := fmt.Sprintf("stack    %s\nsources  %s\n", p.Stack, p.Sources)
	if len(p.Tags) > 0 {
		lines += "tags     " + strings.Join(p.Tags, " ") + "\n"
	}
	_, err := fmt.Fprintf(w, "%scommand  %s\n", lines, strings.Join(words, " "))
	return err
}

// buildStack builds the stack. If a signal arrives first, it returns cmdenv.ErrInterrupted.
func buildStack(ctx context.Context, env cmdenv.Env, signals <-chan os.Signal, st stack, w cmdenv.Workshop, quiet bool) (build.Program, error) {
	p := session.NewProgress(env, quiet)
	defer p.End()
	if st.Trap {
		p.Say(st.catalogID + " repeats a published mistake: " + st.Why)
	}
	w.Compiling = func() { p.Status("build", "building "+st.catalogID) }
	sources, err := env.Lab.Sources(w)
	if err != nil {
		return build.Program{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	interrupted := false
	watcherDone := make(chan struct{}) // when it is closed, interrupted no longer changes
	go func() {
		defer close(watcherDone)
		select {
		case <-signals:
			interrupted = true
			cancel()
		case <-ctx.Done():
		}
	}()
	program, err := sources.Program(ctx, st.leaf.Manifest.Kind, "", tare.Entry{ID: st.entryID()})
	cancel()
	<-watcherDone
	if interrupted {
		return program, cmdenv.ErrInterrupted
	}
	if err != nil && !cmdenv.EndsRun(err) {
		err = fmt.Errorf("stack %s cannot be built: %w", st.catalogID, err)
	}
	return program, err
}

// runService forwards the first signal to the service. It kills the service at the second signal,
// endTimeout after the first, or if ctx is cancelled. If renews is set, SIGHUP only makes the service
// read its certificate again.
func runService(ctx context.Context, env cmdenv.Env, signals <-chan os.Signal, path string, args []string, tag string, guardian *trial.Guardian, renews bool) error {
	cmd := &exec.Cmd{Path: path, Args: args}
	cmd.Env = append(os.Environ(), trial.EnvRun+"="+tag)
	cmd.Stdout, cmd.Stderr = env.Out, env.Err
	cmd.SysProcAttr = newSession()
	hangups, restore := notifyHangup()
	defer restore()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", args[0], err)
	}
	guardian.Group(cmd.Process.Pid)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	isEnding, cancelled := false, ctx.Done()
	var timeout <-chan time.Time // nil, which blocks, until the first signal
	for {
		var signal os.Signal
		select {
		case err := <-ended:
			guardian.Gone(cmd.Process.Pid)
			return exitError(cmd, err)
		case signal = <-signals:
		case signal = <-hangups:
			if renews {
				_ = cmd.Process.Signal(signal) // fails if the service has ended
				continue
			}
		case <-timeout:
			fmt.Fprintf(env.Err, "tare: it has not ended within %v, and is ended now\n", endTimeout)
		case <-cancelled:
			cancelled = nil // a closed channel stays ready: kill once, then wait for the end
		}
		if signal != nil && !isEnding {
			isEnding, timeout = true, time.After(endTimeout)
			forwardSignal(cmd.Process, signal)
			continue
		}
		_ = cmd.Process.Kill() // fails if the service has ended
	}
}

// exitError returns the error for the end of a service: nil, its exit code, or err if waiting
// failed. err is the error of cmd.Wait.
func exitError(cmd *exec.Cmd, err error) error {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("%s: %w", cmd.Args[0], err)
	}
	if code := exitCode(cmd.ProcessState); code != 0 {
		return cmdenv.Code(code)
	}
	return nil
}
