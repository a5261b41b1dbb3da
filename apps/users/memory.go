package users

import (
	"context"
	"sync"
	"time"
)

// memory keeps users in the order of their ids, found by id, e-mail and offset
// without looking at others.
//
// What it is reset to is made once. A change of it is noted, and the next Reset
// to as many users takes back what changed, so that its time depends on the
// changes and not on the size.
type memory struct {
	mu     sync.RWMutex
	ids    shelf
	emails map[string]int64 // ids
	next   int64            // id of the next user

	seeded []User  // what the last Reset left; never changed, and pointed to by ids
	astray []int64 // ids of those that are deleted or something else by now
}

// Memory is an indexed store, without users. Closing it does nothing.
func Memory() Repository { return &memory{emails: map[string]int64{}, next: FirstID} }

// Create is that of [Repository].
func (m *memory) Create(ctx context.Context, d Draft, at time.Time) (User, error) {
	u := kept(d, at)
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
	m.ids.put(u)
	m.emails[u.Email] = u.ID
	return *u, nil
}

// Get is that of [Repository].
func (m *memory) Get(ctx context.Context, id int64) (User, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if err := ctx.Err(); err != nil {
		return User{}, err
	}
	u := m.ids.at(id)
	if u == nil {
		return User{}, ErrNotFound
	}
	return *u, nil
}

// Update is that of [Repository].
func (m *memory) Update(ctx context.Context, id int64, d Draft, at time.Time) (User, error) {
	u := kept(d, at)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return User{}, err
	}
	former := m.ids.at(id)
	if former == nil {
		return User{}, ErrNotFound
	}
	if u.Email != former.Email {
		if _, taken := m.emails[u.Email]; taken {
			return User{}, ErrEmailTaken
		}
	}
	m.leave(former)
	// The key is replaced even where it stays equal: the former one is a part of
	// the former user.
	delete(m.emails, former.Email)
	m.emails[u.Email] = id
	u.ID, u.CreatedAt = id, former.CreatedAt
	m.ids.put(u)
	return *u, nil
}

// Delete is that of [Repository].
func (m *memory) Delete(ctx context.Context, id int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	u := m.ids.at(id)
	if u == nil {
		return ErrNotFound
	}
	m.leave(u)
	delete(m.emails, u.Email)
	m.ids.remove(id)
	return nil
}

// List is that of [Repository].
func (m *memory) List(ctx context.Context, text string, offset, limit int) ([]User, int64, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	if text != "" {
		return m.search(ctx, text, offset, limit)
	}
	found := make([]User, 0, max(0, min(limit, m.ids.count-offset)))
	for u := range m.ids.from(offset) {
		if len(found) == cap(found) {
			break
		}
		found = append(found, *u)
	}
	return found, int64(m.ids.count), nil
}

// search looks at everybody.
func (m *memory) search(ctx context.Context, text string, offset, limit int) ([]User, int64, error) {
	found, total, seen := []User{}, 0, 0
	for u := range m.ids.from(0) {
		if seen++; seen%patience == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		if !matches(u, text) {
			continue
		}
		if total >= offset && len(found) < limit {
			found = appended(found, *u, min(limit, m.ids.count))
		}
		total++
	}
	return found, int64(total), nil
}

// Close is that of [Repository].
func (m *memory) Close() error { return nil }

// leave notes that a seeded user is not what it was.
func (m *memory) leave(u *User) {
	if k := u.ID - FirstID; k < int64(len(m.seeded)) && u == &m.seeded[k] {
		m.astray = append(m.astray, u.ID)
	}
}

// kept is a user with its own copy of the draft, in one piece. What a caller hands
// over may be a part of a request that is long or lives in a buffer.
func kept(d Draft, at time.Time) *User {
	own := d.Name + d.Email
	return &User{Name: own[:len(d.Name)], Email: own[len(d.Name):], UpdatedAt: at}
}

// appended is append with room for a page as soon as there is one to come.
func appended(found []User, u User, room int) []User {
	if len(found) == 0 {
		found = make([]User, 0, room)
	}
	return append(found, u)
}

// patience is how many users are looked at between two looks at the context.
const patience = 1024
