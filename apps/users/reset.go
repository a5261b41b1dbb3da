package users

import "context"

// Reset implements [Repository]. For the same n it only undoes changes.
func (m *memory) Reset(ctx context.Context, n int) error {
	if err := checkReset(ctx, n); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if n != len(m.seeded) {
		seeded, err := seedUsers(ctx, n)
		if err != nil {
			return err
		}
		m.seeded = seeded
		m.rebuild()
		return nil
	}
	// After many changes a rebuild is faster, and the map of e-mails shrinks.
	created := m.next - FirstID - int64(n)
	if int64(len(m.changed))+created > int64(n) {
		m.rebuild()
		return nil
	}
	m.undoChanges()
	return nil
}

func (m *memory) rebuild() {
	m.ids = userIndex{}
	m.emails = make(map[string]int64, len(m.seeded))
	m.changed = nil
	m.next = FirstID + int64(len(m.seeded))
	for i := range m.seeded {
		u := &m.seeded[i]
		m.ids.putUser(u)
		m.emails[u.Email] = u.ID
	}
}

// undoChanges restores the state after the last Reset. One user may have the former e-mail of another. So it
// removes all changed users before it restores any.
func (m *memory) undoChanges() {
	first := FirstID + int64(len(m.seeded))
	for id := first; id < m.next; id++ {
		m.removeUser(id)
	}
	for _, id := range m.changed {
		m.removeUser(id)
	}
	for _, id := range m.changed {
		u := &m.seeded[id-FirstID]
		m.ids.putUser(u)
		m.emails[u.Email] = id
	}
	m.ids.truncateAt(first)
	m.changed = m.changed[:0]
	m.next = first
}

func (m *memory) removeUser(id int64) {
	if u := m.ids.userAt(id); u != nil {
		delete(m.emails, u.Email)
		m.ids.removeID(id)
	}
}

func seedUsers(ctx context.Context, n int) ([]User, error) {
	list := make([]User, n)
	for i := range list {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		list[i] = Seeded(i)
	}
	return list, nil
}
