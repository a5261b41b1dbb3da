package fleet

import (
	"errors"
	"fmt"
	"slices"
)

// pool assigns the rounds of a study to machines. Rounds of a lost machine go to machines that are done.
//
// It depends only on its events. The journal records them, so replaying it gives the same state.
type pool struct {
	share       int // rounds of each machine
	machines    []string
	free        []int         // sorted rounds without a machine
	assignments []*assignment // oldest first
}

// assignment has the rounds that a machine measures for one order.
type assignment struct {
	order, machine string
	rounds         []int // rounds that the machine got
	done           int
	state          assignmentState
}

type assignmentState int

const (
	measuring assignmentState = iota
	ended                     // no further rounds; the result is due
	delivered                 // the result is saved
	lost                      // the rounds were taken back
)

var errReassigned = errors.New("its rounds were given to others")

func newPool(machines []string, share int) *pool {
	p := &pool{share: share, machines: machines}
	for round := range share * len(machines) {
		p.free = append(p.free, round+1)
	}
	return p
}

// event is a line of the journal.
type event struct {
	What    string `json:"what"`
	Order   string `json:"order"`
	Machine string `json:"machine,omitempty"` // machine of eventBegin
	Done    int    `json:"done,omitempty"`    // measured rounds, of eventAsk and eventDeliver
	Why     string `json:"why,omitempty"`     // reason of eventLose
	File    string `json:"file,omitempty"`    // file of eventDeliver
}

const (
	eventBegin   = "begin"   // a machine gets an order
	eventAsk     = "ask"     // the machine requests another round
	eventLose    = "lose"    // the order's rounds are free again
	eventDeliver = "deliver" // the result is saved
)

func (p *pool) applyEvent(e event) error {
	switch e.What {
	case eventBegin:
		return p.assign(e.Order, e.Machine)
	case eventAsk:
		p.nextRound(e.Order, e.Done)
		return nil
	case eventLose:
		p.takeBack(e.Order)
		return nil
	case eventDeliver:
		return p.markDelivered(e.Order, e.Done)
	}
	return fmt.Errorf("%q does not happen to rounds", e.What)
}

func (p *pool) findAssignment(order string) *assignment {
	if i := slices.IndexFunc(p.assignments, func(a *assignment) bool { return a.order == order }); i >= 0 {
		return p.assignments[i]
	}
	return nil
}

// assign gives a machine an order, without rounds yet. It fails unless the order is new and the machine is free.
func (p *pool) assign(order, machine string) error {
	switch {
	case !slices.Contains(p.machines, machine):
		return fmt.Errorf("%s is not one of the machines", machine)
	case p.findAssignment(order) != nil:
		return fmt.Errorf("order %s was given before", order)
	case p.assignmentOf(machine) != nil:
		return fmt.Errorf("%s has an order", machine)
	}
	p.assignments = append(p.assignments, &assignment{order: order, machine: machine})
	return nil
}

// assignmentOf returns the assignment of a machine, or nil. It ignores lost ones.
func (p *pool) assignmentOf(machine string) *assignment {
	if i := slices.IndexFunc(p.assignments, func(a *assignment) bool { return a.machine == machine && a.state != lost }); i >= 0 {
		return p.assignments[i]
	}
	return nil
}

// nextRound replies with a round, "wait" or "end". done is the number of measured rounds. A repeated request
// gets the same reply.
func (p *pool) nextRound(order string, done int) (reply permitReply, changed bool) {
	assigned := p.findAssignment(order)
	switch {
	case assigned == nil:
		return permitReply{Gone: "no such order was given"}, false
	case assigned.state == lost:
		return permitReply{Gone: errReassigned.Error()}, false
	case done == len(assigned.rounds)-1 && assigned.done == done: // a repeated request: its round was assigned already
		return permitReply{Round: assigned.rounds[done]}, false
	case done != len(assigned.rounds):
		return permitReply{Gone: fmt.Sprintf("it says that %d rounds are done; it was given %d", done, len(assigned.rounds))}, false
	case assigned.state != measuring:
		return permitReply{End: true}, false
	}
	changed = assigned.done != done
	assigned.done = done
	inShare := len(assigned.rounds) < p.share
	hasSpare := len(p.free) > p.countReserved()
	if len(p.free) > 0 && (inShare || hasSpare) {
		assigned.rounds = append(assigned.rounds, p.free[0])
		p.free = p.free[1:]
		return permitReply{Round: assigned.rounds[done]}, true
	}
	isMeasuring := func(a *assignment) bool { return a.state == measuring && a.done < len(a.rounds) }
	if len(p.free) == 0 && !slices.ContainsFunc(p.assignments, isMeasuring) { // no round can become free again
		assigned.state = ended
		return permitReply{End: true}, true
	}
	return permitReply{Wait: true}, changed
}

// countReserved counts rounds that machines may still take as their share.
func (p *pool) countReserved() int {
	n := 0
	for _, machine := range p.machines {
		switch assigned := p.assignmentOf(machine); {
		case assigned == nil && p.countLosses(machine) == 0: // not started yet
			n += p.share
		case assigned != nil && assigned.state == measuring:
			n += max(0, p.share-len(assigned.rounds))
		}
	}
	return n
}

func (p *pool) countLosses(machine string) (n int) {
	for _, assigned := range p.assignments {
		if assigned.machine == machine && assigned.state == lost {
			n++
		}
	}
	return n
}

func (p *pool) takeBack(order string) {
	if assigned := p.findAssignment(order); assigned != nil && assigned.state != lost {
		assigned.state = lost
		p.free = append(p.free, assigned.rounds...)
		slices.Sort(p.free)
	}
}

func (p *pool) markDelivered(order string, rounds int) error {
	err := p.checkResult(order, rounds)
	if err == nil {
		p.findAssignment(order).state = delivered
	}
	return err
}

// checkResult checks that the order has ended after this number of rounds. A machine that has measured all
// rounds requests no other, so it need not have ended.
func (p *pool) checkResult(order string, rounds int) error {
	assigned := p.findAssignment(order)
	switch {
	case assigned == nil:
		return fmt.Errorf("no such order was given")
	case assigned.state == lost:
		return errReassigned
	case assigned.state == delivered:
		return fmt.Errorf("its result is here already")
	case assigned.state != ended && len(assigned.rounds) != p.share*len(p.machines):
		return fmt.Errorf("its rounds are not over")
	case rounds != len(assigned.rounds):
		return fmt.Errorf("it has %d rounds; it was given %d", rounds, len(assigned.rounds))
	}
	return nil
}

func (p *pool) isActive() bool {
	return slices.ContainsFunc(p.assignments, func(a *assignment) bool { return a.state == measuring || a.state == ended })
}

func (p *pool) countMissing() int {
	n := p.share * len(p.machines)
	for _, assigned := range p.assignments {
		if assigned.state == delivered {
			n -= len(assigned.rounds)
		}
	}
	return n
}
