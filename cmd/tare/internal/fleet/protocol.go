// Package fleet runs work on other machines: rounds of a study (a repeated measurement of programs), or a
// share of a load on a server. One tare process is the coordinator. An agent on each machine runs its orders.
//
// They exchange messages through NATS, by a server in the coordinator or an existing cluster. An agent started
// over SSH uses its stdin and stdout, and ends with them.
//
// One machine measures all programs of a round. So a ratio never compares two machines. The coordinator's
// journal records which machine has which round, so that a killed run can be resumed.
package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare/internal/format"
)

// Protocol is the version that coordinator and agents must share.
const Protocol = "tare.agent/3"

// DefaultPrefix is the start of every subject, unless the user sets another prefix. Fleets in one cluster need
// different ones.
const DefaultPrefix = "tare"

// Parts of NATS subjects. NAME is an agent. A parcel is a message that may be too long for NATS and is sent
// in parts. Below the prefix there are:
//
//	who              request a hello of all agents
//	to.NAME.order    an order, as a parcel
//	to.NAME.start    the start time of a load
//	to.NAME.cancel   cancel the order
//	to.NAME.clock    read the agent's clock
//	from.NAME.hello  the agent's name, machine and order, every second
//	from.NAME.permit request another round of a study
//	from.NAME.file   request a part of a file of the order
//	from.NAME.tick   the measurements of one second of a load
//	from.NAME.result the outcome of the order, as a parcel
const (
	subjectWho  = "who"
	toOrder     = "order"
	toStart     = "start"
	toCancel    = "cancel"
	toClock     = "clock"
	fromHello   = "hello"
	fromPermit  = "permit"
	fromFile    = "file"
	fromTick    = "tick"
	fromResult  = "result"
	coordinator = "coordinator" // no agent can have this name
)

// subjects makes the subjects of the agent called name. The name "*" means all agents.
type subjects struct{ prefix, name string }

func (s subjects) toAgent(topic string) string   { return s.prefix + ".to." + s.name + "." + topic }
func (s subjects) fromAgent(topic string) string { return s.prefix + ".from." + s.name + "." + topic }

// hasOnly reports whether text has 1 to maxBytes bytes, all of them ASCII letters, ASCII digits or in extra.
func hasOnly(text string, maxBytes int, extra string) bool {
	isOther := func(r rune) bool { return !isAlphanumeric(r) && !strings.ContainsRune(extra, r) }
	return text != "" && len(text) <= maxBytes && !strings.ContainsFunc(text, isOther)
}

func isAlphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// isHost accepts HOST or USER@HOST. Ports and keys are configured in ssh.
func isHost(text string) bool {
	return hasOnly(text, 100, "._@-") && !strings.ContainsRune(".@-", rune(text[0]))
}

// CheckName returns an error if name cannot be the name of an agent.
func CheckName(name string) error {
	if !hasOnly(name, 64, "_-") || name == coordinator {
		return fmt.Errorf("%q is not a name: 1 to 64 letters, digits, - and _", format.Line(name, 80))
	}
	return nil
}

// CheckPrefix checks that prefix can begin subjects.
func CheckPrefix(prefix string) error {
	parts := strings.Split(prefix, ".")
	if len(parts) > 4 || slices.ContainsFunc(parts, func(part string) bool { return !hasOnly(part, 40, "_-") }) {
		return fmt.Errorf("%q is not a prefix: letters, digits, - and _, in parts with dots between them", format.Line(prefix, 80))
	}
	return nil
}

// agentName returns host as a valid name. If it must replace characters, a hash keeps the name unique.
func agentName(host string) string {
	if CheckName(host) == nil {
		return host
	}
	sum := sha256.Sum256([]byte(host))
	name := strings.Map(func(r rune) rune {
		if isAlphanumeric(r) || r == '_' {
			return r
		}
		return '-'
	}, host)
	return name[:min(len(name), 50)] + "-" + hex.EncodeToString(sum[:4])
}

// Hello describes an agent.
type Hello struct {
	Protocol string  `json:"protocol"`
	Name     string  `json:"name"`
	Version  string  `json:"version"`
	OS       string  `json:"os"`
	Arch     string  `json:"arch"`
	CPUs     int     `json:"cpus"`
	Go       string  `json:"go"`              // version of the toolchain; "" without one
	Load     float64 `json:"load"`            // one minute's average; negative if unknown
	Order    string  `json:"order,omitempty"` // "" if idle
	Doing    string  `json:"doing,omitempty"` // the order in words; "" if idle
}

// check compares the hello with name, from the subject of its message.
func (h Hello) check(name string) error {
	switch {
	case h.Protocol != Protocol:
		return fmt.Errorf("%s speaks %q, and this tare %s", name, format.Line(h.Protocol, 40), Protocol)
	case h.Name != name:
		return fmt.Errorf("%s calls itself %q", name, format.Line(h.Name, 80))
	}
	return nil
}

// permitRequest requests another round of a study, after Done rounds.
type permitRequest struct {
	Order string `json:"order"`
	Done  int    `json:"done"`
}

type permitReply struct {
	Round int    `json:"round,omitempty"` // 0 if none
	Wait  bool   `json:"wait,omitempty"`  // request again later
	End   bool   `json:"end,omitempty"`
	Gone  string `json:"gone,omitempty"` // why the agent does not have the order
}

// startRequest has the start time by the agent's clock. It also cancels an order.
type startRequest struct {
	Order string `json:"order"`
	At    int64  `json:"at_unix_ns"`
}

type clockReply struct {
	Now int64 `json:"unix_ns"`
}

type outcome struct {
	Order  string `json:"order"`
	Error  string `json:"error,omitempty"`
	Result []byte `json:"result,omitempty"`

	Nothing bool `json:"nothing,omitempty"` // nothing to measure, which is no failure
}

// NothingError says that an order has nothing to measure, such as a part without benchmarks.
type NothingError struct{ Why string }

// Error returns the reason in one line.
func (e *NothingError) Error() string { return e.Why }

// protocolTimes are shorter in tests.
type protocolTimes struct {
	helloInterval time.Duration
	lostAfter     time.Duration // silence of a lost agent
	abandonAfter  time.Duration // after this time without a coordinator, an agent cancels its order
	replyTimeout  time.Duration
	retryDelay    time.Duration
	rejoinDelay   time.Duration
	stopTimeout   time.Duration // time in which a stopped agent delivers its outcome
}

func defaultTimes() protocolTimes {
	return protocolTimes{
		helloInterval: time.Second,
		lostAfter:     15 * time.Second,
		abandonAfter:  10 * time.Minute,
		replyTimeout:  5 * time.Second,
		retryDelay:    250 * time.Millisecond,
		rejoinDelay:   time.Second,
		stopTimeout:   3 * time.Second,
	}
}
