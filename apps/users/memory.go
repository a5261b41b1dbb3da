package users

import (
	"context"
	"sync"
	"time"
)

// memory stores users in the order of their ids, found by id, e-mail and offset without a scan.
type memory struct {
	mu     sync.RWMutex
	ids    userIndex
	emails map[string]int64 // ids
	next   int64            // id of the next user

	seeded  []User  // users of the last Reset; never changed, and pointed to by ids
	changed []int64 // ids of seeded users that are deleted or changed
}

// Memory returns an indexed store, without users. Closing it does nothing.
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
	former := m.ids.userAt(id)
	if former == nil {
		return User{}, ErrNotFound
	}
	if u.Email != former.Email {
		if _, taken := m.emails[u.Email]; taken {
			return User{}, ErrEmailTaken
		}
	}
	m.addChanged(former)
	// The key is replaced even if it stays equal: the former one is a part of the former user.
	delete(m.emails, former.Email)
	m.emails[u.Email] = id
	u.ID, u.CreatedAt = id, former.CreatedAt
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

// searchAll scans all users.
func (m *memory) searchAll(ctx context.Context, text string, offset, limit int) ([]User, int64, error) {
	found, total, seen := []User{}, 0, 0
	for u := range m.ids.usersFrom(0) {
		if seen++; seen%checkEvery == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		if !matches(u, text) {
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

// addChanged records that a seeded user is changed.
func (m *memory) addChanged(u *User) {
	if k := u.ID - FirstID; k < int64(len(m.seeded)) && u == &m.seeded[k] {
		m.changed = append(m.changed, u.ID)
	}
}

// newUser returns a user with a copy of the draft, in one allocation. The caller's strings may be a
// part of a request that is long or in a buffer.
func newUser(d Draft, at time.Time) *User {
	own := d.Name + d.Email
	return &User{Name: own[:len(d.Name)], Email: own[len(d.Name):], UpdatedAt: at}
}

// appendPage is append with room for a page as soon as there is a user.
func appendPage(found []User, u User, room int) []User {
	if len(found) == 0 {
		found = make([]User, 0, room)
	}
	return append(found, u)
}

// checkEvery is the number of users between two checks of the context.
const checkEvery = 1024
