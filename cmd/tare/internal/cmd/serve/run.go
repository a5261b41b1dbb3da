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

// farewell is how long a service may take to end, which is more than it takes
// by its own account.
const farewell = 10 * time.Second

// runServe builds a stack and runs it until it ends.
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
	st = st.kept(c, o.store)
	args, forward := append([]string{"-app=" + o.app}, o.args...), (*forwarding)(nil)
	if o.app == ingest.Name && !o.build { // a study's command has no port in the sink's URL yet
		if forward, args, err = forwarded(args, o.value, o.spool); err != nil {
			return err
		}
	}
	if st.variant != "" {
		args = append(args, "-variant="+st.variant)
	}
	if o.dryRun {
		return st.describe(env.Out, args)
	}
	if err := d.MakeCache(); err != nil {
		return err
	}
	tag := env.Tag()
	signals, restore := env.Lab.Interrupt()
	defer restore()
	guardian, err := env.Lab.Guard(tag) // before anything else is started
	if err != nil {
		return fmt.Errorf("start the process that cleans up when tare is killed: %w", err)
	}
	program, err := buildStack(ctx, env, signals, st, cmdenv.Workshop{Cache: d.Cache, Catalog: env.CatalogDir(o.catalog), Run: tag}, o.quiet)
	if err == nil && !o.build {
		err = forward.during(env, signals, func() error {
			return attend(ctx, env, signals, program.Path, append([]string{st.id}, args...), tag, guardian, o.renews(env))
		})
	}
	if errDone := guardian.Done(); err == nil {
		err = errDone
	}
	return err
}

// renews reports whether a hang-up means that there is another certificate, as
// it does where no terminal can be gone.
func (o options) renews(env cmdenv.Env) bool {
	_, _, terminal := cmdenv.Terminal(env.In)
	return !terminal && o.value(flagTLSCert) != ""
}

// describe says what would be done.
func (st stack) describe(w io.Writer, args []string) error {
	m := st.leaf.Manifest
	command := st.id
	for _, arg := range args {
		command += " " + cmdenv.Quoted(arg)
	}
	lines := fmt.Sprintf("stack    %s\nsources  %s\n", st.id, st.leaf.Src())
	if len(m.Tags) > 0 {
		lines += "tags     " + strings.Join(m.Tags, " ") + "\n"
	}
	_, err := fmt.Fprintf(w, "%scommand  %s\n", lines, command)
	return err
}

// buildStack builds the stack, unless a signal comes.
func buildStack(ctx context.Context, env cmdenv.Env, signals <-chan os.Signal, st stack, w cmdenv.Workshop, quiet bool) (build.Program, error) {
	p := session.NewProgress(env, quiet)
	defer p.End()
	if st.Trap {
		p.Say(st.id + " repeats a published mistake: " + st.Why)
	}
	w.Compiling = func() { p.Status("build", "building "+st.id) }
	sources, err := env.Lab.Sources(w)
	if err != nil {
		return build.Program{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	interrupted, watched := false, make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-signals:
			interrupted = true
			cancel()
		case <-ctx.Done():
		}
	}()
	program, err := sources.Program(ctx, st.leaf.Manifest.Kind, "", tare.Entry{ID: st.entry()})
	cancel()
	if <-watched; interrupted {
		return program, cmdenv.ErrInterrupted
	}
	if err != nil && !cmdenv.EndsRun(err) {
		err = fmt.Errorf("stack %s cannot be built: %w", st.id, err)
	}
	return program, err
}

// attend runs a service, by its name and flags. The first signal is handed on to it, the second ends
// it. A hang-up makes it renew its certificate, or is like any other signal. Its
// exit code is the error's.
func attend(ctx context.Context, env cmdenv.Env, signals <-chan os.Signal, path string, args []string, tag string, guardian *trial.Guardian, renews bool) error {
	cmd := &exec.Cmd{Path: path, Args: args}
	cmd.Env = append(os.Environ(), trial.EnvRun+"="+tag)
	cmd.Stdout, cmd.Stderr = env.Out, env.Err
	cmd.SysProcAttr = outOfReach()
	hung, restore := hangUps()
	defer restore()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", args[0], err)
	}
	guardian.Group(cmd.Process.Pid)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	asked, stop := false, ctx.Done()
	var late <-chan time.Time
	for {
		var signal os.Signal
		select {
		case err := <-ended:
			guardian.Gone(cmd.Process.Pid)
			return exited(cmd, err)
		case signal = <-signals:
		case signal = <-hung:
			if renews {
				_ = cmd.Process.Signal(signal) // or it has ended by now
				continue
			}
		case <-late:
			fmt.Fprintf(env.Err, "tare: it has not ended within %v, and is ended now\n", farewell)
		case <-stop:
			stop = nil
		}
		if signal != nil && !asked {
			asked, late = true, time.After(farewell)
			handOn(cmd.Process, signal)
			continue
		}
		_ = cmd.Process.Kill() // or it has ended by now
	}
}

// exited is what the end of a service means.
func exited(cmd *exec.Cmd, err error) error {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("%s: %w", cmd.Args[0], err)
	}
	if code := exitCode(cmd.ProcessState); code != 0 {
		return cmdenv.Code(code)
	}
	return nil
}
