package homelab

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Config configures a house. Its zero value works.
type Config struct {
	Origins []string         // sites that may read responses in a browser; * means any; none means no CORS headers
	Rate    int              // requests per minute of one client; 0 means no limit
	Now     func() time.Time // clock of the rate limit, for which it is required, and of LastUpdated; if nil, LastUpdated stays
}

// House is the API without a server: it has the devices and computes responses. Its methods may be called
// concurrently.
type House struct {
	now      func() time.Time // Config.Now, may be nil
	info     Info
	services []Unit
	origins  origins
	limit    *limiter // nil without a rate limit
	ids      *requestIDs
	counters *counters

	// devices points to a list that is never modified. A command stores a changed copy, so readers need no
	// lock.
	devices   atomic.Pointer[[]Device]
	changeMu  sync.Mutex     // locked while a command replaces devices
	indexByID map[string]int // never changes
}

// New returns a house with the given devices. Each device must have a unique, non-empty id.
func New(c Config, devices []Device) (*House, error) {
	allowedOrigins, err := newOrigins(c.Origins)
	if err != nil {
		return nil, err
	}
	limit, err := newLimiter(c.Rate, c.Now)
	if err != nil {
		return nil, err
	}
	h := &House{
		now:       c.Now,
		info:      newInfo(),
		services:  allServices(),
		origins:   allowedOrigins,
		limit:     limit,
		ids:       newIDs(),
		counters:  newCounters(),
		indexByID: make(map[string]int, len(devices)),
	}
	list := make([]Device, len(devices))
	for i, d := range devices {
		if d.ID == "" {
			return nil, fmt.Errorf("device %d has no id", i)
		}
		if _, exists := h.indexByID[d.ID]; exists {
			return nil, fmt.Errorf("there are two devices %q", d.ID)
		}
		h.indexByID[d.ID] = i
		d.Attributes = maps.Clone(d.Attributes)
		if d.Attributes == nil {
			d.Attributes = map[string]any{}
		}
		list[i] = d
	}
	h.devices.Store(&list)
	return h, nil
}

// Info returns the description of the API.
func (h *House) Info() Info { return h.info }

func newInfo() Info {
	return Info{Name: "homelab", Version: "1.0.0", Endpoints: []string{
		"GET /health",
		"GET /metrics",
		"GET /openapi.json",
		"GET /api/v1/",
		"GET /api/v1/services",
		"GET /api/v1/cluster/services",
		"GET /api/v1/devices",
		"GET /api/v1/devices/{id}",
		"POST /api/v1/homeassistant/devices/{id}/command",
	}}
}

// Services returns services whose name contains part. Callers share the result.
func (h *House) Services(part string) []Unit {
	if part == "" {
		return h.services
	}
	found := []Unit{}
	for _, s := range h.services {
		if strings.Contains(s.Name, part) {
			found = append(found, s)
		}
	}
	return found
}

// Devices returns all devices in the order of [New]. Callers share the result.
func (h *House) Devices() []Device { return *h.devices.Load() }

// Device returns the device, or a [Refusal]. Its attributes must not be changed.
func (h *House) Device(id string) (Device, error) {
	i, ok := h.indexByID[id]
	if !ok {
		return Device{}, noDevice(id)
	}
	return h.Devices()[i], nil
}

// Refusal is an error that the client sees.
type Refusal struct {
	Status  int    `json:"-"`       // HTTP status
	Code    string `json:"error"`   // one word for machines, e.g. read_only
	Message string `json:"message"` // one line for people
}

func (r *Refusal) Error() string { return r.Code + ": " + r.Message }

// RefusalOf returns the error response for err and counts it. Without a [Refusal] it is status 500 without
// details.
func (h *House) RefusalOf(err error) *Refusal {
	var r *Refusal
	if !errors.As(err, &r) {
		r = &Refusal{Status: 500, Code: "internal", Message: "the service failed"}
	}
	h.counters.countRefusal(r.Code)
	return r
}
