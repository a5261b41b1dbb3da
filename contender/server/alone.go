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

// Environment variables that a server started without a lab looks at, where
// its command line says nothing. [Setting.Env] are others.
const (
	EnvApp  = "TARE_APP"
	EnvAddr = "TARE_ADDR"
	EnvLog  = "TARE_LOG"
	EnvFace = "TARE_FACE" // of programs that serve several at once

	EnvMaxConns = "TARE_MAX_CONNS"
	EnvHosts    = "TARE_HOSTS"

	EnvTLSCert = "TARE_TLS_CERT"
	EnvTLSKey  = "TARE_TLS_KEY"
)

// farewell is how long requests under way may take after a signal.
const farewell = 4500 * time.Millisecond

// alone is a program without a lab.
type alone struct{ Host }

// main serves until a signal comes. It returns 0 after that, 1 where it cannot
// serve, 2 where the command line makes no sense.
func (a alone) main(args []string, stdout, stderr io.Writer) int {
	s, err := a.parse(args, stderr, os.Getenv)
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
	if err := a.serve(ctx, s, stderr); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// serve serves until ctx is done.
func (a alone) serve(ctx context.Context, s setup, stderr io.Writer) error {
	r, err := a.start(s)
	if err != nil {
		return err
	}
	scheme := "http"
	var renew chan os.Signal // nil: a hang-up is an end
	if r.pair != nil {
		scheme, renew = "https", make(chan os.Signal, 1)
		signal.Notify(renew, syscall.SIGHUP)
		defer signal.Stop(renew)
	}
	for _, line := range r.service.Notices {
		fmt.Fprintf(stderr, "%s: %s\n", name(), line)
	}
	if !r.service.Guarded && r.service.Token == "" && slices.ContainsFunc(r.fronts, (*front).exposed) {
		fmt.Fprintf(stderr, "%s: other machines can reach this, and no token is required\n", name())
	}
	for _, f := range r.fronts {
		by := ""
		if len(s.faces) > 0 {
			by = " by " + f.name
		}
		fmt.Fprintf(stderr, "%s: serving %s%s at %s://%s\n", name(), s.app.Name, by, scheme, f.listen.Addr())
		fmt.Fprintf(stderr, "%s: try: %s\n", name(), r.service.try(f.name, reachable(f.listen.Addr(), r.pair != nil)))
	}
	for serving := true; serving; {
		select {
		case err := <-r.ended:
			r.ended <- nil // which stop waits for
			return also(fmt.Errorf("serving ended: %w", err), r.stop(linger))
		case <-renew:
			if err := r.pair.load(); err != nil {
				fmt.Fprintf(stderr, "%s: the old certificate remains in use: %v\n", name(), err)
				continue
			}
			fmt.Fprintf(stderr, "%s: new connections have the certificate that is in %s now\n", name(), s.cert)
		case <-ctx.Done():
			serving = false
		}
	}
	if err := r.stop(farewell); err != nil {
		fmt.Fprintf(stderr, "%s: not everything had ended in time: %v\n", name(), err)
	}
	return nil
}

func name() string { return strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") }
