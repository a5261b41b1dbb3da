package server

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/tarebench/tare/app/homelab"
	"github.com/tarebench/tare/app/ingest"
	"github.com/tarebench/tare/contender/fixture"
)

// defaults are the values that settings have where nobody says anything.
func defaults(app string, weighed bool) (config, error) {
	var c config
	for _, s := range Settings(app) {
		value := s.Default
		if weighed {
			value = s.Weighed
		}
		if err := c.set(s.Name, value); err != nil {
			return c, err
		}
	}
	return c, nil
}

// service is what an app serves, behind its server.
type service struct {
	ingest  *ingest.Service
	homelab *homelab.House
}

// open makes the service of an app; other apps have none.
func (c config) open(app string) (s service, err error) {
	switch app {
	case AppIngest:
		s.ingest, err = ingest.New(c.ingest)
	case AppHomelab:
		var devices []homelab.Device
		if devices, err = house(c.devices); err == nil {
			s.homelab, err = homelab.New(c.homelab, devices)
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

// close waits for what the service still keeps, as long as limit lasts.
func (s service) close(limit time.Duration) error {
	if s.ingest == nil {
		return nil
	}
	closed := make(chan error, 1)
	go func() { closed <- s.ingest.Close() }()
	select {
	case err := <-closed:
		return err
	case <-time.After(limit):
		return fmt.Errorf("the sink is not closed after %v", limit)
	}
}
