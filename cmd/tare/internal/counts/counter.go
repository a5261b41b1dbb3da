// Package counts counts the instructions that an operation of a benchmark executes.
//
// A count compares two runs of a test binary, of N operations and of N/8. It divides the difference
// of their instructions by the difference of their operations. So the instructions of the start and
// of the setup cancel out. The garbage collector is off, and goroutines are not preempted, because
// both depend on the clock.
//
// A [Counter] counts in one of two ways. Valgrind's cachegrind emulates the processor, and reports
// functions and lines. Valgrind's callgrind adds calls. Hardware counters take no time and report
// only the sum.
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

// Choice selects a counter.
type Choice string

// Choices. The zero value is Off.
const (
	Off      Choice = "off"
	Auto     Choice = "auto" // hardware counters, else Valgrind, else none
	Hardware Choice = "hardware"
	Valgrind Choice = "valgrind"
)

// Choices returns the values of --counts.
func Choices() []string {
	return []string{string(Auto), string(Hardware), string(Valgrind), string(Off)}
}

// Counter counts the instructions of processes.
type Counter struct {
	tare.Counter
	path string // path of Valgrind; "" for hardware counters
}

// HasFunctions reports whether profiles have functions.
func (c *Counter) HasFunctions() bool { return c.path != "" }

// Tag is the build tag with which Go's runtime reports its stacks to Valgrind.
const Tag = "valgrind"

// BuildTag returns the build tag that counted programs need, or "" if they need none.
func (c *Counter) BuildTag() string {
	if c.path == "" {
		return ""
	}
	return Tag
}

// canStopChasing reports whether Valgrind is 3.19 or later. Older ones may not know the option.
func (c *Counter) canStopChasing() bool {
	var major, minor int
	_, err := fmt.Sscanf(c.Version, "%d.%d", &major, &minor)
	return err == nil && (major > 3 || major == 3 && minor >= 19)
}

// minMinor is the minor release of Go that supports Valgrind first: go1.25.
const minMinor = 25

// WhyUnsupported returns why programs of a release of Go cannot be counted, or "".
func (c *Counter) WhyUnsupported(release string) string {
	var minor int
	_, err := fmt.Sscanf(release, "go1.%d", &minor)
	if c.path == "" || err != nil || minor >= minMinor {
		return ""
	}
	return fmt.Sprintf("built with %s, and Go supports Valgrind since go1.%d", release, minMinor)
}

const packageNames = "valgrind (apt-get install valgrind, dnf install valgrind, apk add valgrind)"

// FindCounter returns the counter of a choice. If the machine has none, it returns nil and why. It
// returns nil and "" if counting is off.
func FindCounter(ctx context.Context, choice Choice) (c *Counter, why string) {
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

// findValgrind returns the counter that runs Valgrind. It returns an error if Go does not support
// Valgrind on this platform, or if it is not installed or does not run.
func findValgrind(ctx context.Context) (*Counter, error) {
	isSupported := runtime.GOOS == "linux" && (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64")
	if !isSupported {
		return nil, fmt.Errorf("Go supports it on linux/amd64 and linux/arm64, and this is %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	path, err := exec.LookPath("valgrind")
	if err != nil {
		return nil, errors.New("it is not installed; install the package " + packageNames)
	}
	c, err := trial.StartCommand(ctx, trial.Spec{Path: path, Args: []string{"--version"}})
	if err != nil {
		return nil, fmt.Errorf("%s does not start: %w", path, err)
	}
	defer c.Close(ctx)
	text, err := c.AwaitOutput(ctx, "printing its version")
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	version, ok := strings.CutPrefix(strings.TrimSpace(text), "valgrind-")
	if err != nil || !ok {
		return nil, fmt.Errorf("%s does not run: install the package %s again", path, packageNames)
	}
	return &Counter{Counter: tare.Counter{Name: string(Valgrind), Version: version}, path: path}, nil
}
