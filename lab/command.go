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

// StartProgram starts a program that speaks the contender protocol and does its work on
// one thread, so that it gets one processor: a binary that was built, or the user's own
// command, which runs where tare runs.
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

// SpokenLaunches returns the ways to run contenders of kinds that only speak the protocol.
func SpokenLaunches() []tare.Launch {
	return []tare.Launch{tare.LaunchProgram, tare.LaunchCommand}
}

// checkLaunch returns why contenders of the kind cannot be launched in the way of e.
func (r *run) checkLaunch(e tare.Entry) error {
	ways := []tare.Launch{tare.LaunchProgram}
	if k, ok := r.kind.(Launcher); ok {
		ways = k.Launches()
	}
	if !slices.Contains(ways, e.Launch()) {
		return &UnknownError{What: fmt.Sprintf("way to run contender %q: a %s is %s, not a %s", e.ID, r.name, joinLaunches(ways), e.Launch())}
	}
	if e.Launch() != tare.LaunchCommand || !slices.Equal(ways, SpokenLaunches()) {
		return nil
	}
	port := slices.ContainsFunc(e.Command, func(word string) bool { return strings.Contains(word, "$PORT") || strings.Contains(word, "${PORT}") })
	if port || e.Path != "" || len(e.Files) > 0 || e.Delivers != "" {
		return &UnknownError{What: fmt.Sprintf("use of $PORT, path, files or delivers by contender %q: the command of a %s speaks the contender protocol and does not listen", e.ID, r.name)}
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
