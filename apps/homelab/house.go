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

// Config says how the service is to be. Its zero value works.
type Config struct {
	Origins []string         // that may read answers in a browser; * is any; none: no CORS headers
	Rate    int              // requests per minute of one client; zero: no limit
	Now     func() time.Time // needed where Rate is given, and to say when devices changed; nil: devices keep their times
}

// House holds the state. Its methods may be called concurrently.
type House struct {
	now      func() time.Time // nil: devices keep their times
	info     Info
	services []Unit
	origins  origins
	limit    *limiter // nil: none
	ids      *ids
	counters *counters

	// A change replaces the whole list, so that whoever reads never waits, and
	// keeps what they got.
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
		now: c.Now, info: info(), services: services(),
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

// Info says what the API is.
func (h *House) Info() Info { return h.info }

func info() Info {
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

// Services are those of the cluster whose name contains part; an empty part is
// in every name. The result is shared: it must not be changed.
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

// Devices are all devices, in the order they were given. The result is shared:
// it must not be changed.
func (h *House) Devices() []Device { return *h.devices.Load() }

// Device is one of them. Its attributes must not be changed.
func (h *House) Device(id string) (Device, error) {
	i, ok := h.places[id]
	if !ok {
		return Device{}, noDevice(id)
	}
	return h.Devices()[i], nil
}

// Refusal is why a request is not served, as its answer says it.
type Refusal struct {
	Status  int    `json:"-"`
	Code    string `json:"error"`   // one word for machines, e.g. read_only
	Message string `json:"message"` // one line for people
}

// Error is code and message.
func (r *Refusal) Error() string { return r.Code + ": " + r.Message }

// RefusalOf is what err says to a client. It counts it. An error that is no
// refusal is the service's own fault, of which the client is told nothing more.
func (h *House) RefusalOf(err error) *Refusal {
	var r *Refusal
	if !errors.As(err, &r) {
		r = &Refusal{Status: 500, Code: "internal", Message: "the service failed"}
	}
	h.counters.refused(r.Code)
	return r
}
