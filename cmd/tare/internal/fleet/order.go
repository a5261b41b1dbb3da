package fleet

import (
	"errors"
	"fmt"
	"net"
	"path"
	"strconv"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/studyfile"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/load"
)

// maxOrder is the longest order, in bytes: a study with its quotes, or the
// requests of a load.
const maxOrder = 64 << 20

// maxRounds is the largest number of rounds that an agent takes an order for.
const maxRounds = 10000

// Order is what an agent is to do: one of its parts.
type Order struct {
	Protocol string      `json:"protocol"`
	ID       string      `json:"id"`
	Study    *StudyOrder `json:"study,omitempty"`
	Load     *LoadOrder  `json:"load,omitempty"`
}

// StudyOrder is a study to carry out, as far as rounds are permitted.
type StudyOrder struct {
	ID         string   `json:"id"`
	Text       string   `json:"text"` // of the study's file
	Most       int      `json:"most"` // rounds
	Seed       uint64   `json:"seed"`
	Full       bool     `json:"full,omitempty"`       // all of the study; else what carries a claim or criterion
	Contenders []string `json:"contenders,omitempty"` // patterns that choose them; none: all
	Workloads  []string `json:"workloads,omitempty"`
}

// LoadOrder is a share of a load.
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
	Warm        time.Duration  `json:"warm_ns"`
	Duration    time.Duration  `json:"duration_ns"`
	Think       time.Duration  `json:"think_ns,omitempty"`
	Rate        string         `json:"rate,omitempty"` // of the whole load, as --rate has it; empty: a closed loop
	Seed        uint64         `json:"seed"`
	Index       int            `json:"index"` // of this share
	Of          int            `json:"of"`    // shares
}

// Target is where a load goes.
type Target struct {
	Addr     string `json:"addr"` // host:port
	Host     string `json:"host"`
	Name     string `json:"name,omitempty"` // of the server's certificate; empty: plain text
	Insecure bool   `json:"insecure,omitempty"`
	Roots    []byte `json:"roots,omitempty"` // PEM; empty: those of the system
	Version  uint16 `json:"tls_version,omitempty"`
}

// Limits are what an agent refuses to go beyond.
type Limits struct {
	Commands bool          // studies may start commands and ask URLs
	Targets  []string      // host:port patterns that may be loaded besides loopback's
	Rate     float64       // requests per second of its share, at most; zero: no limit
	Duration time.Duration // of a load, at most; zero: no limit
}

// check says what is wrong with an order, and what an agent of these limits does
// not do.
func (o Order) check(l Limits) error {
	switch {
	case o.Protocol != Protocol:
		return fmt.Errorf("the order is of protocol %q; this agent takes %s", format.Line(o.Protocol, 40), Protocol)
	case o.ID == "" || len(o.ID) > 200:
		return errors.New("the order has no id")
	case (o.Study == nil) == (o.Load == nil):
		return errors.New("the order is for a study or for a load, one of them")
	case o.Study != nil:
		return o.Study.check(l)
	}
	return o.Load.check(l)
}

// what is an order in words.
func (o Order) what() string {
	if o.Study != nil {
		return "study " + format.Line(o.Study.ID, 80)
	}
	return fmt.Sprintf("load of %s for %v", format.Line(o.Load.Target.Addr, 80), o.Load.Duration)
}

// Check says what is wrong with a study before it is ordered anywhere.
func (o StudyOrder) Check() error {
	o.Most = max(o.Most, 1)
	return o.check(Limits{})
}

// check says what is wrong with a study. Commands and URLs in it run only where
// the agent was started to allow them; directories of contenders are on another
// machine.
func (o StudyOrder) check(l Limits) error {
	if o.Most < 1 || o.Most > maxRounds {
		return fmt.Errorf("%d is not a number of rounds", o.Most)
	}
	study, _, err := studyfile.Read("the order's study", []byte(o.Text))
	if err != nil {
		return err
	}
	for _, e := range study.Contenders {
		switch {
		case e.Program != "":
			return fmt.Errorf("contender %s is a directory of one machine; others cannot build it", format.Line(e.ID, 80))
		case e.Launch() != tare.LaunchProgram && !l.Commands:
			return fmt.Errorf("contender %s is a command or URL; the agent was started without --allow-commands", format.Line(e.ID, 80))
		}
	}
	return nil
}

