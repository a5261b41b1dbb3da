package users

import (
	"context"
	"sync"
	"time"
)

// checkEvery is the number of scanned users between checks of the context.
const checkEvery = 1024

// memory has indexes for id, offset and e-mail. Only a search for text scans. A user in ids is never modified:
// an update replaces it.
type memory struct {
	mu     sync.RWMutex
	ids    userIndex
	emails map[string]int64
	next   int64

	seeded  []User  // users after the last Reset; ids points to unchanged ones
	changed []int64 // seeded users updated or deleted since the Reset
}

// Memory returns an indexed store in memory, without users. Close does nothing.
func Memory() Repository { return &memory{emails: map[string]int64{}, next: FirstID} }

// Create implements [Repository].
func (m *memory) Create(ctx context.Context, d Draft, at time.Time) (User, error) {
	u := newUser(d, at)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return User{}, err
	}
	if _, taken := m.emails[u.Email]; taken {
		return User{}, ErrEmailTaken
	}
	u.ID, u.CreatedAt = m.next, at
	m.next++
	m.ids.putUser(u)
	m.emails[u.Email] = u.ID
	return *u, nil
}

// Get implements [Repository].
func (m *memory) Get(ctx context.Context, id int64) (User, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if err := ctx.Err(); err != nil {
		return User{}, err
	}
	u := m.ids.userAt(id)
	if u == nil {
		return User{}, ErrNotFound
	}
	return *u, nil
}

// Update implements [Repository].
func (m *memory) Update(ctx context.Context, id int64, d Draft, at time.Time) (User, error) {
	u := newUser(d, at)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return User{}, err
	}
	previous := m.ids.userAt(id)
	if previous == nil {
		return User{}, ErrNotFound
	}
	if u.Email != previous.Email {
		if _, taken := m.emails[u.Email]; taken {
			return User{}, ErrEmailTaken
		}
	}
	m.addChanged(previous)
	// The old key would keep the memory of the previous user.
	delete(m.emails, previous.Email)
	m.emails[u.Email] = id
	u.ID, u.CreatedAt = id, previous.CreatedAt
	m.ids.putUser(u)
	return *u, nil
}

// Delete implements [Repository].
func (m *memory) Delete(ctx context.Context, id int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	u := m.ids.userAt(id)
	if u == nil {
		return ErrNotFound
	}
	m.addChanged(u)
	delete(m.emails, u.Email)
	m.ids.removeID(id)
	return nil
}

// List implements [Repository].
func (m *memory) List(ctx context.Context, text string, offset, limit int) ([]User, int64, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	if text != "" {
		return m.searchAll(ctx, text, offset, limit)
	}
	found := make([]User, 0, max(0, min(limit, m.ids.count-offset)))
	for u := range m.ids.usersFrom(offset) {
		if len(found) == cap(found) {
			break
		}
		found = append(found, *u)
	}
	return found, int64(m.ids.count), nil
}

func (m *memory) searchAll(ctx context.Context, text string, offset, limit int) ([]User, int64, error) {
	found, total, scanned := []User{}, 0, 0
	for u := range m.ids.usersFrom(0) {
		if scanned++; scanned%checkEvery == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		if !matchesText(u, text) {
			continue
		}
		if total >= offset && len(found) < limit {
			found = appendPage(found, *u, min(limit, m.ids.count))
		}
		total++
	}
	return found, int64(total), nil
}

// Close implements [Repository].
func (m *memory) Close() error { return nil }

// addChanged records that u is about to be updated or deleted, if it is a user of the last Reset.
func (m *memory) addChanged(u *User) {
	i := u.ID - FirstID
	isSeeded := i < int64(len(m.seeded)) && u == &m.seeded[i]
	if isSeeded {
		m.changed = append(m.changed, u.ID)
	}
}

// newUser copies the draft's strings in one allocation. They could keep a long request in memory, or change
// with a reused buffer.
func newUser(d Draft, at time.Time) *User {
	text := d.Name + d.Email
	return &User{Name: text[:len(d.Name)], Email: text[len(d.Name):], UpdatedAt: at}
}

func appendPage(found []User, u User, capacity int) []User {
	if len(found) == 0 {
		found = make([]User, 0, capacity)
	}
	return append(found, u)
}
