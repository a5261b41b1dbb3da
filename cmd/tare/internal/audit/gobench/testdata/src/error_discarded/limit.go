package error_discarded

import "errors"

var (
	errFull  = errors.New("full")
	errFunds = errors.New("insufficient funds")
	errField = errors.New("unknown field")
	errDeep  = errors.New("too deep")
)

// ring has a fixed number of entries.
type ring struct {
	entries []int
	n       int
}

func newRing(size int) *ring { return &ring{entries: make([]int, size)} }

func (r *ring) push(v int) error {
	if r.n == len(r.entries) {
		return errFull
	}
	r.entries[r.n] = v
	r.n++
	return nil
}

func (r *ring) pop() int { r.n--; return r.entries[r.n] }

// accounts has the money of each account.
type accounts struct{ money map[int]int }

func newAccounts(n int) *accounts { return &accounts{money: map[int]int{1: n, 2: n}} }

func (a *accounts) transfer(from, to, amount int) error {
	have := a.money[from]
	if have < amount {
		return errFunds
	}
	a.money[from] = have - amount
	a.money[to] += amount
	return nil
}

// limits are those of a nester.
type limits struct{ depth int }

type nester struct{ max int }

func newNester(l limits) *nester { return &nester{max: max(l.depth, 32)} }

func (n *nester) read(depth int) (int, error) {
	if depth > n.max {
		return 0, errDeep
	}
	return depth, nil
}

// readField reads key=value.
func readField(line []byte) error {
	if len(line) < 3 || string(line[:3]) != "ts=" {
		return errField
	}
	return nil
}
