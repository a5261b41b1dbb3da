package server

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Environment variables of a server that runs without tare. The command line has precedence. Those of an app
// are in [Setting.Env].
const (
	EnvApp  = "TARE_APP"
	EnvAddr = "TARE_ADDR"
	EnvLog  = "TARE_LOG"
	EnvFace = "TARE_FACE" // value of -face, if a program serves several transports

	EnvMaxConns = "TARE_MAX_CONNS"
	EnvHosts    = "TARE_HOSTS"

	EnvTLSCert = "TARE_TLS_CERT"
	EnvTLSKey  = "TARE_TLS_KEY"
)

// shutdownGrace is the time for requests in flight after a signal.
const shutdownGrace = 4500 * time.Millisecond

// alone is a program that tare does not measure. It serves the app that its command line selects.
type alone struct{ Host }

// main serves until a signal and returns the exit code: 0 after a signal, 1 if it cannot serve, 2 if the
// command line is invalid.
func (a alone) main(args []string, stdout, stderr io.Writer) int {
	s, err := a.parseFlags(args, stderr, os.Getenv)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, err)
		return 2
	}
	if s.stdout, _ = stdout.(*os.File); s.stdout == nil {
		s.stdout = os.Stdout
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := a.serveUntilDone(ctx, s, stderr); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

func (a alone) serveUntilDone(ctx context.Context, s setup, stderr io.Writer) error {
	r, err := a.startServer(s)
	if err != nil {
		return err
	}
	var renew chan os.Signal // SIGHUP reloads the certificate; nil without TLS: SIGHUP ends the process
	if r.pair != nil {
		renew = make(chan os.Signal, 1)
		signal.Notify(renew, syscall.SIGHUP)
		defer signal.Stop(renew)
	}
	r.printStart(s, stderr)
	for serving := true; serving; {
		select {
		case err := <-r.ended:
			r.ended <- nil // replaces the result: stopServer receives one per front
			return joinErrors(fmt.Errorf("serving ended: %w", err), r.stopServer(linger))
		case <-renew:
			if err := r.pair.loadFiles(); err != nil {
				fmt.Fprintf(stderr, "%s: the old certificate remains in use: %v\n", programName(), err)
				continue
			}
			fmt.Fprintf(stderr, "%s: new connections have the certificate that is in %s now\n", programName(), s.cert)
		case <-ctx.Done():
			serving = false
		}
	}
	if err := r.stopServer(shutdownGrace); err != nil {
		fmt.Fprintf(stderr, "%s: not everything had ended in time: %v\n", programName(), err)
	}
	return nil
}

// printStart prints the address of each front, a listener with its server.
func (r *running) printStart(s setup, stderr io.Writer) {
	for _, line := range r.service.Notices {
		fmt.Fprintf(stderr, "%s: %s\n", programName(), line)
	}
	needsNoToken := !r.service.Guarded && r.service.Token == ""
	if needsNoToken && slices.ContainsFunc(r.fronts, (*front).isExposed) {
		fmt.Fprintf(stderr, "%s: other machines can reach this, and no token is required\n", programName())
	}
	scheme := "http"
	if r.pair != nil {
		scheme = "https"
	}
	for _, f := range r.fronts {
		byVariant := "" // named if there are several variants
		if len(s.listenAt) > 0 {
			byVariant = " by " + f.name
		}
		fmt.Fprintf(stderr, "%s: serving %s%s at %s://%s\n", programName(), s.app.Name, byVariant, scheme, f.listen.Addr())
		fmt.Fprintf(stderr, "%s: try: %s\n", programName(), r.service.tryCommand(f.name, newAddress(f.listen.Addr(), r.pair != nil)))
	}
}

func programName() string { return strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") }
