package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"
)

// The command prints a URL at which somebody listens, and leaves nobody.
func TestRun(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, in := io.Pipe()
	var stderr strings.Builder
	code := make(chan int, 1)
	go func() {
		code <- runServer(ctx, []string{"-v"}, in, &stderr)
		in.Close()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if got := 0; err != nil {
		if got = <-code; os.Getenv("TARE_POSTGRES_REQUIRED") != "1" {
			t.Skip(stderr.String())
		}
		t.Fatalf("no URL: %v, code %d: %s", err, got, stderr.String())
	}
	u, err := url.Parse(strings.TrimSpace(line))
	if err != nil || u.Scheme != "postgres" {
		t.Fatalf("%q is no URL of a server, error %v", line, err)
	}
	c, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	stop()
	if got := <-code; got != 0 {
		t.Errorf("code %d, want 0", got)
	}
	if !strings.Contains(stderr.String(), "ready to accept connections") {
		t.Errorf("with -v it says %q", stderr.String())
	}
	if c, err := net.Dial("tcp", u.Host); err == nil {
		c.Close()
		t.Error("somebody still listens")
	}
}

func TestRunRefuses(t *testing.T) {
	for args, want := range map[string]int{"-h": 0, "-nonsense": 2, "here": 2, "-dir=/dev/null/x": 1} {
		var stdout, stderr strings.Builder
		if got := runServer(t.Context(), []string{args}, &stdout, &stderr); got != want || stdout.Len() > 0 || stderr.Len() == 0 {
			t.Errorf("%s: code %d, output %q, errors %q; want code %d", args, got, stdout.String(), stderr.String(), want)
		}
	}
}
