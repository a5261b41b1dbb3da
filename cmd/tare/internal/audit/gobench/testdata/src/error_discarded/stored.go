package error_discarded

import "errors"

var errKnown = errors.New("known already")

// once accepts each key once.
type once[K comparable] struct {
	seen map[K]bool
	keys []K
}

func newOnce[K comparable]() *once[K] { return &once[K]{seen: map[K]bool{}} }

func (o *once[K]) add(k K) error {
	if o.seen[k] {
		return errKnown
	}
	o.seen[k] = true
	o.keys = append(o.keys, k)
	return nil
}

// ids accepts each order once. Reset forgets all.
type ids struct{ taken map[int]struct{} }

func (s *ids) take(id int) error {
	if _, isTaken := s.taken[id]; isTaken {
		return errKnown
	}
	s.taken[id] = struct{}{}
	return nil
}

func (s *ids) release(id int) { delete(s.taken, id) }

func (s *ids) check(id int) error {
	if _, isTaken := s.taken[id]; !isTaken {
		return errKnown
	}
	return nil
}

// ledger accepts each entry once, and leaves this to other methods.
type ledger struct {
	seen  map[int]bool
	sum   int
	names map[string]int
}

type entry struct{ id, cents int }

func (g *ledger) check(e entry) error {
	_, isKnown := g.seen[e.id]
	if isKnown {
		return errKnown
	}
	return nil
}

func (g *ledger) post(e entry) error {
	if err := g.check(e); err != nil {
		return err
	}
	g.seen[e.id] = true
	g.sum += e.cents
	return nil
}

func (g *ledger) postAll(entries []entry) error {
	for _, e := range entries {
		if err := g.check(e); err != nil {
			return err
		}
	}
	for _, e := range entries {
		g.seen[e.id] = true
	}
	return nil
}

func (g *ledger) clear() { clear(g.seen) }

// rename sets a name that exists.
func (g *ledger) rename(name string, n int) error {
	if _, ok := g.names[name]; !ok {
		return errKnown
	}
	g.names[name] = n
	return nil
}
