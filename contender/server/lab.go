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

// Spec is a lab's data for a server besides its settings.
type Spec struct {
	App string `json:"app"`
}

// Settings of every server under a lab: keys of a workload's set. Those of
// an app are in its [Config].
const (
	SetLog     = "log"      // destination of the access log, e.g. discard; none if omitted
	SetLogFile = "log_file" // path of the log file
	SetTLSCert = "tls_cert" // path of a certificate in PEM, which turns on encryption
	SetTLSKey  = "tls_key"  // path of its key in PEM
)

// serveLab starts the server for a workload on a loopback address.
func (h Host) serveLab(variant string, w wire.Workload) (contender.Served, error) {
	var spec Spec
	if len(w.Spec) > 0 {
		if err := json.Unmarshal(w.Spec, &spec); err != nil {
			return contender.Served{}, fmt.Errorf("spec: %w", err)
		}
	}
	app, ok := h.Apps.findApp(spec.App)
	if !ok {
		return contender.Served{}, fmt.Errorf("app %q: %w", spec.App, contender.ErrUnsupported)
	}
	s, err := newLabSetup(app, w.Set)
	if err != nil {
		return contender.Served{}, err
	}
	s.variant = variant
	r, err := h.startServer(s)
	if err != nil {
		return contender.Served{}, err
	}
	if err := r.awaitAnswer(startTimeout); err != nil {
		_ = r.stopServer(grace)
		return contender.Served{}, err
	}
	r.receipts.resetCounts()
	return contender.Served{
		Addr: r.addr, Counts: r.readCounts, Reset: r.service.resetFunc(),
		End:  func() error { return r.stopServer(timedShutdown) },
		Stop: func() { _ = r.stopServer(grace) },
	}, nil
}

// newLabSetup returns the setup of an app with a lab's settings.
func newLabSetup(app App, set map[string]string) (setup, error) {
	s := setup{
		app: app, addr: "127.0.0.1:0", log: set[SetLog], logFile: set[SetLogFile],
		cert: set[SetTLSCert], key: set[SetTLSKey], stdout: os.Stdout, config: app.New(), lab: true,
	}
	list := s.config.Settings()
	if err := setDefaults(list, true); err != nil {
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
			if err := list[at-common].setValue(set[key]); err != nil {
				return setup{}, err
			}
		}
	}
	return s, nil
}

const (
	// startTimeout limits the time from the start of a server to its first answer.
	startTimeout = 20 * time.Second
	// grace limits the requests in flight at the end of a server.
	grace = 2 * time.Second
	// timedShutdown is the shutdown timeout while the lab times shutdown.
	timedShutdown = 10 * time.Second
	// linger is the additional time for Serve to return, and then for the service
	// to close, at least.
	linger = 200 * time.Millisecond
)

// setup contains all settings of a server before its start.
type setup struct {
	app          App
	variant      string
	addr         string       // host:port of the listener
	faces        []listenSpec // replaces variant and addr if there are several
	log, logFile string
	cert, key    string // paths; "" for no TLS
	stdout       *os.File
	config       Config   // of the app
	lab          bool     // started by a lab
	most         int      // maximum of connections; no limit if zero
	hosts        []string // further names that are allowed in requests to a loopback address
}

// listenSpec is a variant and the host:port of its listener.
type listenSpec struct{ variant, addr string }
