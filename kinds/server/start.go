package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/trial"
)

// This file starts a server, or connects to one that runs already. For example, it replaces $PORT in
// the user's command line by a free port.

// process is a server that tare started: a program that speaks tare's protocol, or a command.
type process interface {
	// PID returns the process number, also after the end.
	PID() int
	// PIDs lists the live processes of the trial; nil after the end of the first one.
	PIDs() []int
	// Exited returns a channel that is closed when the process has ended.
	Exited() <-chan struct{}
	// Lost returns the error that ended the trial; nil while the process runs. doing names the
	// operation in flight.
	Lost(doing string) error
	// Printed returns the bytes on stdout and stderr so far.
	Printed() int64
	// Close ends the process and all processes that it started.
	Close(ctx context.Context) tare.Evidence
}

var (
	_ process = (*trial.Process)(nil)
	_ process = (*trial.Command)(nil)
)

// openTrial opens a trial of the contender p: it starts the contender, or parses the address of a
// running server. After an error it has removed the files of the trial.
func (k *Kind) openTrial(ctx context.Context, p build.Program, spec trial.Spec) (_ *conn, err error) {
	c := &conn{kind: k, entry: p.Contender, cores: k.cores(), terminal: p.Contender.Set[setLog] == logPTY}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	defer func() {
		if err != nil {
			c.cancel(nil)
			c.cleanUp()
		}
	}()
	if c.dir, err = os.MkdirTemp(spec.Dir, "server-"); err == nil {
		c.dir, err = filepath.Abs(c.dir) // the server may run in another directory
	}
	if err != nil {
		return nil, trialError(tare.ErrStart, "directory of the trial: %v", err)
	}
	spec.CPUs, spec.Terminal = c.cores.server, c.terminal
	if spec.OutputLimit == 0 {
		spec.OutputLimit = trial.ServerOutput
	}
	if c.terminal {
		spec.Env = append(slices.Clone(spec.Env), "TERM=xterm")
	}
	switch c.entry.Launch {
	case tare.LaunchURL:
		c.address, err = parseURL(c.entry.URL)
	case tare.LaunchCommand:
		err = c.startCommand(ctx, p.Path, spec)
	default:
		spec.Path = p.Path
		c.spec = spec
		c.program, err = trial.Start(ctx, spec)
		c.process = c.program
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// startCommand starts the user's command line and waits until it accepts connections. It runs in
// tare's working directory, because the user's paths may be relative. The files of the study are in
// the trial's directory. If path is "", PATH is searched.
func (c *conn) startCommand(ctx context.Context, path string, spec trial.Spec) error {
	if len(c.entry.Command) == 0 {
		return trialError(tare.ErrStart, "an empty command")
	}
	replacer, port, err := c.makeReplacer()
	if err != nil {
		return err
	}
	var args []string
	for _, a := range c.entry.Command {
		args = append(args, replacer.Replace(a))
	}
	for name, text := range c.entry.Files {
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte(replacer.Replace(text)), 0o644); err != nil {
			return trialError(tare.ErrStart, "its file %s: %v", name, err)
		}
	}
	if err := c.openDelivery(replacer); err != nil {
		return err
	}
	if path == "" {
		path = args[0]
	}
	spec.Path, spec.Args = path, args[1:]
	spec.Dir = "" // tare's working directory
	spec.Env = append(slices.Clone(spec.Env), "PORT="+port)
	started, err := trial.StartCommand(ctx, spec)
	if err != nil {
		return err
	}
	c.process = started
	addr, err := started.AwaitListen(ctx, net.JoinHostPort("127.0.0.1", port), net.JoinHostPort("::1", port))
	if err != nil {
		started.Close(context.WithoutCancel(ctx))
		return err
	}
	c.address = serverAddr{addr: addr, host: addr, prefix: c.entry.Path}
	return nil
}

// makeReplacer returns the replacer of a command's placeholders, and a free port for the command. It
// starts the destination if the command delivers to one.
func (c *conn) makeReplacer() (r *strings.Replacer, port string, err error) {
	placeholders := []string{"$DIR", c.dir, "${DIR}", c.dir} // alternately a placeholder and its value
	// The destination listens before FreePort, because it could take the free port.
	if c.entry.Delivers == destinationWord {
		if c.destination, err = listenDestination(); err != nil {
			return nil, "", trialError(tare.ErrStart, "listen as its destination: %v", err)
		}
		placeholders = append(placeholders, destinationWord, c.destination.port, "${DESTINATION}", c.destination.port)
	}
	if port, err = trial.FreePort(); err != nil {
		return nil, "", trialError(tare.ErrStart, "find a free port: %v", err)
	}
	placeholders = append(placeholders, "$PORT", port, "${PORT}", port)
	return strings.NewReplacer(placeholders...), port, nil
}

// openDelivery sets c.delivery. The entry's delivers is $DESTINATION, a pattern of files, or "".
func (c *conn) openDelivery(placeholders *strings.Replacer) error {
	switch {
	case c.destination != nil:
		c.delivery = c.destination
	case c.entry.Delivers != "":
		c.delivery = &lineCounter{pattern: placeholders.Replace(c.entry.Delivers)}
		if _, err := c.delivery.count(); err != nil { // rejects an invalid pattern before the start
			return trialError(tare.ErrStart, "delivers: %s: %v", c.entry.Delivers, err)
		}
	}
	return nil
}

func waitUntil(ctx context.Context, d time.Duration, done <-chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

type serverAddr struct {
	addr   string // host:port
	host   string // value of the Host header
	tls    bool   // encrypted, with a certificate that the system trusts
	prefix string // begins every path
}

func parseURL(text string) (serverAddr, error) {
	u, err := url.Parse(text)
	if err == nil && u.Scheme != "http" && u.Scheme != "https" {
		err = errors.New("its scheme is neither http nor https")
	}
	if err == nil && u.Hostname() == "" {
		err = errors.New("it names no host")
	}
	if err != nil {
		return serverAddr{}, trialError(tare.ErrStart, "url %q: %v", text, err)
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return serverAddr{
		addr: net.JoinHostPort(u.Hostname(), port), host: u.Host, tls: u.Scheme == "https",
		prefix: strings.TrimSuffix(u.EscapedPath(), "/"),
	}, nil
}

// parseListenAddr parses the address at which a program reports to listen. It must be a loopback
// address, or "all addresses", which becomes 127.0.0.1.
func parseListenAddr(addr string) (serverAddr, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return serverAddr{}, trialError(tare.ErrProtocol, "it reports that it listens at %q: %v", addr, err)
	}
	ip := net.ParseIP(host)
	isAllAddresses := host == "" || ip != nil && ip.IsUnspecified()
	isLoopback := host == "localhost" || ip != nil && ip.IsLoopback()
	switch {
	case isAllAddresses:
		host = "127.0.0.1"
	case !isLoopback:
		return serverAddr{}, trialError(tare.ErrProtocol, "it reports that it listens at %q, which is not a loopback address", addr)
	}
	addr = net.JoinHostPort(host, port)
	return serverAddr{addr: addr, host: addr}, nil
}

// makeHello returns the reply of a server that does not speak the protocol.
func (c *conn) makeHello() wire.Reply {
	a := wire.Reply{Hello: wire.Hello{Protocol: wire.Protocol, Kind: c.kind.name}}
	if c.process != nil {
		a.PID = c.process.PID()
	}
	return a
}

// trialError returns an error of a trial. class is one of tare's, such as tare.ErrStart.
func trialError(class, format string, args ...any) *tare.TrialError {
	return &tare.TrialError{Class: class, Message: fmt.Sprintf(format, args...)}
}
