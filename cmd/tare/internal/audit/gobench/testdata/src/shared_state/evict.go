package shared_state

// recent keeps at most limit values, by name.
type recent struct {
	limit  int
	order  []string
	values map[string]int
}

func newRecent(limit int) *recent { return &recent{limit: limit, values: map[string]int{}} }

func (r *recent) Store(name string, value int) {
	if _, ok := r.values[name]; !ok {
		r.order = append(r.order, name)
	}
	r.values[name] = value
	if len(r.order) > r.limit {
		delete(r.values, r.order[0])
		r.order = r.order[1:]
	}
}

func (r *recent) Value(name string) int { return r.values[name] }
