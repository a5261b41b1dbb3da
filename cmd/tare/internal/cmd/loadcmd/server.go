package loadcmd

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/loadstudy"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/trial"
)

const memoryLimit = 1 << 50 // bytes: practically no limit for the user's server

type startedServer struct {
	command     *trial.Command
	inContainer bool // its processes are not children of tare, so tare does not know them
}

// startServer starts a server and waits until it accepts connections. It chooses a free port for
// $PORT, and returns the target with that port.
func startServer(ctx context.Context, w *session.Session, s loadServer) (*startedServer, loadstudy.Target, error) {
	env, err := w.BuildFor(ctx, s.command)
	if err != nil {
		if ctx.Err() != nil {
			return nil, loadstudy.Target{}, cmdenv.ErrInterrupted
		}
		return nil, loadstudy.Target{}, &nothingError{err.Error()}
	}
	_, port, err := net.SplitHostPort(s.target.Addr) // the fixed port of the URL, if there is one
	if err == nil && strings.Contains(s.url, portVariable) {
		port, err = trial.FreePort()
	}
	if err != nil {
		return nil, loadstudy.Target{}, err
	}
	target, err := loadstudy.ParseTarget(strings.ReplaceAll(s.url, portVariable, port))
	if err != nil {
		return nil, target, err
	}
	var words []string
	for _, word := range s.command {
		words = append(words, strings.NewReplacer("${PORT}", port, portVariable, port).Replace(word))
	}
	if trial.Accepts(ctx, target.Addr) {
		return nil, target, cmdenv.Usage(fmt.Sprintf("something listens on %s already", target.Addr), "end it, or leave --start out")
	}
	w.Progress.Status("start", "starting "+s.id)
	c, err := trial.StartCommand(ctx, trial.Spec{
		Path: words[0], Args: words[1:], Env: append(env, "PORT="+port), Run: w.RunTag, Name: "load/" + s.id, MemoryLimit: memoryLimit, OutputLimit: trial.ServerOutput, Guardian: w.Guardian,
	})
	if err != nil {
		return nil, target, &nothingError{oneLine(err.Error())}
	}
	server := &startedServer{command: c, inContainer: slices.ContainsFunc(words, runsContainers)}
	if _, err := c.AwaitListen(ctx, target.Addr); err != nil {
		server.Close()
		if ctx.Err() != nil {
			return nil, target, cmdenv.ErrInterrupted
		}
		return nil, target, &nothingError{oneLine(err.Error())}
	}
	return server, target, nil
}

func runsContainers(word string) bool {
	return slices.Contains([]string{"docker", "podman", "nerdctl"}, filepath.Base(word))
}

func (s *startedServer) processIDs() []int {
	if s.inContainer {
		return nil
	}
	return s.command.PIDs()
}

// Close ends the server and all its child processes.
func (s *startedServer) Close() {
	s.command.Close(context.Background())
}
