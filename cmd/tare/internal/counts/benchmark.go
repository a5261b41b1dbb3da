package counts

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/kinds/gobench"
)

// maxPrinted limits the stored bytes of the output.
const maxPrinted = 1 << 20

// Benchmark is a benchmark in a test binary.
type Benchmark struct {
	Name   string     // e.g. BenchmarkParse/small
	Binary string     // path of the test binary
	Dir    string     // working directory
	Env    []string   // complete environment
	Spec   trial.Spec // other settings of the process
	Work   string     // directory for profiles
}

func (b Benchmark) workDir() string { return b.Work }

// runOps runs the benchmark. testing executes one operation more before the n.
func (b Benchmark) runOps(ctx context.Context, l *launch, n int64) error {
	spec := b.Spec
	spec.Dir, spec.Stdout, spec.MemoryLimit = b.Dir, maxPrinted, maxMemory
	spec.Env = l.countedEnv(b.Env)
	spec.Path, spec.Args = l.commandLine(b.Binary, []string{
		"-test.paniconexit0", "-test.run=^$",
		"-test.bench=" + gobench.Exactly(b.Name), "-test.skip=" + gobench.Exactly(b.Name) + "/.", // without its sub-benchmarks
		"-test.count=1", "-test.cpu=1", fmt.Sprintf("-test.benchtime=%dx", n),
	})
	printed, err := runCommand(ctx, l, spec)
	var failed *tare.TrialError
	switch {
	case errors.As(err, &failed) && failed.Class == tare.ErrExit:
		return fmt.Errorf("it fails: %s", format.Line(whyFailed(printed, err), maxReason))
	case err != nil:
		return err
	case len(gobench.PrintedResults(printed, b.Name, 1, n)) == 0:
		return errors.New("it prints no result: " + format.Line(whyFailed(printed, errors.New("it may be skipped")), maxReason))
	}
	return nil
}

func runCommand(ctx context.Context, l *launch, spec trial.Spec) (printed string, err error) {
	var command *trial.Command
	err = l.startProcess(func() (err error) {
		command, err = trial.StartCommand(ctx, spec)
		return err
	})
	if err != nil {
		return "", err
	}
	defer command.Close(context.WithoutCancel(ctx))
	return command.AwaitOutput(ctx, "counting")
}

// whyFailed returns the first line that reports a failure, else the text of err.
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
