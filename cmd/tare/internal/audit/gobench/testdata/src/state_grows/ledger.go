package state_grows

import (
	"errors"
	"slices"
)

var errOrder = errors.New("out of order")

// ledger has entries in the order of their days.
type ledger struct {
	entries []entry
	sums    map[int]int
}

type entry struct{ day, account, amount int }

func (l *ledger) post(e entry) error {
	if n := len(l.entries); n > 0 && e.day < l.entries[n-1].day {
		return errOrder
	}
	l.entries = append(l.entries, e)
	return nil
}

func (l *ledger) balance(account int) (sum int) {
	for _, e := range l.entries {
		if e.account == account {
			sum += e.amount
		}
	}
	return sum
}

// first stops at the first entry of an account.
func (l *ledger) first(account int) int {
	for _, e := range l.entries {
		if e.account == account {
			return e.day
		}
	}
	return 0
}

func (l *ledger) rollBack(n int) { l.entries = l.entries[:n] }

// spans has disjoint ranges in order.
type spans struct{ list []int }

func (s *spans) add(from int) {
	i, _ := slices.BinarySearch(s.list, from)
	s.list = slices.Replace(s.list, i, i, from)
}

func (s *spans) has(from int) bool {
	_, found := slices.BinarySearch(s.list, from)
	return found
}
