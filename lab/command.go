package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/trial"
)

// StartProgram starts a program that speaks the contender protocol. It is the binary at p.Path, or the
// command of the user, in tare's working directory. Such a program works on one thread, so it gets one
// processor: GOMAXPROCS is 1 unless spec.Env sets it.
func StartProgram(ctx context.Context, p build.Program, spec trial.Spec) (trial.Conn, error) {
	spec.Path = p.Path
	spec.Env = append([]string{"GOMAXPROCS=1"}, spec.Env...)
	if command := p.Contender.Command; len(command) > 0 {
		if spec.Path == "" {
			spec.Path = command[0]
		}
		spec.Args, spec.Dir = command[1:], ""
	}
	c, err := trial.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// SpokenLaunches returns the ways to launch contenders of a kind that uses only the contender protocol.
// These are built programs and commands, but no URLs.
func SpokenLaunches() []tare.Launch { return []tare.Launch{tare.LaunchProgram, tare.LaunchCommand} }

// checkLaunch returns an error if contenders of the kind cannot be launched as e is, or if the
// command of e has options that are only for servers.
func (r *run) checkLaunch(e tare.Entry) error {
	ways := []tare.Launch{tare.LaunchProgram}
	if k, ok := r.kind.(Launcher); ok {
		ways = k.Launches()
	}
	if !slices.Contains(ways, e.Launch()) {
		return &UnknownError{What: fmt.Sprintf("way to run contender %q: a %s is %s, not a %s", e.ID, r.kindName, joinLaunches(ways), e.Launch())}
	}
	if e.Launch() != tare.LaunchCommand || !slices.Equal(ways, SpokenLaunches()) {
		return nil
	}
	usesPort := slices.ContainsFunc(e.Command, func(arg string) bool { return strings.Contains(arg, "$PORT") || strings.Contains(arg, "${PORT}") })
	if usesPort || e.Path != "" || len(e.Files) > 0 || e.Delivers != "" {
		return &UnknownError{What: fmt.Sprintf("use of $PORT, path, files or delivers by contender %q: the command of a %s speaks the contender protocol and does not listen", e.ID, r.kindName)}
	}
	return nil
}

func joinLaunches(ways []tare.Launch) string {
	var words []string
	for _, w := range ways {
		words = append(words, "a "+string(w))
	}
	return strings.Join(words, " or ")
}
