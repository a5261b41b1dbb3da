// Package serving provides app users to programs: its settings, and how its store is opened.
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

// Serve makes a server for the service.
type Serve func(o server.Options, s *users.Service) (server.Server, error)

// App returns the app for a program that serves it with serve. It opens stores that package users
// does not have by more; nil if they are not built in. Try is that of [server.Service], and so is
// routes: a variant with routes of its own has none of the paths of users over HTTP. Nil means that
// all have those.
func App(serve Serve, more users.Opener, try func(variant string, at server.Address) string, routes func(variant string) []string) server.App {
	return server.App{Name: users.Name, HTTP2: true, New: func() server.Config { return &config{serve: serve, more: more, try: try, routes: routes} }}
}

type config struct {
	users.Config
	store  string
	token  string
	seeded int // users in it
	serve  Serve
	more   users.Opener
	try    func(variant string, at server.Address) string
	routes func(variant string) []string
}

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

// postgresKind is the kind of stores in databases on a server.
const postgresKind = "postgres"

// setStore checks the name of a store; whether it can be opened is found later.
func (c *config) setStore(name string) error {
	kind, place, hasPlace := strings.Cut(name, ":")
	valid := false
	switch kind {
	case users.MemoryStore, users.LinearStore:
		valid = !hasPlace
	case "sqlite", postgresKind:
		valid = place != ""
	}
	if !valid {
		return fmt.Errorf("%q is neither memory, linear, sqlite:FILE nor postgres:URL", name)
	}
	c.store = name
	return nil
}

func (c *config) Check() error { return nil }

// openTimeout bounds the time to open a store.
const openTimeout = 50 * time.Second

// Open opens the store. Under a lab a database is a new one: nothing of it is to remain, and
// existing ones stay untouched.
func (c *config) Open(lab bool) (server.Service, error) {
	name := c.store
	if lab && strings.HasPrefix(name, postgresKind+":") {
		name = users.Temporary + name
	}
	ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
	defer cancel()
	store, err := users.Open(ctx, name, c.seeded)
	switch {
	case errors.Is(err, users.ErrNoStore) && c.more == nil:
		kind, _, _ := strings.Cut(c.store, ":")
		err = fmt.Errorf("store %s is not built in: %w", kind, contender.ErrUnsupported)
	case errors.Is(err, users.ErrNoStore):
		store, err = c.more(ctx, name, c.seeded)
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
		Fault: s.Fault,
		Reset: func(ctx context.Context) error { return s.Reset(ctx, c.seeded) },
		Close: store.Close, Keeps: "store", Notices: c.noticeLines(), Token: c.token, Try: server.TryWith(c.token, c.try),
		Types: []string{"application/json"}, MaxBody: users.MaxBody, Ready: s.Ready, Metrics: s.Metrics, OpenAPI: c.openAPI, Routes: c.routes, Refuse: users.Refuse,
	}, nil
}

// openAPI describes the variants that have the paths of users over HTTP.
func (c *config) openAPI(variant string) []byte {
	if c.routes != nil && len(c.routes(variant)) > 0 {
		return nil
	}
	return users.OpenAPI()
}

func (c *config) noticeLines() []string {
	if c.store != users.MemoryStore && c.store != users.LinearStore {
		return nil
	}
	line := "users are kept in memory, and gone when this ends"
	if c.more != nil {
		line += "; -store sqlite:FILE keeps them"
	}
	return []string{line}
}
