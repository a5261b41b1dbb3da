package users

import "context"

// Reset is that of [Repository]. It takes the time of the changes since the last
// one, or, where that was to another number, of making n users.
func (m *memory) Reset(ctx context.Context, n int) error {
	if err := resettable(ctx, n); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if n != len(m.seeded) {
		seeded, err := seed(ctx, n)
		if err != nil {
			return err
		}
		m.seeded = seeded
		m.rebuild()
		return nil
	}
	// Taking back more than there was would be slower, and would leave a map
	// with the room that it has come to have.
	if created := m.next - FirstID - int64(n); int64(len(m.astray))+created > int64(n) {
		m.rebuild()
		return nil
	}
	m.takeBack()
	return nil
}

// rebuild makes everything anew from the seeded users.
func (m *memory) rebuild() {
	m.ids = shelf{}
	m.emails = make(map[string]int64, len(m.seeded))
	m.astray = nil
	m.next = FirstID + int64(len(m.seeded))
	for i := range m.seeded {
		u := &m.seeded[i]
		m.ids.put(u)
		m.emails[u.Email] = u.ID
	}
}

// takeBack removes whoever is not as seeded before it brings back those who
// were: e-mails may have gone from one to another.
func (m *memory) takeBack() {
	first := FirstID + int64(len(m.seeded))
	for id := first; id < m.next; id++ {
		m.drop(id)
	}
	for _, id := range m.astray {
		m.drop(id)
	}
	for _, id := range m.astray {
		u := &m.seeded[id-FirstID]
		m.ids.put(u)
		m.emails[u.Email] = id
	}
	m.ids.cut(first)
	m.astray = m.astray[:0]
	m.next = first
}

func (m *memory) drop(id int64) {
	if u := m.ids.at(id); u != nil {
		delete(m.emails, u.Email)
		m.ids.remove(id)
	}
}

// seed makes the first n users.
func seed(ctx context.Context, n int) ([]User, error) {
	made := make([]User, n)
	for k := range made {
		if k%patience == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		made[k] = Seeded(k)
	}
	return made, nil
}
