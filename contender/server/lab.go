package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/wire"
)

// Spec is what a lab tells a server besides how to be configured.
type Spec struct {
	App string `json:"app"`
}

// What a lab can configure of every server: keys of a workload's set. Those of
// an app are its [Settings].
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
	s, err := configured(spec.App, w.Set)
	if err != nil {
		return contender.Served{}, err
	}
	s.variant = variant
	r, err := a.start(s)
	if err != nil {
		return contender.Served{}, err
	}
	if err := r.answers(patience); err != nil {
		_ = r.stop(grace)
		return contender.Served{}, err
	}
	r.receipts.reset()
	return contender.Served{
		Addr: r.addr, Counts: r.counts,
		End:  func() error { return r.stop(mercy) },
		Stop: func() { _ = r.stop(grace) },
	}, nil
}

// configured is how a lab wants an app to be served.
func configured(app string, set map[string]string) (setup, error) {
	c, err := defaults(app, true)
	if err != nil {
		return setup{}, err
	}
	known := []string{SetLog, SetLogFile, SetTLSCert, SetTLSKey}
	own := Settings(app)
	for _, s := range own {
		known = append(known, s.Name)
	}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		switch at := slices.Index(known, key); {
		case at < 0:
			return setup{}, fmt.Errorf("unknown setting %q of app %q; it knows %s", key, app, strings.Join(known, ", "))
		case at < len(known)-len(own):
		default:
			if err := c.set(key, set[key]); err != nil {
				return setup{}, err
			}
		}
	}
	if c.homelab.Rate > 0 {
		c.homelab.Now = time.Now // otherwise nothing in a house depends on when it is asked
	}
	return setup{
		app: app, addr: "127.0.0.1:0", log: set[SetLog], logFile: set[SetLogFile],
		cert: set[SetTLSCert], key: set[SetTLSKey], stdout: os.Stdout, config: c,
	}, nil
}

const (
	// patience is how long a server may take from its start to its first answer.
	patience = 20 * time.Second
	// grace is how long requests under way may take when it is to end.
	grace = 2 * time.Second
	// mercy is how long they may take when the lab looks how long they do.
	mercy = 10 * time.Second
	// linger is how much longer Serve may take to return, and then the service
	// to close, at least.
	linger = 200 * time.Millisecond
)

// setup is all that is said about a server before it starts.
type setup struct {
	app, variant string
	addr         string // host:port to listen at
	log, logFile string
	cert, key    string // paths; empty: no TLS
	stdout       *os.File
	config       config // of the app
}

// running is a server that was started.
type running struct {
	addr     string
	server   Server
	receipts *Receipts
	service  service
	encrypts bool
	ended    chan error // what Serve returned
	log      func()     // closes it
	stopping sync.Once
}

// counts is what the server and its service say that they did.
func (r *running) counts() contender.Counts {
	c := r.receipts.counts()
	c.Delivered = r.service.delivered()
	return c
}

// start listens and serves.
func (a Apps) start(s setup) (_ *running, err error) {
	r := &running{receipts: &Receipts{}, ended: make(chan error, 1), log: func() {}}
	defer func() {
		if err != nil {
			err = also(err, r.close(linger))
		}
	}()
	o := Options{Variant: s.variant, Receipts: r.receipts}
	if o.TLS, err = loadTLS(s.cert, s.key); err != nil {
		return nil, err
	}
	if o.Log, r.log, err = openLog(s.log, s.logFile, s.stdout); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", s.addr)
	if err != nil {
		return nil, err
	}
	if r.service, err = s.config.open(s.app); err == nil {
		o.Ingest, o.Homelab = r.service.ingest, r.service.homelab
		r.server, err = a[s.app](o)
	}
	if err != nil {
		_ = l.Close()
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

// close closes what the server has used, after it has ended.
func (r *running) close(limit time.Duration) error {
	err := r.service.close(limit)
	r.log()
	return err
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
		if err == nil {
			return nil
		}
		select {
		case ended := <-r.ended: // which is why it does not answer
			return r.quit(ended)
		default:
			return fmt.Errorf("the server at %s does not answer: %w", r.addr, err)
		}
	case err := <-r.ended:
		<-answered
		return r.quit(err)
	}
}

// quit is that the server has ended with err before anybody told it to.
func (r *running) quit(err error) error {
	r.ended <- err
	if err == nil {
		err = errors.New("it ended")
	}
	return fmt.Errorf("the server does not serve: %w", err)
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

// also is two errors in one line, where there are two.
func also(err, more error) error {
	if err == nil || more == nil {
		return errors.Join(err, more)
	}
	return fmt.Errorf("%w; %w", err, more)
}

// stop shuts the server down and waits for its end; after limit it is given up.
// Its service is closed only then. Once it has stopped nothing happens.
func (r *running) stop(limit time.Duration) (err error) {
	r.stopping.Do(func() {
		deadline := time.Now().Add(limit)
		ctx, cancel := context.WithDeadline(context.Background(), deadline)
		defer cancel()
		err = r.server.Shutdown(ctx)
		select {
		case <-r.ended:
		case <-time.After(linger):
		}
		err = also(err, r.close(max(linger, time.Until(deadline))))
	})
	return err
}
