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

// This file starts a server for a lab, the tare process that measures contenders. File alone.go starts one
// without a lab.

// Spec is the specification of a server in [wire.Workload.Spec].
type Spec struct {
	App string `json:"app"`
}

// Settings of every server under a lab: keys of the map [wire.Workload.Set]. An app has further settings: see
// [Config].
const (
	SetLog     = "log"      // destination of the access log, e.g. discard; none if omitted
	SetLogFile = "log_file" // path of the log file
	SetTLSCert = "tls_cert" // path of a certificate in PEM, which turns on encryption
	SetTLSKey  = "tls_key"  // path of the certificate's key in PEM
)

// setup contains all settings of a server before its start.
type setup struct {
	app          App
	variant      string
	addr         string       // host:port of the listener
	listenAt     []listenSpec // variants to serve in place of variant at addr; nil for only that one
	log, logFile string
	cert, key    string // paths; "" for no TLS
	stdout       *os.File
	config       Config   // configuration of the app
	lab          bool     // a lab started the program
	maxConns     int      // largest number of open connections; 0 for no limit
	hosts        []string // additional names that are allowed in requests to a loopback address
}

// listenSpec is a variant and the host:port of its listener.
type listenSpec struct{ variant, addr string }

// serveLab starts the server for a workload on a loopback address. The result contains the address and the functions
// by which the lab counts requests, restores the initial state, and ends or stops the server.
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
	r.receipts.resetCounts() // the request of awaitAnswer does not count
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
	common := []string{SetLog, SetLogFile, SetTLSCert, SetTLSKey} // settings of every server, which s has already
	settings := map[string]Setting{}                              // settings of the app, by name
	known := slices.Clone(common)
	for _, setting := range list {
		settings[setting.Name] = setting
		known = append(known, setting.Name)
	}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		if slices.Contains(common, key) {
			continue
		}
		setting, isKnown := settings[key]
		if !isKnown {
			return setup{}, fmt.Errorf("unknown setting %q of app %q; it knows %s", key, app.Name, strings.Join(known, ", "))
		}
		if err := setting.setValue(set[key]); err != nil {
			return setup{}, err
		}
	}
	return s, nil
}

const (
	// startTimeout limits the time from the start of a server to its first answer.
	startTimeout = 20 * time.Second
	// grace is the time that requests in flight have to end when a server is stopped.
	grace = 2 * time.Second
	// timedShutdown replaces grace while the lab measures the shutdown.
	timedShutdown = 10 * time.Second
	// linger is the additional time that Serve has to return after a shutdown, and the
	// least time that the service then has to close.
	linger = 200 * time.Millisecond
)
