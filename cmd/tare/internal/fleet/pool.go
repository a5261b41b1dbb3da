package fleet

import (
	"errors"
	"fmt"
	"slices"
)

// pool says which machine measures which round. Every machine measures its share;
// what one leaves that is lost goes to those that are done with theirs. It is
// arithmetic: the journal is what it is told, in the same order.
type pool struct {
	share    int
	machines []string
	free     []int // rounds that no machine has
	shifts   []*shift
}

// shift is what one machine measures for one order.
type shift struct {
	order, machine string
	rounds         []int
	done           int // of them
	state          shiftState
}

type shiftState int

const (
	measuring shiftState = iota
	ended                // it was told that no more are wanted
	delivered            // its result is here
	lost                 // its rounds are others'
)

// errGivenAway answers a machine that was lost and is back.
var errGivenAway = errors.New("its rounds were given to others")

func newPool(machines []string, share int) *pool {
	p := &pool{share: share, machines: machines}
	for round := range share * len(machines) {
		p.free = append(p.free, round+1)
	}
	return p
}

// event is one thing that happened to a pool, as the journal has it.
type event struct {
	What    string `json:"what"` // begin, ask, lose, deliver
	Order   string `json:"order"`
	Machine string `json:"machine,omitempty"` // begin
	Done    int    `json:"done,omitempty"`    // ask
	Why     string `json:"why,omitempty"`     // lose
	File    string `json:"file,omitempty"`    // deliver
}

// apply does what the journal says was done.
func (p *pool) apply(e event) error {
	switch e.What {
	case "begin":
		return p.begin(e.Order, e.Machine)
	case "ask":
		p.ask(e.Order, e.Done)
		return nil
	case "lose":
		p.lose(e.Order)
		return nil
	case "deliver":
		return p.deliver(e.Order, e.Done)
	}
	return fmt.Errorf("%q does not happen to rounds", e.What)
}

func (p *pool) shift(order string) *shift {
	if i := slices.IndexFunc(p.shifts, func(s *shift) bool { return s.order == order }); i >= 0 {
		return p.shifts[i]
	}
	return nil
}

// begin gives a machine an order.
func (p *pool) begin(order, machine string) error {
	switch {
	case !slices.Contains(p.machines, machine):
		return fmt.Errorf("%s is none of the machines", machine)
	case p.shift(order) != nil:
		return fmt.Errorf("order %s was given before", order)
	case p.of(machine) != nil:
		return fmt.Errorf("%s has an order", machine)
	}
	p.shifts = append(p.shifts, &shift{order: order, machine: machine})
	return nil
}

// of is what a machine measures, or has measured; nil: nothing.
func (p *pool) of(machine string) *shift {
	if i := slices.IndexFunc(p.shifts, func(s *shift) bool { return s.machine == machine && s.state != lost }); i >= 0 {
		return p.shifts[i]
	}
	return nil
}

// ask answers whether a machine measures another round after done. changed says
// that the answer is new: asked twice, the same answer is given.
func (p *pool) ask(order string, done int) (answer permit, changed bool) {
	s := p.shift(order)
	switch {
	case s == nil:
		return permit{Gone: "no such order was given"}, false
	case s.state == lost:
		return permit{Gone: errGivenAway.Error()}, false
	case done == len(s.rounds)-1 && s.done == done: // the answer was lost on the way
		return permit{Round: s.rounds[done]}, false
	case done != len(s.rounds):
		return permit{Gone: fmt.Sprintf("it says that %d rounds are done; it was given %d", done, len(s.rounds))}, false
	case s.state != measuring:
		return permit{End: true}, false
	}
	changed = s.done != done
	s.done = done
	if len(p.free) > 0 && (len(s.rounds) < p.share || len(p.free) > p.reserved()) {
		s.rounds = append(s.rounds, p.free[0])
		p.free = p.free[1:]
		return permit{Round: s.rounds[done]}, true
	}
	if len(p.free) == 0 && !slices.ContainsFunc(p.shifts, func(s *shift) bool { return s.state == measuring && s.done < len(s.rounds) }) {
		s.state = ended
		return permit{End: true}, true
	}
	return permit{Wait: true}, changed
}

// reserved are the rounds that machines have not taken of their own share.
func (p *pool) reserved() int {
	n := 0
	for _, machine := range p.machines {
		switch s := p.of(machine); {
		case s == nil && !p.failed(machine):
			n += p.share
		case s != nil && s.state == measuring:
			n += max(0, p.share-len(s.rounds))
		}
	}
	return n
}

// failed reports whether a machine had an order and lost it.
func (p *pool) failed(machine string) bool {
	return p.losses(machine) > 0
}

// losses are how many orders a machine lost.
func (p *pool) losses(machine string) (n int) {
	for _, s := range p.shifts {
		if s.machine == machine && s.state == lost {
			n++
		}
	}
	return n
}

// lose takes a machine's rounds back.
func (p *pool) lose(order string) {
	if s := p.shift(order); s != nil && s.state != lost {
		s.state = lost
		p.free = append(p.free, s.rounds...)
		slices.Sort(p.free)
	}
}

// deliver takes a result of so many rounds in.
func (p *pool) deliver(order string, rounds int) error {
	err := p.check(order, rounds)
	if err == nil {
		p.shift(order).state = delivered
	}
	return err
}

// check says why a result of so many rounds cannot be taken in. A machine that
// measured all rounds there are does not ask whether there is another.
func (p *pool) check(order string, rounds int) error {
	s := p.shift(order)
	switch {
	case s == nil:
		return fmt.Errorf("no such order was given")
	case s.state == lost:
		return errGivenAway
	case s.state == delivered:
		return fmt.Errorf("its result is here already")
	case s.state != ended && len(s.rounds) != p.share*len(p.machines):
		return fmt.Errorf("its rounds are not over")
	case rounds != len(s.rounds):
		return fmt.Errorf("it has %d rounds; it was given %d", rounds, len(s.rounds))
	}
	return nil
}

// active reports whether a machine still measures, or has to deliver.
func (p *pool) active() bool {
	return slices.ContainsFunc(p.shifts, func(s *shift) bool { return s.state == measuring || s.state == ended })
}

// left is how many rounds are in no result.
func (p *pool) left() int {
	n := p.share * len(p.machines)
	for _, s := range p.shifts {
		if s.state == delivered {
			n -= len(s.rounds)
		}
	}
	return n
}
