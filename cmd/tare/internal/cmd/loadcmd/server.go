package loadcmd

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/loadstudy"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/trial"
)

const (
	acceptLimit = 30 * time.Second      // how long a server may take until it accepts connections
	acceptEvery = 10 * time.Millisecond // how often that is tried
	outputLimit = 16 << 30              // bytes it may print; nothing of it is kept but the end
	memoryLimit = 1 << 50               // bytes: none, it is the user's own
)

// started is a server that was started here.
type started struct {
	command *trial.Command
	foreign bool // it runs in a container: its processes are not below ours
}

// start starts a server by its command line and waits until it accepts
// connections.
func start(ctx context.Context, w *session.Session, s loadServer) (*started, loadstudy.Target, error) {
	_, port, err := net.SplitHostPort(s.target.Addr)
	if err == nil && strings.Contains(s.url, portVariable) {
		port, err = freePort()
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
	if taken(ctx, target.Addr) {
		return nil, target, cmdenv.Usage(fmt.Sprintf("something listens on %s already", target.Addr), "end it, or leave --start out")
	}
	w.Progress.Status("start", "starting "+s.id)
	c, err := trial.StartCommand(ctx, trial.Spec{
		Path: words[0], Args: words[1:], Env: []string{"PORT=" + port}, Run: w.RunTag, Name: "load/" + s.id, MemoryLimit: memoryLimit, OutputLimit: outputLimit, Guardian: w.Guardian,
	})
	if err != nil {
		return nil, target, &errNothing{format.Line(err.Error(), 0)}
	}
	server := &started{command: c, foreign: slices.ContainsFunc(words, contains)}
	if err := server.accepts(ctx, target.Addr); err != nil {
		server.Close()
		return nil, target, err
	}
	return server, target, nil
}

// contains reports whether a word is a program that runs containers.
func contains(word string) bool {
	return slices.Contains([]string{"docker", "podman", "nerdctl"}, filepath.Base(word))
}

// taken reports whether something accepts connections at addr.
func taken(ctx context.Context, addr string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err == nil {
		c.Close()
	}
	return err == nil
}

// accepts waits until the server accepts connections.
func (s *started) accepts(ctx context.Context, addr string) error {
	limit, cancel := context.WithTimeout(ctx, acceptLimit)
	defer cancel()
	for !taken(limit, addr) {
		select {
		case <-s.command.Exited():
			return &errNothing{format.Line(s.command.Lost("start").Error(), 0)}
		case <-limit.Done():
			if ctx.Err() != nil {
				return cmdenv.ErrInterrupted
			}
			return &errNothing{fmt.Sprintf("nothing accepts connections at %s after %v; the command must listen on $PORT", addr, acceptLimit)}
		case <-time.After(acceptEvery):
		}
	}
	return nil
}

// processes are the server's; nil: they cannot be seen.
func (s *started) processes() []int {
	if s.foreign {
		return nil
	}
	return s.command.PIDs()
}

// Close ends the server and everything it started.
func (s *started) Close() {
	s.command.Close(context.Background())
}

// freePort is one that nobody listens on at the moment.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return strconv.Itoa(port), l.Close()
}
