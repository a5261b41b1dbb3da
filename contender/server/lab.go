package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/wire"
)

// Spec is what a lab tells a server besides how to be configured.
type Spec struct {
	App string `json:"app"`
}

// What a lab can configure of every server: keys of a workload's set. Those of
// an app are its settings.
const (
	SetLog     = "log"      // where the access log goes, e.g. discard; left out: none
	SetLogFile = "log_file" // log file: its path
	SetTLSCert = "tls_cert" // path of a certificate in PEM; with it connections are encrypted
	SetTLSKey  = "tls_key"  // path of its key in PEM
)

// serve starts the server for a workload on a loopback address.
func (h Host) serve(variant string, w wire.Workload) (contender.Served, error) {
	var spec Spec
	if len(w.Spec) > 0 {
		if err := json.Unmarshal(w.Spec, &spec); err != nil {
			return contender.Served{}, fmt.Errorf("spec: %w", err)
		}
	}
	app, ok := h.Apps.named(spec.App)
	if !ok {
		return contender.Served{}, fmt.Errorf("app %q: %w", spec.App, contender.ErrUnsupported)
	}
	s, err := configured(app, w.Set)
	if err != nil {
		return contender.Served{}, err
	}
	s.variant = variant
	r, err := h.start(s)
	if err != nil {
		return contender.Served{}, err
	}
	if err := r.answers(patience); err != nil {
		_ = r.stop(grace)
		return contender.Served{}, err
	}
	r.receipts.reset()
	return contender.Served{
		Addr: r.addr, Counts: r.counts, Reset: r.service.resets(),
		End:  func() error { return r.stop(timedShutdown) },
		Stop: func() { _ = r.stop(grace) },
	}, nil
}

// configured is how a lab wants an app to be served.
func configured(app App, set map[string]string) (setup, error) {
	s := setup{
		app: app, addr: "127.0.0.1:0", log: set[SetLog], logFile: set[SetLogFile],
		cert: set[SetTLSCert], key: set[SetTLSKey], stdout: os.Stdout, config: app.New(), lab: true,
	}
	list := s.config.Settings()
	if err := defaults(list, true); err != nil {
		return setup{}, err
	}
	known := []string{SetLog, SetLogFile, SetTLSCert, SetTLSKey}
	common := len(known)
	for _, own := range list {
		known = append(known, own.Name)
	}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		switch at := slices.Index(known, key); {
		case at < 0:
			return setup{}, fmt.Errorf("unknown setting %q of app %q; it knows %s", key, app.Name, strings.Join(known, ", "))
		case at >= common:
			if err := list[at-common].set(set[key]); err != nil {
				return setup{}, err
			}
		}
	}
	return s, nil
}

const (
	// patience is how long a server may take from its start to its first answer.
	patience = 20 * time.Second
	// grace is how long requests under way may take when it is to end.
	grace = 2 * time.Second
	// timedShutdown is the shutdown timeout while the lab times shutdown.
	timedShutdown = 10 * time.Second
	// linger is how much longer Serve may take to return, and then the service
	// to close, at least.
	linger = 200 * time.Millisecond
)

// setup is all that is said about a server before it starts.
type setup struct {
	app          App
	variant      string
	addr         string   // host:port to listen at
	faces        []facing // in place of variant and addr, where there are several
	log, logFile string
	cert, key    string // paths; empty: no TLS
	stdout       *os.File
	config       Config   // of the app
	lab          bool     // it is started by one
	most         int      // connections; zero: any number
	hosts        []string // that requests to a loopback address may be for, besides its own
}

// facing is a variant and the host:port that it is to listen at.
type facing struct{ variant, addr string }
