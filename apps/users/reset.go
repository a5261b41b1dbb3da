package users

import "context"

// Reset implements [Repository]. If n is the same as in the last Reset, it only undoes the changes
// since then; otherwise it makes n users.
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
	// After more changes than users, undoing the changes would take longer than a rebuild, and the
	// map of e-mails would keep its size.
	created := m.next - FirstID - int64(n)
	if int64(len(m.changed))+created > int64(n) {
		m.rebuild()
		return nil
	}
	m.undoChanges()
	return nil
}

// rebuild builds all indexes from the seeded users.
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

// undoChanges removes the users that were created since the last Reset, and restores the seeded users
// that were updated or deleted. It removes all changed users before it restores the first one, because
// one user may have the former e-mail of another.
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

// removeUser removes the user with an id from all indexes, if there is one.
func (m *memory) removeUser(id int64) {
	if u := m.ids.userAt(id); u != nil {
		delete(m.emails, u.Email)
		m.ids.removeID(id)
	}
}

// seedUsers returns the first n users of [Seeded].
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
