package input_consumed

type index[K comparable] struct {
	byKey map[K]int
	order []K
}

func newIndex[K comparable]() *index[K] { return &index[K]{byKey: map[K]int{}} }

func (x *index[K]) Add(key K) { x.byKey[key] = len(x.byKey) }

// Remove does nothing for a key that does not exist.
func (x *index[K]) Remove(key K) bool {
	if _, ok := x.byKey[key]; !ok {
		return false
	}
	delete(x.byKey, key)
	return true
}

func (x *index[K]) Forget(key K) { x.drop(key) }

func (x *index[K]) drop(key K) { delete(x.byKey, key) }

// Unset marks a key, whether it exists or not.
func (x *index[K]) Unset(key K) { x.order = append(x.order[:0], key) }
