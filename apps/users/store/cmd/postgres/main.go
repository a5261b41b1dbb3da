// Command postgres starts a PostgreSQL server on loopback and prints its URL. An interrupt ends it:
//
//	go run ./cmd/postgres -dir /var/tmp/pg
//	postgres://tare:…@127.0.0.1:41893/postgres?sslmode=disable
//
// Package postgrestest documents its programs. Without -dir the data are removed at the end. With -dir the
// next start uses them with the same password.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/tarebench/tare/apps/users/store/postgrestest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := runServer(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// runServer runs a server until ctx ends, and returns 0. It returns 1 if the server fails, and 2 for wrong
// arguments.
func runServer(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("postgres", flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("dir", "", "`directory` to keep data in (default: one that goes with the server)")
	port := flags.Int("port", 0, "`port` on 127.0.0.1 (default: a free one)")
	sync := flags.Bool("sync", false, "wait for the disk at each commit, as a server in production does")
	verbose := flags.Bool("v", false, "write what the server says to the standard error")
	check := flags.Bool("check", false, "end once it has started: can it be had here?")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "postgres: takes flags only, not %q\n", flags.Arg(0))
		return 2
	}
	o := postgrestest.Options{Dir: *dir, Port: *port, Sync: *sync}
	if *verbose {
		o.Log = stderr
	}
	server, err := postgrestest.Start(ctx, o)
	if err != nil {
		fmt.Fprintln(stderr, "postgres:", err)
		return 1
	}
	code := 0
	if !*check {
		fmt.Fprintln(stdout, server.URL())
		select {
		case <-ctx.Done():
		case <-server.Done():
			fmt.Fprintln(stderr, "postgres: the server ended by itself")
			code = 1
		}
	}
	if err := server.Stop(); err != nil {
		fmt.Fprintln(stderr, "postgres:", err)
		code = 1
	}
	return code
}
