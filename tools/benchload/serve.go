package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/load"
)

// runServer runs a server on net/http until its standard input ends.
func runServer(args []string, stdin io.Reader) error {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	addr := flags.String("addr", "", "host:port")
	way := flags.String("way", plain, "")
	body := flags.Int("body", 100, "bytes")
	if err := flags.Parse(args); err != nil {
		return err
	}
	text := strings.Repeat("x", *body)
	s := &http.Server{Addr: *addr, ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		_, _ = io.WriteString(w, text)
	})}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		return err
	}
	go func() { // the parent closes stdin to end the server
		_, _ = io.Copy(io.Discard, stdin)
		s.Close()
	}()
	switch *way {
	case secure:
		certified := httptest.NewUnstartedServer(nil) // only for its certificate
		certified.StartTLS()
		defer certified.Close()
		s.TLSConfig = &tls.Config{Certificates: certified.TLS.Certificates, NextProtos: []string{"http/1.1"}}
		return s.ServeTLS(l, "", "")
	case h2c, grpc:
		if *way == grpc {
			s.Handler = http.HandlerFunc(serveHealth)
		}
		s.Protocols = new(http.Protocols)
		s.Protocols.SetHTTP1(true)
		s.Protocols.SetUnencryptedHTTP2(true)
	}
	return s.Serve(l)
}

// runLoad runs package load once and prints its report as JSON, which packageLoad.read parses.
func runLoad(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("drive", flag.ContinueOnError)
	addr := flags.String("addr", "", "host:port")
	connections := flags.Int("connections", 0, "")
	duration := flags.Duration("duration", 0, "")
	rate := flags.Float64("rate", 0, "")
	way := flags.String("way", plain, "")
	engine := flags.String("engine", "", "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	o := load.Options{
		Target: load.Target{Addr: *addr}, Connections: *connections, Threads: 1, Engine: load.Engine(*engine),
		Requests: []load.Request{{Method: "GET", Path: "/"}},
	}
	switch *way {
	case secure:
		o.Target.TLS = insecureTLS()
	case h2c:
		o.Protocol = load.H2C
	case grpc:
		o.Protocol, o.Requests = load.GRPC, []load.Request{{Method: "POST", Path: "/" + healthMethod}}
	}
	s, err := load.Open(o)
	if err != nil {
		return err
	}
	defer s.Close()
	phase := load.Leg{Duration: *duration}
	if *rate > 0 {
		phase.Profile = load.Constant{PerSecond: *rate}
	}
	r, err := s.Run(ctx, phase)
	if err != nil {
		return err
	}
	if r.FirstError != "" {
		return fmt.Errorf("errors %v, the first: %s", r.Errors, r.FirstError)
	}
	return json.NewEncoder(stdout).Encode(report{
		Requests: r.Requests, Sent: r.Sent, Late: r.Late,
		P50: time.Duration(r.Latency.Quantile(0.5)), P99: time.Duration(r.Latency.Quantile(0.99)), LagP99: time.Duration(r.SendLag.Quantile(0.99)),
	})
}

// insecureTLS returns a configuration that accepts any certificate, as the other tools do.
func insecureTLS() *tls.Config { return &tls.Config{InsecureSkipVerify: true} } //nolint:gosec // our own server

type server struct {
	addr  string
	cmd   *exec.Cmd
	stdin io.Closer
}

// startServer starts a server and waits until it answers. line is its shell command; "" means a server of
// this program. cpus are its processors; "" means any.
func (b *bench) startServer(ctx context.Context, line, way, cpus string, body int) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{addr: l.Addr().String()}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close() // the port is free again, for the server
	if line == "" {
		s.cmd = newCommand(ctx, cpus, b.self, "serve", "-addr", s.addr, "-way", way, "-body", strconv.Itoa(body))
	} else {
		s.cmd = newCommand(ctx, cpus, "sh", "-c", "exec "+strings.NewReplacer("$PORT", strconv.Itoa(port), "$BODY", strconv.Itoa(body)).Replace(line))
		s.cmd.Env = append(os.Environ(), "PORT="+strconv.Itoa(port))
	}
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: insecureTLS()}}
	for range 100 {
		var r *http.Response
		if r, err = client.Get(job{addr: s.addr, way: way}.url()); err == nil {
			r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return s, nil
			}
			err = fmt.Errorf("status %d", r.StatusCode)
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	s.close()
	return nil, fmt.Errorf("the server %q: %w", line, err)
}

// close ends the server, and kills it after 5 seconds.
func (s *server) close() {
	s.stdin.Close()
	_ = s.cmd.Process.Signal(os.Interrupt)
	timer := time.AfterFunc(5*time.Second, func() { _ = s.cmd.Process.Kill() })
	defer timer.Stop()
	_ = s.cmd.Wait()
}

// newCommand returns a command that runs on the processors cpus; "" means any.
func newCommand(ctx context.Context, cpus, name string, args ...string) *exec.Cmd {
	if cpus != "" {
		name, args = "taskset", append([]string{"-c", cpus, name}, args...)
	}
	return exec.CommandContext(ctx, name, args...)
}
