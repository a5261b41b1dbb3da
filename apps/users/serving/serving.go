// Package serving lets programs serve app users, which stores users. It declares the settings and opens store
// and service.
package serving

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/wire"
)

// Names of settings.
const (
	SetStore     = "store"
	SetUsers     = "users"
	SetValidate  = "validate"
	SetFailOne   = "fail-one"
	SetRateLimit = "rate-limit"
	SetToken     = server.SetToken
)

// Serve makes a server for a service. Each program has its own, with another HTTP or RPC library.
type Serve func(o server.Options, s *users.Service) (server.Server, error)

// App returns app users for a program that makes its server with serve.
//
// openDatabase opens other stores than those of package users; nil means none. try and routes belong to
// [server.Service] and may be nil. A variant with routes does not have the HTTP paths of users.
func App(serve Serve, openDatabase users.Opener, try func(variant string, at server.Address) string, routes func(variant string) []string) server.App {
	return server.App{Name: users.Name, HTTP2: true, New: func() server.Config {
		return &config{serve: serve, openDatabase: openDatabase, try: try, routes: routes}
	}}
}

// config is the app's configuration. Settings store values in it.
type config struct {
	users.Config
	store        string // name of the store
	token        string // secret of every request; "" means none
	seeded       int    // users in a new store
	serve        Serve
	openDatabase users.Opener // nil means only the stores of package users
	try          func(variant string, at server.Address) string
	routes       func(variant string) []string
}

// Settings implements [server.Config].
func (c *config) Settings() []server.Setting {
	seeded := server.Chosen(SetUsers, "0", "`number` of users that a new store has", server.Number(&c.seeded, 0, 10_000_000))
	seeded.Measured = "1000"
	return []server.Setting{
		server.Chosen(SetStore, users.MemoryStore, "`store` of users: memory, linear, sqlite:FILE or postgres:URL; the database that the URL names is kept", c.setStore),
		seeded,
		server.Chosen(SetValidate, "1", "`times` that each user is validated", server.Number(&c.Validate, 1, 1000)),
		server.Chosen(SetFailOne, "0", "one call in so `many` fails; 0: none", server.Number(&c.FailOne, 0, 1_000_000_000)),
		server.Chosen(SetRateLimit, server.Off, "`requests` per second of all clients together; off: no limit", server.Rate(&c.Limit)),
		server.BearerToken(&c.token),
	}
}

const postgresKind = "postgres"

// setStore checks only the form of a store's name.
func (c *config) setStore(name string) error {
	kind, location, hasLocation := strings.Cut(name, ":")
	valid := false
	switch kind {
	case users.MemoryStore, users.LinearStore:
		valid = !hasLocation
	case "sqlite", postgresKind:
		valid = location != ""
	}
	if !valid {
		return fmt.Errorf("%q is neither memory, linear, sqlite:FILE nor postgres:URL", name)
	}
	c.store = name
	return nil
}

// Check accepts all combinations of settings.
func (c *config) Check() error { return nil }

// openTimeout limits the time to open a store, which may have to be filled.
const openTimeout = 50 * time.Second

// Open opens store and service. A measured program (lab) gets a temporary PostgreSQL database, so that nothing
// remains or changes.
func (c *config) Open(lab bool) (server.Service, error) {
	name := c.store
	if lab && strings.HasPrefix(name, postgresKind+":") {
		name = users.Temporary + name
	}
	ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
	defer cancel()
	store, err := users.Open(ctx, name, c.seeded)
	switch {
	case errors.Is(err, users.ErrNoStore) && c.openDatabase == nil:
		kind, _, _ := strings.Cut(c.store, ":")
		err = fmt.Errorf("store %s is not built in: %w", kind, contender.ErrUnsupported)
	case errors.Is(err, users.ErrNoStore):
		store, err = c.openDatabase(ctx, name, c.seeded)
	}
	if err != nil {
		return server.Service{}, err
	}
	s := users.New(c.Config, store)
	return server.Service{
		Make: func(o server.Options) (server.Server, error) { return c.serve(o, s) },
		Calls: func() wire.Calls {
			n := s.Calls()
			return wire.Calls{Create: n.Create, Get: n.Get, Update: n.Update, Delete: n.Delete, List: n.List, Sum: n.Sum}
		},
		Fault:   s.Fault,
		Reset:   func(ctx context.Context) error { return s.Reset(ctx, c.seeded) },
		Close:   store.Close,
		Keeps:   "store",
		Token:   c.token,
		Types:   []string{"application/json"},
		MaxBody: users.MaxBody,
		Notices: c.noticeLines(),
		Ready:   s.Ready,
		Metrics: s.Metrics,
		OpenAPI: c.openAPI,
		Refuse:  users.Refuse,
		Routes:  c.routes,
		Try:     server.TryWith(c.token, c.try),
	}, nil
}

// openAPI returns the description of the HTTP paths, or nil if the variant has none.
func (c *config) openAPI(variant string) []byte {
	if c.routes != nil && len(c.routes(variant)) > 0 {
		return nil
	}
	return users.OpenAPI()
}

// noticeLines returns lines to print at the start: that a store in memory loses its users.
func (c *config) noticeLines() []string {
	if c.store != users.MemoryStore && c.store != users.LinearStore {
		return nil
	}
	line := "users are kept in memory, and gone when this ends"
	if c.openDatabase != nil {
		line += "; -store sqlite:FILE keeps them"
	}
	return []string{line}
}
