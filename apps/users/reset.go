package users

import "context"

// Reset implements [Repository]. It takes the time of the changes since the last one, or, if that
// was to another number, of making n users.
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
	// Undoing more changes than there are users would be slower, and would leave a map with its
	// grown size.
	if created := m.next - FirstID - int64(n); int64(len(m.changed))+created > int64(n) {
		m.rebuild()
		return nil
	}
	m.takeBack()
	return nil
}

// rebuild makes all indexes again from the seeded users.
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

// takeBack removes all changed users before it restores the seeded ones: e-mails may have moved
// between users.
func (m *memory) takeBack() {
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

// seedUsers makes the first n users.
func seedUsers(ctx context.Context, n int) ([]User, error) {
	made := make([]User, n)
	for k := range made {
		if k%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		made[k] = Seeded(k)
	}
	return made, nil
}
