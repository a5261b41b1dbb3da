package counts

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tarebench/tare/internal/machine"
)

// Bounds of a run.
const (
	maxRun    = time.Minute // a run executes some hundred million instructions
	maxMemory = 3 << 30     // resident bytes, including those of Valgrind
	maxReason = 200
)

// Program executes the operations of a count: a [Benchmark] or a [Contender].
type Program interface {
	workDir() string
	// runOps executes n operations in a process that l starts, and waits for its end.
	runOps(ctx context.Context, l *launch, n int64) error
}

// launch starts the process of a run under its counter.
type launch struct {
	counter   *Counter
	tool      string // cachegrind or callgrind
	repeat    int    // number of the count, from 0
	file      string // output of the tool
	readTotal func() (uint64, error)
}

func (l *launch) commandLine(path string, args []string) (string, []string) {
	if l.counter.path == "" {
		return path, args
	}
	// Most code of a short process runs few times. So Valgrind is faster if it optimizes less.
	toolArgs := []string{"--vex-iropt-level=1", "--tool=" + l.tool, "--cache-sim=no", "--branch-sim=no", "--" + l.tool + "-out-file=" + l.file}
	if l.counter.canStopChasing() {
		toolArgs = append(toolArgs, "--vex-guest-chase=no")
	}
	if l.tool == callgrind {
		// Callgrind takes a switch of goroutines for a recursion, because it follows the stack
		// pointer. Without separate-recs it would divide the calls of function f between f and f'2.
		toolArgs = append(toolArgs, "--compress-strings=no", "--compress-pos=no", "--separate-recs=1")
	}
	return l.counter.path, append(append(toolArgs, path), args...)
}

// startProcess calls start, which starts a process, and counts its instructions.
func (l *launch) startProcess(start func() error) (err error) {
	if l.counter.path != "" {
		return start()
	}
	l.readTotal, err = machine.CountInstructions(start)
	return err
}

// runCount counts the instructions of a process. repeat seeds the process.
func (c *Counter) runCount(ctx context.Context, tool string, p Program, repeat int, n int64) (*Profile, error) {
	file, err := os.CreateTemp(p.workDir(), "instructions-*.out")
	if err != nil {
		return nil, fmt.Errorf("count instructions: %w", err)
	}
	_ = file.Close()
	defer os.Remove(file.Name())
	limited, cancel := context.WithTimeout(ctx, maxRun)
	defer cancel()
	l := &launch{counter: c, tool: tool, repeat: repeat, file: file.Name()}
	err = p.runOps(limited, l, n)
	var total uint64
	if l.readTotal != nil {
		var errCount error
		total, errCount = l.readTotal()
		err = cmp.Or(err, errCount)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return nil, fmt.Errorf("%d operations took more than %v", n, maxRun)
	case err != nil:
		return nil, err
	case c.path == "":
		return &Profile{Total: total}, nil
	}
	out, err := os.Open(filepath.Clean(file.Name()))
	if err != nil {
		return nil, fmt.Errorf("read a count: %w", err)
	}
	defer out.Close()
	return readOutput(tool, out)
}

// countedEnv returns env with the variables of a count: no garbage collection, one processor, no
// preemption, and the seed of chance.
func (l *launch) countedEnv(env []string) []string {
	return append(env[:len(env):len(env)], "GOGC=off", "GOMAXPROCS=1", debugSetting(env), seedEnv(l.repeat))
}

// debugSetting returns GODEBUG with the settings in env, without preemption, and without samples of
// allocations. The number of these samples depends on chance.
func debugSetting(env []string) string {
	setting := "GODEBUG="
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, "GODEBUG="); ok && value != "" {
			setting = kv + ","
		}
	}
	return setting + "asyncpreemptoff=1,memprofilerate=0"
}

// WhyUncountable returns the setting in env that configures the garbage collector, or "". A program
// with such a setting is not counted, because a count turns the collector off.
func WhyUncountable(env []string) string {
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); name == "GOGC" || name == "GOMEMLIMIT" {
			return kv
		}
	}
	return ""
}