// Args are the arguments of the tare run that carries the order out; the study
// comes on its stdin.
func (o StudyOrder) Args() []string {
	budget := "quick"
	if o.Full {
		budget = "full"
	}
	args := []string{"run", "-", "--json", "--no-page", "--budget", budget, "--rounds", strconv.Itoa(o.Most), "--seed", strconv.FormatUint(o.Seed, 10)}
	for _, c := range o.Contenders {
		args = append(args, "--contender="+c)
	}
	for _, w := range o.Workloads {
		args = append(args, "--workload="+w)
	}
	return args
}

// CheckResult says what is wrong with what an agent sent back for so many rounds.
func (o StudyOrder) CheckResult(rounds int, results []*tare.Result) (*tare.Result, error) {
	if len(results) != 1 {
		return nil, fmt.Errorf("%s came back, not one", format.Count(len(results), "result"))
	}
	r := results[0]
	switch {
	case r.Study != o.ID:
		return nil, fmt.Errorf("a result of study %s came back", format.Line(r.Study, 80))
	case r.Seed != strconv.FormatUint(o.Seed, 10):
		return nil, fmt.Errorf("a result of seed %s came back; %d was ordered", format.Line(r.Seed, 40), o.Seed)
	case r.RoundsDone != rounds:
		return nil, fmt.Errorf("%d rounds came back; %d were given", r.RoundsDone, rounds)
	case len(r.Machines) > 0:
		return nil, errors.New("a result of several machines came back")
	}
	for _, e := range r.Rounds {
		if len(e.Effects) > r.RoundsDone {
			return nil, fmt.Errorf("%d effects of %d rounds came back", len(e.Effects), r.RoundsDone)
		}
		for _, x := range e.Effects {
			if x < -maxEffect || x > maxEffect {
				return nil, fmt.Errorf("an impossible ratio came back: e^%g", x)
			}
		}
	}
	for _, c := range r.Comparisons {
		if c.Ratio < 0 || c.Bounded() && (c.Low > c.Ratio || c.Ratio > c.High) {
			return nil, fmt.Errorf("an impossible interval came back: %g in [%g, %g]", c.Ratio, c.Low, c.High)
		}
	}
	return r, nil
}

// maxEffect is the largest logarithm of a ratio that is believed: 10¹³.
const maxEffect = 30

// check says what is wrong with a load, or beyond the agent's limits.
func (o LoadOrder) check(l Limits) error {
	switch {
	case o.Of < 1 || o.Of > 1000 || o.Index < 0 || o.Index >= o.Of:
		return fmt.Errorf("share %d of %d is none", o.Index+1, o.Of)
	case o.Duration < 100*time.Millisecond || o.Duration > load.MaxDuration:
		return fmt.Errorf("%v is no duration of a load: 100ms to %v", o.Duration, load.MaxDuration)
	case l.Duration > 0 && o.Warm+o.Duration > l.Duration:
		return fmt.Errorf("%v is longer than this agent loads (--most-duration %v)", o.Warm+o.Duration, l.Duration)
	case !l.allows(o.Target.Addr):
		return fmt.Errorf("%s is not among the targets of this agent (--allow-target)", format.Line(o.Target.Addr, 80))
	}
	profile, err := o.profile()
	if err != nil {
		return err
	}
	if profile == nil {
		if l.Rate > 0 {
			return fmt.Errorf("a closed loop has no rate, and this agent has a limit of %g/s", l.Rate)
		}
		return nil
	}
	if mean := profile.Mean(o.Warm + o.Duration); l.Rate > 0 && mean > l.Rate {
		return fmt.Errorf("%.0f requests a second are more than this agent sends (--most-rate %g/s)", mean, l.Rate)
	}
	return nil
}

// allows reports whether an address may be loaded: loopback's may, and what the
// agent was told.
func (l Limits) allows(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() || host == "localhost" {
		return true
	}
	for _, pattern := range l.Targets {
		if ok, err := path.Match(pattern, addr); err == nil && ok {
			return true
		}
		if pattern == host {
			return true
		}
	}
	return false
}
