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

// A lab is the tare process that measures a server and starts it. alone.go starts one without a lab.

// Spec is the specification of a server in [wire.Workload.Spec].
type Spec struct {
	App string `json:"app"`
}

// Settings of every server under a lab, keys of [wire.Workload.Set]. Those of an app are in [Config].
const (
	SetLog     = "log"      // destination of the access log, e.g. discard; no log if omitted
	SetLogFile = "log_file" // path of the log file
	SetTLSCert = "tls_cert" // path of a certificate in PEM; turns on encryption
	SetTLSKey  = "tls_key"  // path of the certificate's key in PEM
)

type setup struct {
	app          App
	variant      string
	addr         string
	listenAt     []listenSpec // replaces variant and addr; may be nil
	log, logFile string
	cert, key    string // paths; "" for no TLS
	stdout       *os.File
	config       Config
	lab          bool
	maxConns     int      // 0 means no limit
	hosts        []string // more hosts in requests to a loopback address
}

type listenSpec struct{ variant, addr string }

// serveLab starts the server for a workload on a loopback address. The lab counts its requests.
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

func newLabSetup(app App, set map[string]string) (setup, error) {
	s := setup{
		app: app, addr: "127.0.0.1:0", log: set[SetLog], logFile: set[SetLogFile],
		cert: set[SetTLSCert], key: set[SetTLSKey], stdout: os.Stdout, config: app.New(), lab: true,
	}
	list := s.config.Settings()
	if err := setDefaults(list, true); err != nil {
		return setup{}, err
	}
	common := []string{SetLog, SetLogFile, SetTLSCert, SetTLSKey} // s has these already
	settings := map[string]Setting{}                              // by name
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
	// startTimeout is the time to a server's first answer.
	startTimeout = 20 * time.Second
	// grace is the time of requests in flight when a server stops.
	grace = 2 * time.Second
	// timedShutdown replaces grace if the shutdown is timed.
	timedShutdown = 10 * time.Second
	// linger is the time for Serve to return after a shutdown. The service then has at least this time to
	// close.
	linger = 200 * time.Millisecond
)
