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
	Origins []string         // web sites that may read responses in a browser; * means any; if empty, responses have no CORS headers
	Rate    int              // requests per minute of one client; 0 means no limit
	Now     func() time.Time // clock of the rate limit and of LastUpdated; required if Rate is set; if nil, LastUpdated never changes
}

// House is the API without a server: it has the devices of a house and computes responses. Its methods may
// be called concurrently.
type House struct {
	now      func() time.Time // Config.Now, may be nil
	info     Info
	services []Unit
	origins  origins
	limit    *limiter // nil if clients have no rate limit
	ids      *requestIDs
	counters *counters

	// devices points to a list that is never modified: a command that changes a device stores a
	// changed copy of the list. Readers therefore need no lock.
	devices   atomic.Pointer[[]Device]
	changeMu  sync.Mutex     // locked while a command replaces devices
	indexByID map[string]int // index of each device in the list; never changes
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

// Services returns the services of the cluster whose name contains part. "" selects all services.
// The caller must not change the result, which other callers share.
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

// Devices returns all devices, in the order that [New] received them. The caller must not change
// the result, which other callers share.
func (h *House) Devices() []Device { return *h.devices.Load() }

// Device returns the device with the given id, or a [Refusal] if there is no such device. The
// caller must not change the attributes.
func (h *House) Device(id string) (Device, error) {
	i, ok := h.indexByID[id]
	if !ok {
		return Device{}, noDevice(id)
	}
	return h.Devices()[i], nil
}

// Refusal is an error that is sent to the client as an error response.
type Refusal struct {
	Status  int    `json:"-"`       // HTTP status
	Code    string `json:"error"`   // one word for machines, e.g. read_only
	Message string `json:"message"` // one line for people
}

func (r *Refusal) Error() string { return r.Code + ": " + r.Message }

// RefusalOf returns the error response for err, and counts it in the metrics. If err wraps no [Refusal],
// the service has failed, and the client gets status 500 without details.
func (h *House) RefusalOf(err error) *Refusal {
	var r *Refusal
	if !errors.As(err, &r) {
		r = &Refusal{Status: 500, Code: "internal", Message: "the service failed"}
	}
	h.counters.countRefusal(r.Code)
	return r
}
