package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tarebench/tare/apps/homelab"
	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/wire"
)

// defaults are the values that settings have where nobody says anything.
func defaults(app string, weighed bool) (config, error) {
	var c config
	for _, s := range Settings(app) {
		value := s.Default
		if weighed {
			value = s.Weighed
		}
		if err := c.set(app, s.Name, value); err != nil {
			return c, err
		}
	}
	return c, nil
}

// service is what an app serves, behind its server.
type service struct {
	ingest  *ingest.Service
	homelab *homelab.House
	users   *users.Service
	store   users.Repository // of users
	seeded  int              // users in it
}

// opening is how long a store may take until it is open.
const opening = 50 * time.Second

// open makes the service of an app; other apps have none. Stores that package
// users does not have are opened by store, where that is not nil.
func (c config) open(app string, store users.Opener) (s service, err error) {
	switch app {
	case AppIngest:
		s.ingest, err = ingest.New(c.ingest)
	case AppHomelab:
		var devices []homelab.Device
		if devices, err = house(c.devices); err == nil {
			s.homelab, err = homelab.New(c.homelab, devices)
		}
	case AppUsers:
		ctx, cancel := context.WithTimeout(context.Background(), opening)
		defer cancel()
		s.seeded = c.seeded
		s.store, err = users.Open(ctx, c.store, c.seeded)
		switch {
		case errors.Is(err, users.ErrNoStore) && store == nil:
			kind, _, _ := strings.Cut(c.store, ":")
			err = fmt.Errorf("store %s is not built in: %w", kind, contender.ErrUnsupported)
		case errors.Is(err, users.ErrNoStore):
			s.store, err = store(ctx, c.store, c.seeded)
		}
		if err == nil {
			s.users = users.New(c.users, s.store)
		}
	}
	if err != nil {
		return s, fmt.Errorf("%s: %w", app, err)
	}
	return s, nil
}

// check reports what is wrong with values that are sound each by itself.
func (c config) check(app string) error {
	if app != AppHomelab {
		return nil
	}
	c.homelab.Now = time.Now
	_, err := homelab.New(c.homelab, nil)
	return err
}

// house has n devices, the same in every process.
func house(n int) ([]homelab.Device, error) {
	bodies, err := fixture.Pool("devices", n, 1)
	if err != nil {
		return nil, err
	}
	var devices []homelab.Device
	if err := json.Unmarshal(bodies[0], &devices); err != nil {
		return nil, err
	}
	return devices, nil
}

// delivered is how many items the service's sink has taken.
func (s service) delivered() int64 {
	if s.ingest == nil {
		return 0
	}
	return s.ingest.Delivered()
}

// resetting is how long a store may take to go back to how it was.
const resetting = 50 * time.Second

// resets is how the service goes back to how it was; nil: it cannot.
func (s service) resets() func() error {
	if s.users == nil {
		return nil
	}
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), resetting)
		defer cancel()
		return s.users.Reset(ctx, s.seeded)
	}
}

// calls are the use-case calls that the service was asked for; nil: it does not
// count them.
func (s service) calls() *wire.Calls {
	if s.users == nil {
		return nil
	}
	c := s.users.Calls()
	return &wire.Calls{Create: c.Create, Get: c.Get, Update: c.Update, Delete: c.Delete, List: c.List, Sum: c.Sum}
}

// fault is what the service failed with first; nil: it has not.
func (s service) fault() error {
	if s.users == nil {
		return nil
	}
	return s.users.Fault()
}

// close waits for what the service still keeps, as long as limit lasts.
func (s service) close(limit time.Duration) error {
	var end func() error
	what := "sink"
	switch {
	case s.ingest != nil:
		end = s.ingest.Close
	case s.store != nil:
		end, what = s.store.Close, "store"
	default:
		return nil
	}
	closed := make(chan error, 1)
	go func() { closed <- end() }()
	select {
	case err := <-closed:
		return err
	case <-time.After(limit):
		return fmt.Errorf("the %s is not closed after %v", what, limit)
	}
}
