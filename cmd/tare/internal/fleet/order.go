package fleet

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/load"
)

// maxOrder limits an order, in bytes.
const maxOrder = 64 << 20

const maxRounds = 10000

// maxID limits the id of an order or message, in bytes.
const maxID = 200

// Order requests work from an agent, a tare on another machine. The work is a study, which measures programs,
// or a share of a load on a server. Either Study or Load is set.
type Order struct {
	Protocol string      `json:"protocol"`
	ID       string      `json:"id"`
	Study    *StudyOrder `json:"study,omitempty"`
	Load     *LoadOrder  `json:"load,omitempty"`
}

// LoadOrder is one agent's share of a load. Rate is that of all shares.
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
	Warm        time.Duration  `json:"warm_ns"`            // before measuring
	Duration    time.Duration  `json:"duration_ns"`        // measured time
	Think       time.Duration  `json:"think_ns,omitempty"` // pause of a connection after a response, in a closed loop
	Rate        string         `json:"rate,omitempty"`     // in the form of --rate; "" means a closed loop
	Hold        load.SLO       `json:"hold,omitempty"`     // see load.Leg.Hold
	Seed        uint64         `json:"seed"`
	Index       int            `json:"index"` // number of this share, from 0
	Of          int            `json:"of"`    // number of shares
}

// maxObjectives limits the objectives of a load. Each takes memory and time in every thread.
const maxObjectives = 100

// Target is the server under load.
type Target struct {
	Addr     string `json:"addr"` // host:port
	Host     string `json:"host"`
	Name     string `json:"name,omitempty"`        // "" means no TLS
	Insecure bool   `json:"insecure,omitempty"`    // the certificate is not verified
	Roots    []byte `json:"roots,omitempty"`       // PEM; empty means the system's certificates
	Version  uint16 `json:"tls_version,omitempty"` // as in crypto/tls; 0 means 1.2 or later
}

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

// describe returns words such as "load of example.org:80 for 10s".
func (o Order) describe() string {
	if o.Study != nil {
		return o.Study.describe()
	}
	return fmt.Sprintf("load of %s for %v", format.Line(o.Load.Target.Addr, 80), o.Load.Duration)
}

func (o Order) fileBytes() (bytes int64) {
	if o.Study != nil {
		for _, f := range slices.Concat(o.Study.Files, o.Study.Packs) {
			bytes += f.Size
		}
	}
	return bytes
}

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
