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
