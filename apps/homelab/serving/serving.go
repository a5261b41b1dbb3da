// Package serving provides app homelab to programs: its settings, and how the house is opened.
package serving

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/tarebench/tare/apps/homelab"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/server"
)

// Names of settings.
const (
	SetDevices   = "devices"
	SetOrigins   = "origins"
	SetRateLimit = "rate-limit"
	SetToken     = server.SetToken
)

// Serve makes a server for the house.
type Serve func(o server.Options, house *homelab.House) (server.Server, error)

// App returns the app for a program that serves it with serve.
func App(serve Serve) server.App {
	return server.App{Name: homelab.Name, New: func() server.Config { return &config{serve: serve} }}
}

type config struct {
	homelab.Config
	devices int
	token   string
	serve   Serve
}

func (c *config) Settings() []server.Setting {
	limit := server.Chosen(SetRateLimit, "500", "`requests` per minute of one client; off: no limit", server.Rate(&c.Rate))
	limit.Measured = server.Off
	return []server.Setting{
		server.Chosen(SetDevices, "50", "`number` of devices in the house", server.Number(&c.devices, 1, 100_000)),
		server.Chosen(SetOrigins, "", "`origins` that may read answers in a browser, with commas between them; *: any; empty: none", c.setOrigins),
		limit,
		server.BearerToken(&c.token),
	}
}

func (c *config) setOrigins(value string) error {
	c.Origins = strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
	return nil
}

func (c *config) Check() error {
	with := c.Config
	with.Now = time.Now
	_, err := homelab.New(with, nil)
	return err
}

// Open makes a house. Under a lab without a limit nothing in it depends on the time of requests.
func (c *config) Open(lab bool) (server.Service, error) {
	if !lab || c.Rate > 0 {
		c.Now = time.Now
	}
	devices, err := Devices(c.devices)
	if err != nil {
		return server.Service{}, err
	}
	house, err := homelab.New(c.Config, devices)
	if err != nil {
		return server.Service{}, err
	}
	return server.Service{
		Make:  func(o server.Options) (server.Server, error) { return c.serve(o, house) },
		Token: c.token, Try: server.TryWith(c.token, tryCommand),
		Types: []string{"application/json"}, MaxBody: homelab.MaxCommand, Metrics: house.Metrics, OpenAPI: func(string) []byte { return homelab.OpenAPI() }, Refuse: house.Refuse,
	}, nil
}

// tryCommand returns the command that lists the devices.
func tryCommand(_ string, at server.Address) string {
	return at.Curl() + " " + at.URL() + "/api/v1/devices"
}

// Devices returns the devices of a house of n, the same in every process.
func Devices(n int) (devices []homelab.Device, err error) {
	bodies, err := fixture.Pool("devices", n, 1)
	if err != nil {
		return nil, err
	}
	return devices, json.Unmarshal(bodies[0], &devices)
}
