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

// Config configures the service. Its zero value works.
type Config struct {
	Origins []string         // that may read responses in a browser; * means any; if there are none, no CORS headers
	Rate    int              // requests per minute of one client; 0 means no limit
	Now     func() time.Time // needed if Rate is set, and for the times of changes; if nil, devices keep their times
}

// House contains the state. Its methods may be called concurrently.
type House struct {
	now      func() time.Time // nil if devices keep their times
	info     Info
	services []Unit
	origins  origins
	limit    *limiter // nil if none
	ids      *requestIDs
	counters *counters

	// A change replaces the complete list, so that readers never wait, and their lists never
	// change.
	change  sync.Mutex
	devices atomic.Pointer[[]Device]
	places  map[string]int // of ids in the list; never changes
}

// New returns a house with these devices, which must differ in their ids.
func New(c Config, devices []Device) (*House, error) {
	allowed, err := newOrigins(c.Origins)
	if err != nil {
		return nil, err
	}
	limit, err := newLimiter(c.Rate, c.Now)
	if err != nil {
		return nil, err
	}
	h := &House{
		now: c.Now, info: newInfo(), services: allServices(),
		origins: allowed, limit: limit, ids: newIDs(), counters: newCounters(),
		places: make(map[string]int, len(devices)),
	}
	list := make([]Device, len(devices))
	for i, d := range devices {
		if d.ID == "" {
			return nil, fmt.Errorf("device %d has no id", i)
		}
		if _, twice := h.places[d.ID]; twice {
			return nil, fmt.Errorf("there are two devices %q", d.ID)
		}
		h.places[d.ID] = i
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

// Services returns the services of the cluster whose name contains part; "" is in every name. The
// result is shared: it must not be changed.
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

// Devices returns all devices, in their original order. The result is shared: it must not be
// changed.
func (h *House) Devices() []Device { return *h.devices.Load() }

// Device returns the device of an id. Its attributes must not be changed.
func (h *House) Device(id string) (Device, error) {
	i, ok := h.places[id]
	if !ok {
		return Device{}, noDevice(id)
	}
	return h.Devices()[i], nil
}

// Refusal is the error response of a request.
type Refusal struct {
	Status  int    `json:"-"`
	Code    string `json:"error"`   // one word for machines, e.g. read_only
	Message string `json:"message"` // one line for people
}

// Error returns code and message.
func (r *Refusal) Error() string { return r.Code + ": " + r.Message }

// RefusalOf returns the error response for err, and counts it. Any error except a [Refusal] is the
// service's own fault, of which the client sees no details.
func (h *House) RefusalOf(err error) *Refusal {
	var r *Refusal
	if !errors.As(err, &r) {
		r = &Refusal{Status: 500, Code: "internal", Message: "the service failed"}
	}
	h.counters.countRefusal(r.Code)
	return r
}
