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
	maxRun     = time.Minute // duration; a run executes some hundred million instructions
	maxPrinted = 1 << 20     // last bytes of the output
	maxMemory  = 3 << 30     // resident bytes, including those of Valgrind
	maxReason  = 200         // characters of the output in an error
)

// Program is a benchmark in a test binary of one side.
type Program struct {
	Name   string     // name of the benchmark, e.g. BenchmarkParse/small
	Binary string     // path of the test binary
	Dir    string     // working directory
	Env    []string   // complete environment
	Spec   trial.Spec // other settings of the process
	Work   string     // directory for profiles
}

// runCount counts the instructions of a process that executes n operations. testing executes
// one more before them.
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
		"-test.paniconexit0", "-test.run=^$",
		"-test.bench=" + gobench.Exactly(p.Name), "-test.skip=" + gobench.Exactly(p.Name) + "/.", // without its sub-benchmarks
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
		return nil, fmt.Errorf("it fails: %s", format.Line(whyFailed(printed, err), maxReason))
	case err != nil:
		return nil, err
	case len(gobench.PrintedResults(printed, p.Name, 1, n)) == 0:
		return nil, errors.New("it prints no result: " + format.Line(whyFailed(printed, errors.New("it may be skipped")), maxReason))
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

// debugSetting returns the variable GODEBUG that switches off preemption, with the settings
// of GODEBUG in env.
func debugSetting(env []string) string {
	setting := "GODEBUG=asyncpreemptoff=1"
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, "GODEBUG="); ok && value != "" {
			setting = kv + ",asyncpreemptoff=1"
		}
	}
	return setting
}

// whyFailed returns the first line of a benchmark's output that reports a failure, else the
// text of err.
func whyFailed(printed string, err error) string {
	for line := range strings.Lines(printed) {
		line = strings.TrimSpace(line)
		isPanic := strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:")
		if isPanic || strings.Contains(line, "_test.go:") {
			return line
		}
	}
	return err.Error()
}

// runProgram runs a program to its end and returns its output. total is the number of
// instructions by hardware counters, or 0 if Valgrind counts.
func (c *Counter) runProgram(ctx context.Context, spec trial.Spec) (printed string, total uint64, err error) {
	var command *trial.Command
	startCommand := func() error {
		command, err = trial.StartCommand(ctx, spec)
		return err
	}
	readTotal := func() (uint64, error) { return 0, nil }
	if c.path == "" {
		readTotal, err = machine.CountInstructions(startCommand)
	} else {
		err = startCommand()
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
	total, errCount := readTotal()
	return printed, total, cmp.Or(err, errCount)
}
