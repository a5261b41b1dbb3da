// Package counts counts the instructions that an operation of a benchmark executes.
//
// A count is the difference between two runs of a test binary, of N operations and of
// N/8, divided by the operations between them: the start of the process and what is
// set up once are in neither. The garbage collector is off, and goroutines are not
// preempted, because both come when the clock says so; the benchmark has one processor.
//
// A [Counter] counts. Valgrind's cachegrind executes the program itself, so that its
// counts do not depend on the machine or on what else runs there, and it tells functions
// and lines. Hardware counters cost nothing and tell only the sum.
package counts

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/internal/trial"
)

// Choice says which counter is wanted.
type Choice string

// Choices. The zero value is Off.
const (
	Off      Choice = "off"
	Auto     Choice = "auto" // hardware counters, else Valgrind, else none
	Hardware Choice = "hardware"
	Valgrind Choice = "valgrind"
)

// Choices lists what --counts takes.
func Choices() []string {
	return []string{string(Auto), string(Hardware), string(Valgrind), string(Off)}
}

// Counter counts the instructions of processes.
type Counter struct {
	tare.Counter
	path string // of Valgrind; "" for hardware counters
}

// HasFunctions reports whether profiles of the counter have functions.
func (c *Counter) HasFunctions() bool { return c.path != "" }

// Tag is the build tag with which Go's runtime tells Valgrind of its stacks.
const Tag = "valgrind"

// BuildTag returns the tag that programs to be counted are built with, "" if they need none.
func (c *Counter) BuildTag() string {
	if c.path == "" {
		return ""
	}
	return Tag
}

// packages are the names of Valgrind's package, as the lists of distributions have it.
const packages = "valgrind (apt-get install valgrind, dnf install valgrind, apk add valgrind)"

// Find returns the counter of a choice. Without one, why is a line that names what is
// missing; both are empty if counting is off.
func Find(ctx context.Context, choice Choice) (c *Counter, why string) {
	if choice == "" || choice == Off {
		return nil, ""
	}
	var missing []string
	if choice != Valgrind {
		err := machine.HasInstructions()
		if err == nil {
			return &Counter{Counter: tare.Counter{Name: string(Hardware), Uncalibrated: true}}, ""
		}
		missing = append(missing, "hardware counters: "+err.Error())
	}
	if choice != Hardware {
		c, err := findValgrind(ctx)
		if err == nil {
			return c, ""
		}
		missing = append(missing, "valgrind: "+err.Error())
	}
	return nil, "instructions are not counted: " + strings.Join(missing, "; ")
}

// findValgrind looks for Valgrind, and runs it: a tool that is installed but does not run
// counts as missing.
func findValgrind(ctx context.Context) (*Counter, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		return nil, fmt.Errorf("Go supports it on linux/amd64 and linux/arm64, and this is %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	path, err := exec.LookPath("valgrind")
	if err != nil {
		return nil, errors.New("it is not installed; install the package " + packages)
	}
	c, err := trial.StartCommand(ctx, trial.Spec{Path: path, Args: []string{"--version"}})
	if err != nil {
		return nil, fmt.Errorf("%s does not start: %w", path, err)
	}
	defer c.Close(ctx)
	select {
	case <-c.Exited():
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	text, err := c.Output("printing its version")
	version, ok := strings.CutPrefix(strings.TrimSpace(text), "valgrind-")
	if err != nil || !ok {
		return nil, fmt.Errorf("%s does not run: install the package %s again", path, packages)
	}
	return &Counter{Counter: tare.Counter{Name: string(Valgrind), Version: version}, path: path}, nil
}
