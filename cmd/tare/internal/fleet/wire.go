// Package fleet has other machines carry work out: rounds of a study, or a share
// of a load. One process coordinates; an agent on each machine does what it is
// told. They speak through NATS: a server inside the coordinator, or a cluster
// that there is. An agent that the coordinator starts over SSH speaks through the
// connection's own stdin and stdout, and ends with it.
//
// Ratios never cross machines: a round is measured on one. The coordinator's
// journal says which machine has which round, so that it can be killed and go on.
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

// Protocol is what coordinator and agents speak.
const Protocol = "tare.agent/3"

// DefaultPrefix begins every subject. Fleets that share a cluster have one each.
const DefaultPrefix = "tare"

// Subjects, below the prefix. NAME is an agent's.
//
//	who              coordinator → all: say hello
//	to.NAME.order    an order, as a parcel
//	to.NAME.start    when a load begins
//	to.NAME.cancel   give the order up
//	to.NAME.clock    what time is it
//	from.NAME.hello  who it is and what it does, every second
//	from.NAME.permit may it measure another round
//	from.NAME.file   a part of a file that its order needs
//	from.NAME.tick   a second of a load
//	from.NAME.result what came of the order, as a parcel
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
	coordinator = "coordinator" // name of the one that is none of the agents
)

// subjects makes subjects of one agent, or with * of all.
type subjects struct{ prefix, name string }

func (s subjects) to(what string) string   { return s.prefix + ".to." + s.name + "." + what }
func (s subjects) from(what string) string { return s.prefix + ".from." + s.name + "." + what }

// made reports whether a text has 1 to most characters, all of them letters and
// digits of ASCII or among others.
func made(text string, most int, others string) bool {
	return text != "" && len(text) <= most && !strings.ContainsFunc(text, func(r rune) bool { return !plain(r) && !strings.ContainsRune(others, r) })
}

func plain(r rune) bool { return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// isHost reports whether a text is a host as ssh names it, with a user or without:
// ports and keys are the business of ssh's configuration.
func isHost(text string) bool {
	return made(text, 100, "._@-") && !strings.ContainsRune(".@-", rune(text[0]))
}

// CheckName says what is wrong with an agent's name.
func CheckName(name string) error {
	if !made(name, 64, "_-") || name == coordinator {
		return fmt.Errorf("%q is not a name: 1 to 64 letters, digits, - and _", format.Line(name, 80))
	}
	return nil
}

// CheckPrefix says what is wrong with a prefix of subjects.
func CheckPrefix(prefix string) error {
	parts := strings.Split(prefix, ".")
	if len(parts) > 4 || slices.ContainsFunc(parts, func(part string) bool { return !made(part, 40, "_-") }) {
		return fmt.Errorf("%q is not a prefix: letters, digits, - and _, in parts with dots between them", format.Line(prefix, 80))
	}
	return nil
}

// nameOf is an agent's name for a host's: what subjects cannot hold is replaced,
// and a few digits tell such names apart.
func nameOf(host string) string {
	if CheckName(host) == nil {
		return host
	}
	sum := sha256.Sum256([]byte(host))
	name := strings.Map(func(r rune) rune {
		if plain(r) || r == '_' {
			return r
		}
		return '-'
	}, host)
	return name[:min(len(name), 50)] + "-" + hex.EncodeToString(sum[:4])
}

// Hello is what an agent says of itself.
type Hello struct {
	Protocol string  `json:"protocol"`
	Name     string  `json:"name"`
	Version  string  `json:"version"` // of tare
	OS       string  `json:"os"`
	Arch     string  `json:"arch"`
	CPUs     int     `json:"cpus"`
	Go       string  `json:"go"`   // of the machine's toolchain; empty: it has none
	Load     float64 `json:"load"` // of one minute; negative: not known
	Order    string  `json:"order,omitempty"`
	Doing    string  `json:"doing,omitempty"` // in words; empty: nothing
}

// check refuses what no agent of this protocol says.
func (h Hello) check(name string) error {
	switch {
	case h.Protocol != Protocol:
		return fmt.Errorf("%s speaks %q, and this tare %s", name, format.Line(h.Protocol, 40), Protocol)
	case h.Name != name:
		return fmt.Errorf("%s calls itself %q", name, format.Line(h.Name, 80))
	}
	return nil
}

// asking is a question for another round, after done of them.
type asking struct {
	Order string `json:"order"`
	Done  int    `json:"done"`
}

// permit is the answer.
type permit struct {
	Round int    `json:"round,omitempty"` // to be measured
	Wait  bool   `json:"wait,omitempty"`  // ask again: others may leave theirs
	End   bool   `json:"end,omitempty"`   // no more are wanted
	Gone  string `json:"gone,omitempty"`  // why the order is no longer this agent's
}

// started is when a load begins, by the agent's own clock.
type started struct {
	Order string `json:"order"`
	At    int64  `json:"at_unix_ns"`
}

// clocked is the time of an agent's clock.
type clocked struct {
	Now int64 `json:"unix_ns"`
}

// outcome is what came of an order.
type outcome struct {
	Order  string `json:"order"`
	Error  string `json:"error,omitempty"`
	Result []byte `json:"result,omitempty"` // a document

	Nothing bool `json:"nothing,omitempty"` // Error says why there is nothing to measure: no failure
}

// NothingError says why an order has nothing to measure.
type NothingError struct{ Why string }

// Error is one line.
func (e *NothingError) Error() string { return e.Why }

// Times of the protocol. Tests have shorter ones.
type times struct {
	hello    time.Duration // between two hellos
	patience time.Duration // without a word, after which an agent is lost
	forsaken time.Duration // without a coordinator, after which an agent gives its order up
	ask      time.Duration // for one reply
	again    time.Duration // before something is asked again
	rejoin   time.Duration // before an agent connects again to what it joined
	parting  time.Duration // in which an agent that is stopped ends its order and reports that
}

func usualTimes() times {
	return times{hello: time.Second, patience: 15 * time.Second, forsaken: 10 * time.Minute, ask: 5 * time.Second, again: 250 * time.Millisecond, rejoin: time.Second, parting: 3 * time.Second}
}
