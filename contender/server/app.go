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

// App is a service that a program serves. Packages apps/NAME/serving turn a
// function of the program into one; [Plain] does for apps without settings.
type App struct {
	Name  string
	HTTP2 bool          // its encrypted connections may be of HTTP/2
	New   func() Config // with no setting made yet
}

// Apps are the apps that a program serves.
type Apps []App

// Config is how the service of an app is to be.
type Config interface {
	// Settings are what can be chosen, in the order in which they are shown.
	Settings() []Setting

	// Check reports what is wrong with values that are sound each by itself.
	Check() error

	// Open makes the service. Under a lab nothing of it outlives the program.
	Open(lab bool) (Service, error)
}

// Service is what an app serves, behind its servers. Every function but Make may
// be nil.
type Service struct {
	Make Make

	Delivered func() int64                    // items that have arrived behind the service
	Calls     func() wire.Calls               // use-case calls that it was asked for
	Fault     func() error                    // what it failed with first
	Reset     func(ctx context.Context) error // how it goes back to how it was
	Close     func() error                    // closes what Keeps names: its sink or its store
	Keeps     string
	Guarded   bool     // the app itself asks requests for a secret
	Token     string   // that requests must carry as Authorization: Bearer, alone; empty: none
	Types     []string // media types that bodies over HTTP have, alone; nil: any that browsers do not send for pages of other sites
	MaxBody   int64    // bytes of a body at most, alone; 0: [DefaultMaxBody]
	Notices   []string // what whoever starts it should know, in lines

	Ready   func(ctx context.Context) error         // why it cannot serve for now, in one line that strangers may read
	Metrics func() []byte                           // as text that Prometheus reads; counters end in _total
	OpenAPI func(variant string) []byte             // its description, which has all its paths; nil: the variant has none
	Refuse  func(status int, message string) []byte // the body of a refusal, such as 401 or 404, in its form
	Routes  func(variant string) []string           // such as POST /pkg.Service/Method, where there is no description

	// Try is a shell command, of one line, that asks a variant at an address for
	// something and gets it. Nil: it asks for /health.
	Try func(variant string, at Address) string
}

// DefaultMaxBody is how many bytes a body may have, alone, unless the app says.
const DefaultMaxBody = 1 << 20

// Plain is an app without settings, whose service is nothing but its server.
func Plain(name string, serve Make) App {
	return App{Name: name, New: func() Config { return plain{serve} }}
}

type plain struct{ serve Make }

func (plain) Settings() []Setting          { return nil }
func (plain) Check() error                 { return nil }
func (p plain) Open(bool) (Service, error) { return Service{Make: p.serve}, nil }

// named finds an app.
func (list Apps) named(name string) (App, bool) {
	for _, a := range list {
		if a.Name == name {
			return a, true
		}
	}
	return App{}, false
}

// resetting is how long a store may take to go back to how it was.
const resetting = 50 * time.Second

// resets is how the service goes back to how it was; nil: it cannot.
func (s Service) resets() func() error {
	if s.Reset == nil {
		return nil
	}
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), resetting)
		defer cancel()
		return s.Reset(ctx)
	}
}

// counts adds what the service says that it did.
func (s Service) counts(c contender.Counts) contender.Counts {
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

// close waits for what the service still keeps, as long as limit lasts.
func (s Service) close(limit time.Duration) error {
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
