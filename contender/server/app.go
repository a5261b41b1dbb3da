package server

import (
	"context"
	"fmt"
	"time"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/wire"
)

// Make makes a server for one app. It does not listen yet.
type Make func(o Options) (Server, error)

// App is a service that a program implements with its framework. Packages apps/NAME/serving make one from a
// function of the program; [Plain] suits an app without settings.
type App struct {
	Name  string
	HTTP2 bool          // encrypted connections to the app may use HTTP/2
	New   func() Config // returns the configuration before any setting is set
}

// Apps lists the apps of a program.
type Apps []App

// Config is the configuration of an app's service.
type Config interface {
	// Settings returns the settings in the order of the help text.
	Settings() []Setting

	// Check returns an error for a combination of values that are each valid.
	Check() error

	// Open opens the service. lab is true if tare measures the program. The service then leaves nothing
	// behind.
	Open(lab bool) (Service, error)
}

// Service is what all servers of an app share, such as its store. Functions may be nil, except Make. "Without
// a lab" means that tare does not measure the program.
type Service struct {
	Make Make

	Delivered func() int64                    // items that the service has delivered
	Calls     func() wire.Calls               // by use case
	Fault     func() error                    // first failure of the service
	Reset     func(ctx context.Context) error // restores the initial state
	Close     func() error                    // closes the service's sink or store
	Keeps     string                          // what Close closes, in messages: sink or store
	Guarded   bool                            // the app has a secret, so no warning is needed
	Token     string                          // Bearer token of requests without a lab; "" means none
	Types     []string                        // media types of bodies over HTTP without a lab; nil: all that browsers do not send for other sites
	MaxBody   int64                           // maximum bytes of a body without a lab; if 0, [DefaultMaxBody]
	Notices   []string                        // lines to print at the start

	Ready   func(ctx context.Context) error         // why the service cannot serve now, in one line without secrets
	Metrics func() []byte                           // metrics in the text format of Prometheus; counters end in _total
	OpenAPI func(variant string) []byte             // OpenAPI document with all paths; nil if the variant has none
	Refuse  func(status int, message string) []byte // body of an error response, such as 404
	Routes  func(variant string) []string           // routes of a variant without an OpenAPI document, such as POST /pkg.Service/Method

	// Try returns a shell command with a valid request. If nil, the command requests /health.
	Try func(variant string, a Address) string
}

// DefaultMaxBody limits a body without a lab, in bytes, unless the app does.
const DefaultMaxBody = 1 << 20

// Plain returns an app without settings, with only a server.
func Plain(name string, serve Make) App {
	return App{Name: name, New: func() Config { return plain{serve} }}
}

type plain struct{ serve Make }

func (plain) Settings() []Setting          { return nil }
func (plain) Check() error                 { return nil }
func (p plain) Open(bool) (Service, error) { return Service{Make: p.serve}, nil }

func (list Apps) findApp(name string) (App, bool) {
	for _, a := range list {
		if a.Name == name {
			return a, true
		}
	}
	return App{}, false
}

// resetTimeout limits restoring a store.
const resetTimeout = 50 * time.Second

func (s Service) resetFunc() func() error {
	if s.Reset == nil {
		return nil
	}
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), resetTimeout)
		defer cancel()
		return s.Reset(ctx)
	}
}

func (s Service) addCounts(c contender.Counts) contender.Counts {
	if s.Delivered != nil {
		c.Delivered = s.Delivered()
	}
	if s.Calls != nil {
		calls := s.Calls()
		c.Calls = &calls
	}
	if s.Fault != nil {
		c.Fault = s.Fault()
	}
	return c
}

func (s Service) closeWithin(limit time.Duration) error {
	if s.Close == nil {
		return nil
	}
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	select {
	case err := <-closed:
		return err
	case <-time.After(limit):
		return fmt.Errorf("the %s is not closed after %v", s.Keeps, limit)
	}
}
