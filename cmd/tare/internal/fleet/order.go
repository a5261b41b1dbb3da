package fleet

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/load"
)

// maxOrder limits the bytes of an order, which contains a study or the requests of a load.
const maxOrder = 64 << 20

// maxRounds limits the rounds of an order.
const maxRounds = 10000

// maxID limits the bytes of the id of an order or a parcel.
const maxID = 200

// Order requests an agent (tare on another machine) to run a study, which measures contenders, or its share of
// a load, which sends requests to a server. Either Study or Load is set.
type Order struct {
	Protocol string      `json:"protocol"`
	ID       string      `json:"id"`
	Study    *StudyOrder `json:"study,omitempty"`
	Load     *LoadOrder  `json:"load,omitempty"`
}

// LoadOrder is one agent's share of a load. Rate is that of all shares; the other values are those of the share.
type LoadOrder struct {
	Target      Target         `json:"target"`
	Requests    []load.Request `json:"requests"`
	Protocol    load.Protocol  `json:"protocol,omitempty"`
	Engine      load.Engine    `json:"engine,omitempty"`
	Handshake   load.Handshake `json:"handshake,omitempty"`
	Connections int            `json:"connections"`
	Streams     int            `json:"streams,omitempty"`
	Threads     int            `json:"threads,omitempty"`
	Timeout     time.Duration  `json:"timeout_ns"`
	Warm        time.Duration  `json:"warm_ns"`            // time before measuring begins
	Duration    time.Duration  `json:"duration_ns"`        // measured time
	Think       time.Duration  `json:"think_ns,omitempty"` // closed loop: pause of a connection after a response
	Rate        string         `json:"rate,omitempty"`     // rate of all shares together, in the form of --rate; "" means a closed loop
	Hold        load.SLO       `json:"hold,omitempty"`     // objectives that the result has data about: see load.Leg.Hold
	Seed        uint64         `json:"seed"`
	Index       int            `json:"index"` // number of this share, from 0
	Of          int            `json:"of"`    // number of shares
}

// maxObjectives limits the objectives of a load: each takes memory and time in every thread.
const maxObjectives = 100

// Target is the server under load.
type Target struct {
	Addr     string `json:"addr"` // host:port
	Host     string `json:"host"`
	Name     string `json:"name,omitempty"`        // name in the server's certificate; "" means no TLS
	Insecure bool   `json:"insecure,omitempty"`    // the certificate is not verified
	Roots    []byte `json:"roots,omitempty"`       // trusted certificates in PEM; empty means the system's
	Version  uint16 `json:"tls_version,omitempty"` // the only version of TLS, as in crypto/tls; 0 means 1.2 or later
}

// check returns an error if the order is invalid or exceeds the agent's limits.
func (o Order) check(l Limits) error {
	switch {
	case o.Protocol != Protocol:
		return fmt.Errorf("the order is of protocol %q; this agent takes %s", format.Line(o.Protocol, 40), Protocol)
	case o.ID == "" || len(o.ID) > maxID:
		return errors.New("the order has no id")
	case (o.Study == nil) == (o.Load == nil):
		return errors.New("the order is for a study or for a load, one of them")
	case o.Study != nil:
		return o.Study.check(l)
	}
	return o.Load.check(l)
}

// describe returns the order in words, e.g. load of example.org:80 for 10s.
func (o Order) describe() string {
	if o.Study != nil {
		return o.Study.describe()
	}
	return fmt.Sprintf("load of %s for %v", format.Line(o.Load.Target.Addr, 80), o.Load.Duration)
}

// fileBytes returns the total size of the order's files.
func (o Order) fileBytes() (bytes int64) {
	if o.Study != nil {
		for _, f := range slices.Concat(o.Study.Files, o.Study.Packs) {
			bytes += f.Size
		}
	}
	return bytes
}

// check returns an error if the share is invalid or exceeds the agent's limits.
func (o LoadOrder) check(l Limits) error {
	switch {
	case o.Of < 1 || o.Of > 1000 || o.Index < 0 || o.Index >= o.Of:
		return fmt.Errorf("share %d of %d is none", o.Index+1, o.Of)
	case o.Duration < 100*time.Millisecond || o.Duration > load.MaxDuration:
		return fmt.Errorf("%v is no duration of a load: 100ms to %v", o.Duration, load.MaxDuration)
	case o.Warm < 0 || o.Warm > load.MaxDuration:
		return fmt.Errorf("%v is no warm-up of a load: at most %v", o.Warm, load.MaxDuration)
	case len(o.Hold) > maxObjectives:
		return fmt.Errorf("%d objectives: at most %d", len(o.Hold), maxObjectives)
	}
	profile, err := o.parseProfile()
	if err != nil {
		return err
	}
	return l.CheckLoad(o.Target.Addr, o.Warm+o.Duration, profile)
}
