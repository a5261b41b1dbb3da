package homelab

import "time"

// Config says how the service is to be. Its zero value works.
type Config struct {
	Origins []string         // that may read answers in a browser; * is any; none: no CORS headers
	Rate    int              // requests per minute of one client; zero: no limit
	Now     func() time.Time // needed where Rate is given, and to say when devices changed; nil: devices keep their times
}

// House holds the state. Its methods may be called concurrently.
type House struct{}

// New returns a house with these devices, which must differ in their ids.
func New(c Config, devices []Device) (*House, error) { panic("not written") }

// Info says what the API is.
func (h *House) Info() Info { panic("not written") }

// Services are those of the cluster whose name contains part; an empty part is
// in every name. The result is shared: it must not be changed.
func (h *House) Services(part string) []Unit { panic("not written") }

// Devices are all devices, in the order they were given. The result is shared:
// it must not be changed.
func (h *House) Devices() []Device { panic("not written") }

// Device is one of them. Its attributes must not be changed.
func (h *House) Device(id string) (Device, error) { panic("not written") }

// Command tells a device what to do.
func (h *House) Command(id string, c Command) (Outcome, error) { panic("not written") }

// Malformed is the refusal of a body that is not what it should be.
func Malformed(err error) error { panic("not written") }

// Refusal is why a request is not served, as its answer says it.
type Refusal struct {
	Status  int    `json:"-"`
	Code    string `json:"error"`   // one word for machines, e.g. read_only
	Message string `json:"message"` // one line for people
}

// Error is code and message.
func (r *Refusal) Error() string { return r.Code + ": " + r.Message }

// RefusalOf is what err says to a client. It counts it.
func (h *House) RefusalOf(err error) *Refusal { panic("not written") }

// Served counts one answer, for the metrics.
func (h *House) Served(status int) { panic("not written") }

// RequestID is the id of a request: given where it is a sound one, or a new
// one.
func (h *House) RequestID(given string) string { panic("not written") }

// Allow is the value of Access-Control-Allow-Origin for a request's Origin;
// empty: none.
func (h *House) Allow(origin string) string { panic("not written") }

// Take takes one of a client's tokens. Without a limit ok is true and there
// are no headers.
func (h *House) Take(client string) (headers [][2]string, ok bool) { panic("not written") }

// Metrics are the counters, as text that Prometheus reads.
func (h *House) Metrics() []byte { panic("not written") }

// OpenAPI is the service's description.
func OpenAPI() []byte { panic("not written") }
