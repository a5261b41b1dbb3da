package server

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Environment variables that a server started without a lab looks at, where
// its command line says nothing.
const (
	EnvApp  = "TARE_APP"
	EnvAddr = "TARE_ADDR"
	EnvLog  = "TARE_LOG"
)

// farewell is how long requests under way may take after a signal.
const farewell = 4500 * time.Millisecond

// alone is a program without a lab.
type alone struct {
	apps     Apps
	variants []string
}

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
	r, err := a.apps.start(s)
	if err != nil {
		return err
	}
	scheme := "http"
	if r.encrypts {
		scheme = "https"
	}
	fmt.Fprintf(stderr, "%s: serving %s at %s://%s\n", name(), s.app, scheme, r.addr)
	select {
	case err := <-r.ended:
		r.close()
		return fmt.Errorf("serving ended: %w", err)
	case <-ctx.Done():
	}
	if err := r.stop(farewell); err != nil {
		fmt.Fprintf(stderr, "%s: not everything had ended in time: %v\n", name(), err)
	}
	return nil
}

func name() string { return strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") }

// parse reads the command line. An error is one line.
func (a alone) parse(args []string, help io.Writer, env func(string) string) (setup, error) {
	or := func(key, otherwise string) string {
		if v := env(key); v != "" {
			return v
		}
		return otherwise
	}
	known := slices.Sorted(maps.Keys(a.apps))
	first := func(names []string) string { return strings.Join(names[:min(1, len(names))], "") }
	var s setup
	f := flag.NewFlagSet(name(), flag.ContinueOnError)
	f.StringVar(&s.app, "app", or(EnvApp, first(known)), "`app` to serve: "+strings.Join(known, ", "))
	f.StringVar(&s.addr, "addr", or(EnvAddr, "127.0.0.1:8080"), "`host:port` to listen at; port 0: any")
	f.StringVar(&s.log, "log", or(EnvLog, LogNone), "access log: none, stdout, discard or file:`PATH`")
	f.StringVar(&s.variant, "variant", first(a.variants), "`variant` to be: "+strings.Join(a.variants, ", "))
	f.StringVar(&s.cert, "tls-cert", "", "`file` of a certificate in PEM, to encrypt connections with")
	f.StringVar(&s.key, "tls-key", "", "`file` of its key in PEM")
	f.SetOutput(io.Discard)
	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(help, "%s is a server to be weighed by tare; without tare it serves alone:\n", name())
		f.SetOutput(help)
		f.PrintDefaults()
		return s, err
	}
	if path, ok := strings.CutPrefix(s.log, LogFile+":"); ok {
		s.log, s.logFile = LogFile, path
	}
	logs := []string{LogNone, LogStdout, LogDiscard, LogFile}
	switch {
	case err != nil:
		return s, fmt.Errorf("%w; -help lists the flags", err)
	case f.NArg() > 0:
		return s, fmt.Errorf("unexpected argument %q; -help lists the flags", f.Arg(0))
	case a.apps[s.app] == nil:
		return s, fmt.Errorf("unknown app %q; known: %s", s.app, strings.Join(known, ", "))
	case len(a.variants) == 0 && s.variant != "":
		return s, fmt.Errorf("there is only one variant, not %q", s.variant)
	case len(a.variants) > 0 && !slices.Contains(a.variants, s.variant):
		return s, fmt.Errorf("unknown variant %q; known: %s", s.variant, strings.Join(a.variants, ", "))
	case !slices.Contains(logs, s.log) || s.log == LogFile && s.logFile == "":
		return s, fmt.Errorf("unknown log %q; known: none, stdout, discard, file:PATH", s.log)
	case (s.cert == "") != (s.key == ""):
		return s, errors.New("-tls-cert and -tls-key go together")
	}
	return s, nil
}
