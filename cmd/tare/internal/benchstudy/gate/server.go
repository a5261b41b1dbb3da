package gate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/internal/build"
	kind "github.com/tarebench/tare/kinds/server"
)

const onlyRequests = "requests"

// openLoopRounds is the number of rounds that fit in the budget of a load at a fixed rate.
const openLoopRounds = 12

// Server returns the study of a server of tare.yaml under load, before and after the change. In a
// closed loop it measures the time and the CPU time of a request. At a fixed rate (server.Rate > 0)
// it measures the median latency and the CPU time. programs are the built programs of both sides,
// dirs their working directories. The file requests has one request a line.
func Server(server project.Server, request Request, programs, dirs SidePaths, requests string) Measurement {
	traffic := &tare.Traffic{Connections: server.Connections, Rate: server.Rate, Segment: server.Segment()}
	m := Measurement{
		Study: tare.Study{
			ID:       studyPrefix + "load-" + server.ID,
			Question: "Is " + server.ID + " under load as fast as it was?",
			Kind:     kind.Name, Baseline: BaseID, Dir: filepath.Dir(requests),
			Contenders: []tare.Entry{
				{ID: BaseID, Command: sideCommand(dirs.Base, programs.Base, server.Args)},
				{ID: HeadID, Command: sideCommand(dirs.Head, programs.Head, server.Args)},
			},
			Workloads: []tare.Workload{{ID: onlyRequests, File: filepath.Base(requests), Op: kind.OpRequests, Traffic: traffic}},
		},
		Requirements: Requirements{Name: "load " + server.ID, Metrics: []string{"time", "cpu"}},
	}
	if server.Rate > 0 {
		m.Requirements.Metrics = []string{"p50", "cpu"}
		round := 4*server.Segment() + time.Second // four segments: base, control, head, and the load generator by itself
		m.Study.Budget.Quick = openLoopRounds * round
		m.Study.Budget.Full = m.Study.Budget.Quick
	}
	m.Study.Metrics = append([]string{}, m.Requirements.Metrics...)
	for _, metric := range m.Requirements.Metrics {
		m.Study.Criteria = append(m.Study.Criteria, tare.Criterion{Contender: HeadID, Metric: metric, Ratio: "<= " + formatRatio(1+request.Project.Gate.Margin)})
	}
	for _, o := range server.SLO {
		c := tare.Criterion{Contender: HeadID, Metric: o.Metric, Value: "<= " + time.Duration(o.Limit).String()}
		m.Requirements.Limits, m.Study.Criteria = append(m.Requirements.Limits, c), append(m.Study.Criteria, c)
		if o.Metric != "p50" {
			m.Study.Metrics = append(m.Study.Metrics, o.Metric)
		}
	}
	return m
}

// sideCommand returns the command line that runs a program in dir. It uses a shell, because all
// programs start in the current directory. On Windows the program runs there.
func sideCommand(dir, program string, args []string) []string {
	words := append([]string{program}, args...)
	if runtime.GOOS == "windows" {
		return words
	}
	return append([]string{"/bin/sh", "-c", `cd "$0" && exec "$@"`, dir}, words...)
}

// BuildError reports why a program of a side does not build, in one line.
type BuildError struct{ What string }

// Error returns e.What.
func (e *BuildError) Error() string { return e.What }

// Build builds the main package in dir as file. The error is a *BuildError if the package is at fault.
func Build(ctx context.Context, dir, file string) error {
	if exists, err := IsDir(dir); err != nil {
		return err
	} else if !exists {
		return &BuildError{"there is no such directory"}
	}
	cmd, remove := build.GoCommand(ctx, dir, "build", "-trimpath", "-buildvcs=false", "-o", file, ".")
	defer remove()
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &exit):
		return &BuildError{strings.ReplaceAll(firstMessage(string(out)), dir, ".")}
	case err != nil:
		return fmt.Errorf("run the go command: %w", err)
	}
	info, err := os.Stat(file)
	isArchive := err == nil && info.Mode()&0o100 == 0 && runtime.GOOS != "windows" // not executable: an archive of another package
	if err != nil || isArchive {
		return &BuildError{"it is not a main package"}
	}
	return nil
}

// IsDir reports whether path is a directory. It returns other errors, because a gate must not skip
// a comparison when a disk fails.
func IsDir(path string) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // ENOTDIR: a parent of path is a file
		return false, nil
	}
	return err == nil && info.IsDir(), err
}

func firstMessage(out string) string {
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' && !strings.HasPrefix(line, "go: downloading ") {
			return line
		}
	}
	return "go build failed and printed nothing"
}
