// Package serving lets programs serve app homelab, each with another HTTP framework. It declares the settings
// and opens a [homelab.House], the app without a server.
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

// Serve makes a server for a house. Each program has a different Serve function.
type Serve func(o server.Options, house *homelab.House) (server.Server, error)

// App returns app homelab for a program that makes its server with serve.
func App(serve Serve) server.App {
	return server.App{Name: homelab.Name, New: func() server.Config { return &config{serve: serve} }}
}

// config is the app's configuration. Settings store values in it, before Check and Open.
type config struct {
	homelab.Config
	devices int    // number of devices in the house
	token   string // secret of every request; "" means none
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
	houseConfig := c.Config
	houseConfig.Now = time.Now // Open sets it if needed
	_, err := homelab.New(houseConfig, nil)
	return err
}

// Open makes a house. If tare measures it (lab), it gets a clock only for a rate limit. Then no response
// depends on time.
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
		Make:    func(o server.Options) (server.Server, error) { return c.serve(o, house) },
		Token:   c.token,
		Types:   []string{"application/json"},
		MaxBody: homelab.MaxCommand,
		Metrics: house.Metrics,
		OpenAPI: func(string) []byte { return homelab.OpenAPI() },
		Refuse:  house.Refuse,
		Try:     server.TryWith(c.token, tryCommand),
	}, nil
}

func tryCommand(_ string, address server.Address) string {
	return address.Curl() + " " + address.URL() + "/api/v1/devices"
}

// Devices returns n devices for a house. They are the same in every process.
func Devices(n int) (devices []homelab.Device, err error) {
	bodies, err := fixture.Pool("devices", n, 1)
	if err != nil {
		return nil, err
	}
	return devices, json.Unmarshal(bodies[0], &devices)
}
