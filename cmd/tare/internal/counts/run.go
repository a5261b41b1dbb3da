package counts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/kinds/gobench"
)

// Bounds of a run.
const (
	maxRun     = time.Minute // of one run, which executes some hundred million instructions
	maxPrinted = 1 << 20     // bytes of a benchmark's output, from its end
	maxMemory  = 3 << 30     // resident bytes, including Valgrind's
)

// Program is a benchmark in a test binary of one side.
type Program struct {
	Name   string   // of the benchmark, e.g. BenchmarkParse/small
	Binary string   // path
	Dir    string   // working directory
	Env    []string // complete environment
	Spec   trial.Spec
	Work   string // directory for profiles
}

// runCount counts the instructions of a process that executes n operations, and one before
// them.
func (c *Counter) runCount(ctx context.Context, p Program, n int64) (*Profile, error) {
	file, err := os.CreateTemp(p.Work, "instructions-*.out")
	if err != nil {
		return nil, fmt.Errorf("count instructions: %w", err)
	}
	_ = file.Close()
	defer os.Remove(file.Name())
	spec := p.Spec
	spec.Dir, spec.Stdout, spec.MemoryLimit = p.Dir, maxPrinted, maxMemory
	spec.Env = append(p.Env[:len(p.Env):len(p.Env)], "GOGC=off", "GOMAXPROCS=1", debugSetting(p.Env))
	spec.Path = p.Binary
	spec.Args = []string{
		"-test.paniconexit0", "-test.run=^$", "-test.bench=" + gobench.Exactly(p.Name), "-test.skip=" + gobench.Exactly(p.Name) + "/.",
		"-test.count=1", "-test.cpu=1", fmt.Sprintf("-test.benchtime=%dx", n),
	}
	if c.path != "" {
		spec.Path = c.path
		spec.Args = append([]string{"--tool=cachegrind", "--cache-sim=no", "--branch-sim=no", "--cachegrind-out-file=" + file.Name(), p.Binary}, spec.Args...)
	}
	limited, cancel := context.WithTimeout(ctx, maxRun)
	defer cancel()
	printed, total, err := c.runProgram(limited, spec)
	var failed *tare.TrialError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return nil, fmt.Errorf("%d operations took more than %v", n, maxRun)
	case errors.As(err, &failed) && failed.Class == tare.ErrExit:
		return nil, fmt.Errorf("it fails: %s", format.Line(whyFailed(printed, err), 200))
	case err != nil:
		return nil, err
	case len(gobench.PrintedResults(printed, p.Name, 1, n)) == 0:
		return nil, errors.New("it prints no result: " + format.Line(whyFailed(printed, errors.New("it may be skipped")), 200))
	}
	if c.path == "" {
		return &Profile{Total: total}, nil
	}
	out, err := os.Open(filepath.Clean(file.Name()))
	if err != nil {
		return nil, fmt.Errorf("read a count: %w", err)
	}
	defer out.Close()
	return ReadCachegrind(out)
}

// debugSetting returns GODEBUG for a count, with the settings in env.
func debugSetting(env []string) string {
	set := "GODEBUG=asyncpreemptoff=1"
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, "GODEBUG="); ok && value != "" {
			set = kv + ",asyncpreemptoff=1"
		}
	}
	return set
}

// whyFailed returns the line of a benchmark's output with its failure, else that of err.
func whyFailed(printed string, err error) string {
	for line := range strings.Lines(printed) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") || strings.Contains(line, "_test.go:") {
			return line
		}
	}
	return err.Error()
}

// runProgram runs a program to its end. total is the value of hardware counters.
func (c *Counter) runProgram(ctx context.Context, spec trial.Spec) (printed string, total uint64, err error) {
	var command *trial.Command
	read := func() (uint64, error) { return 0, nil }
	start := func() error {
		command, err = trial.StartCommand(ctx, spec)
		return err
	}
	if c.path == "" {
		read, err = machine.CountInstructions(start)
	} else {
		err = start()
	}
	if err != nil {
		return "", 0, err
	}
	select {
	case <-command.Exited():
		printed, err = command.Output("counting")
	case <-ctx.Done():
		err = ctx.Err()
	}
	command.Close(context.WithoutCancel(ctx))
	total, errCount := read()
	return printed, total, cmp.Or(err, errCount)
}
