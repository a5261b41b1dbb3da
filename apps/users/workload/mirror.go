package workload

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/apps/users"
)

// mirror is the reference store, for comparison with measured services. It has only changed users and computes
// others with users.Seeded. So a million users take no more time. It shares no other code with the services.
// It is not for concurrent calls.
type mirror struct {
	seeded  int                   // number of seeded users
	next    int64                 // id of the next user
	changed map[int64]*users.User // nil for a deleted user
	emails  map[string]int64      // ids of changed users
}

var _ users.Repository = (*mirror)(nil)

func newMirror(n int) *mirror {
	m := &mirror{}
	m.reset(n)
	return m
}

func (m *mirror) reset(n int) {
	*m = mirror{seeded: n, next: users.FirstID + int64(n), changed: map[int64]*users.User{}, emails: map[string]int64{}}
}

// Reset implements [users.Repository].
func (m *mirror) Reset(_ context.Context, n int) error {
	m.reset(n)
	return nil
}

// Close does nothing.
func (m *mirror) Close() error { return nil }

func (m *mirror) findUser(id int64) (users.User, bool) {
	if u, ok := m.changed[id]; ok {
		if u == nil {
			return users.User{}, false
		}
		return *u, true
	}
	if k := id - users.FirstID; k >= 0 && k < int64(m.seeded) {
		return users.Seeded(int(k)), true
	}
	return users.User{}, false
}

// emailHolder returns the id of the user with an e-mail, or 0. A seeded e-mail contains the id.
func (m *mirror) emailHolder(email string) int64 {
	if id, ok := m.emails[email]; ok {
		return id
	}
	id, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimPrefix(email, "u"), "@example.com"), 10, 64)
	if u, ok := m.findUser(id); err == nil && ok && u.Email == email {
		return id
	}
	return 0
}

// putUser stores u instead of previous, which is zero for a new user.
func (m *mirror) putUser(previous, u users.User) {
	delete(m.emails, previous.Email)
	m.changed[u.ID], m.emails[u.Email] = &u, u.ID
}

// Create implements [users.Repository].
func (m *mirror) Create(_ context.Context, d users.Draft, at time.Time) (users.User, error) {
	if m.emailHolder(d.Email) != 0 {
		return users.User{}, users.ErrEmailTaken
	}
	u := users.User{ID: m.next, Name: d.Name, Email: d.Email, CreatedAt: at, UpdatedAt: at}
	m.next++
	m.putUser(users.User{}, u)
	return u, nil
}

// Get implements [users.Repository].
func (m *mirror) Get(_ context.Context, id int64) (users.User, error) {
	u, ok := m.findUser(id)
	if !ok {
		return u, users.ErrNotFound
	}
	return u, nil
}

// Update implements [users.Repository].
func (m *mirror) Update(_ context.Context, id int64, d users.Draft, at time.Time) (users.User, error) {
	u, ok := m.findUser(id)
	if !ok {
		return u, users.ErrNotFound
	}
	if holder := m.emailHolder(d.Email); holder != 0 && holder != id {
		return users.User{}, users.ErrEmailTaken
	}
	previous := u
	u.Name, u.Email, u.UpdatedAt = d.Name, d.Email, at
	m.putUser(previous, u)
	return u, nil
}

// Delete implements [users.Repository].
func (m *mirror) Delete(_ context.Context, id int64) error {
	u, ok := m.findUser(id)
	if !ok {
		return users.ErrNotFound
	}
	delete(m.emails, u.Email)
	m.changed[id] = nil
	return nil
}

// List implements [users.Repository]. It scans all users, unless it can compute the page.
func (m *mirror) List(_ context.Context, text string, offset, limit int) ([]users.User, int64, error) {
	if text == "" && len(m.changed) == 0 {
		var list []users.User
		for k := offset; k < m.seeded && len(list) < limit; k++ {
			list = append(list, users.Seeded(k))
		}
		return list, int64(m.seeded), nil
	}
	var list []users.User
	var total int64
	for id := int64(users.FirstID); id < m.next; id++ {
		u, ok := m.findUser(id)
		isMatch := containsFold(u.Name, text) || containsFold(u.Email, text)
		if !ok || !isMatch {
			continue
		}
		if total >= int64(offset) && len(list) < limit {
			list = append(list, u)
		}
		total++
	}
	return list, total, nil
}

// containsFold reports whether s contains text, ignoring case. text must be in lower case.
func containsFold(s, text string) bool { return strings.Contains(strings.ToLower(s), text) }
