// Package fleet runs work on other machines: rounds of a study, or a share
// of a load. One process coordinates; an agent on each machine runs its orders.
// They connect through NATS: a server inside the coordinator, or an existing
// cluster. An agent that the coordinator starts over SSH uses the
// connection's own stdin and stdout, and ends with it.
//
// Ratios never cross machines: a round is measured on one. The coordinator's
// journal records which machine has which round, so that a killed run can resume.
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

// DefaultPrefix begins every subject. Fleets in one cluster need different prefixes.
const DefaultPrefix = "tare"

// Subjects, below the prefix. NAME is an agent's.
//
//	who              coordinator → all: say hello
//	to.NAME.order    an order, as a parcel
//	to.NAME.start    the start time of a load
//	to.NAME.cancel   cancel the order
//	to.NAME.clock    read the agent's clock
//	from.NAME.hello  its name, machine and order, every second
//	from.NAME.permit request another round
//	from.NAME.file   a part of a file that its order needs
//	from.NAME.tick   a second of a load
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
	coordinator = "coordinator" // name of the coordinator; agents cannot have it
)

// subjects returns the subjects of agent name, or with "*" those of all agents.
type subjects struct{ prefix, name string }

func (s subjects) toAgent(what string) string   { return s.prefix + ".to." + s.name + "." + what }
func (s subjects) fromAgent(what string) string { return s.prefix + ".from." + s.name + "." + what }

// hasOnly reports whether text has 1 to most bytes, all of them ASCII letters, ASCII digits or
// in others.
func hasOnly(text string, most int, others string) bool {
	return text != "" && len(text) <= most && !strings.ContainsFunc(text, func(r rune) bool { return !isAlphanumeric(r) && !strings.ContainsRune(others, r) })
}

func isAlphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// isHost reports whether text is a host of ssh, with or without a user. Ports and keys belong
// into ssh's configuration.
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

// CheckPrefix returns an error if prefix cannot begin subjects.
func CheckPrefix(prefix string) error {
	parts := strings.Split(prefix, ".")
	if len(parts) > 4 || slices.ContainsFunc(parts, func(part string) bool { return !hasOnly(part, 40, "_-") }) {
		return fmt.Errorf("%q is not a prefix: letters, digits, - and _, in parts with dots between them", format.Line(prefix, 80))
	}
	return nil
}

// agentName returns an agent name for a host. It replaces characters that subjects cannot
// contain and adds a few digits of a hash to keep such names unique.
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
	Version  string  `json:"version"` // of tare
	OS       string  `json:"os"`
	Arch     string  `json:"arch"`
	CPUs     int     `json:"cpus"`
	Go       string  `json:"go"`   // version of the machine's toolchain; "" if it has none
	Load     float64 `json:"load"` // of one minute; negative if unknown
	Order    string  `json:"order,omitempty"`
	Doing    string  `json:"doing,omitempty"` // in words; "" if idle
}

// check rejects a hello of another protocol or under another name.
func (h Hello) check(name string) error {
	switch {
	case h.Protocol != Protocol:
		return fmt.Errorf("%s speaks %q, and this tare %s", name, format.Line(h.Protocol, 40), Protocol)
	case h.Name != name:
		return fmt.Errorf("%s calls itself %q", name, format.Line(h.Name, 80))
	}
	return nil
}

// permitRequest requests another round after Done of them.
type permitRequest struct {
	Order string `json:"order"`
	Done  int    `json:"done"`
}

// permitReply is the coordinator's reply to a permitRequest.
type permitReply struct {
	Round int    `json:"round,omitempty"` // the round to measure
	Wait  bool   `json:"wait,omitempty"`  // retry: other machines may lose theirs
	End   bool   `json:"end,omitempty"`   // no further rounds
	Gone  string `json:"gone,omitempty"`  // why the agent no longer has the order
}

// startRequest sets the start of a load by the agent's clock.
type startRequest struct {
	Order string `json:"order"`
	At    int64  `json:"at_unix_ns"`
}

// clockReply holds the time of an agent's clock.
type clockReply struct {
	Now int64 `json:"unix_ns"`
}

// outcome is the result or the error of an order.
type outcome struct {
	Order  string `json:"order"`
	Error  string `json:"error,omitempty"`
	Result []byte `json:"result,omitempty"` // a document

	Nothing bool `json:"nothing,omitempty"` // Error is the reason why there is nothing to measure: not a failure
}

// NothingError is returned for an order without anything to measure.
type NothingError struct{ Why string }

// Error is one line.
func (e *NothingError) Error() string { return e.Why }

// protocolTimes are shorter in tests.
type protocolTimes struct {
	helloInterval time.Duration // between two hellos of an agent
	lostAfter     time.Duration // silence after which an agent is lost
	abandonAfter  time.Duration // time without a coordinator after which an agent cancels its order
	replyTimeout  time.Duration // for one reply
	retryDelay    time.Duration // before a request is repeated
	rejoinDelay   time.Duration // before an agent connects again
	stopTimeout   time.Duration // for a stopped agent to end its order and report that
}

func defaultTimes() protocolTimes {
	return protocolTimes{helloInterval: time.Second, lostAfter: 15 * time.Second, abandonAfter: 10 * time.Minute, replyTimeout: 5 * time.Second, retryDelay: 250 * time.Millisecond, rejoinDelay: time.Second, stopTimeout: 3 * time.Second}
}
