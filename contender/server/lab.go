package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/wire"
)

// Spec is what a lab tells a server besides how to be configured.
type Spec struct {
	App string `json:"app"`
}

// What a lab can configure: keys of a workload's set.
const (
	SetLog     = "log"      // where the access log goes, e.g. discard; left out: none
	SetLogFile = "log_file" // log file: its path
	SetTLSCert = "tls_cert" // path of a certificate in PEM; with it connections are encrypted
	SetTLSKey  = "tls_key"  // path of its key in PEM
)

// serve starts the server for a workload on a loopback address.
func (a Apps) serve(variant string, w wire.Workload) (contender.Served, error) {
	var spec Spec
	if len(w.Spec) > 0 {
		if err := json.Unmarshal(w.Spec, &spec); err != nil {
			return contender.Served{}, fmt.Errorf("spec: %w", err)
		}
	}
	if _, ok := a[spec.App]; !ok {
		return contender.Served{}, fmt.Errorf("app %q: %w", spec.App, contender.ErrUnsupported)
	}
	for key := range w.Set {
		switch key {
		case SetLog, SetLogFile, SetTLSCert, SetTLSKey:
		default:
			return contender.Served{}, fmt.Errorf("unknown setting %q; a server knows %s, %s, %s and %s", key, SetLog, SetLogFile, SetTLSCert, SetTLSKey)
		}
	}
	r, err := a.start(setup{
		app: spec.App, variant: variant, addr: "127.0.0.1:0", log: w.Set[SetLog], logFile: w.Set[SetLogFile],
		cert: w.Set[SetTLSCert], key: w.Set[SetTLSKey], stdout: os.Stdout,
	})
	if err != nil {
		return contender.Served{}, err
	}
	if err := r.answers(patience); err != nil {
		_ = r.stop(grace)
		return contender.Served{}, err
	}
	r.receipts.reset()
	return contender.Served{Addr: r.addr, Counts: r.receipts.counts, Stop: func() { _ = r.stop(grace) }}, nil
}

const (
	// patience is how long a server may take from its start to its first answer.
	patience = 20 * time.Second
	// grace is how long requests under way may take when it is to end.
	grace = 2 * time.Second
	// linger is how much longer Serve may take to return.
	linger = 200 * time.Millisecond
)

// setup is all that is said about a server before it starts.
type setup struct {
	app, variant string
	addr         string // host:port to listen at
	log, logFile string
	cert, key    string // paths; empty: no TLS
	stdout       *os.File
}

// running is a server that was started.
type running struct {
	addr     string
	server   Server
	receipts *Receipts
	encrypts bool
	ended    chan error // what Serve returned
	close    func()     // the log
}

// start listens and serves.
func (a Apps) start(s setup) (*running, error) {
	r := &running{receipts: &Receipts{}, ended: make(chan error, 1)}
	o := Options{Variant: s.variant, Receipts: r.receipts}
	var err error
	if o.TLS, err = loadTLS(s.cert, s.key); err != nil {
		return nil, err
	}
	if o.Log, r.close, err = openLog(s.log, s.logFile, s.stdout); err != nil {
		return nil, err
	}
	if r.server, err = a[s.app](o); err != nil {
		r.close()
		return nil, err
	}
	l, err := net.Listen("tcp", s.addr)
	if err != nil {
		r.close()
		return nil, err
	}
	r.addr = l.Addr().String()
	if r.encrypts = o.TLS != nil; r.encrypts {
		l = tls.NewListener(l, o.TLS)
	}
	go func() {
		r.ended <- r.server.Serve(l)
		_ = l.Close()
	}()
	return r, nil
}

// loadTLS is the one configuration of all encrypted servers: TLS 1.3, HTTP/1.1.
func loadTLS(cert, key string) (*tls.Config, error) {
	if cert == "" && key == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"}}, nil
}

// answers waits until the server has answered a first request, of which its
// access log keeps a line.
func (r *running) answers(limit time.Duration) error {
	answered := make(chan error, 1)
	go func() { answered <- r.ask(limit) }()
	select {
	case err := <-answered:
		if err != nil {
			return fmt.Errorf("the server at %s does not answer: %w", r.addr, err)
		}
		return nil
	case err := <-r.ended:
		r.ended <- err
		<-answered
		if err == nil {
			err = errors.New("it ended")
		}
		return fmt.Errorf("the server does not serve: %w", err)
	}
}

// ask sends a request and reads the first line of its answer.
func (r *running) ask(limit time.Duration) error {
	conn, err := net.DialTimeout("tcp", r.addr, limit)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	if r.encrypts {
		conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}) // itself
	}
	if _, err := fmt.Fprintf(conn, "GET /health HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", r.addr); err != nil {
		return err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && !strings.HasPrefix(line, "HTTP/1.1 ") {
		err = fmt.Errorf("no HTTP/1.1: %.60q", line)
	}
	return err
}

// stop shuts the server down and waits for its end; after limit it is given up.
func (r *running) stop(limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := r.server.Shutdown(ctx)
	select {
	case <-r.ended:
	case <-time.After(linger):
	}
	r.close()
	return err
}
