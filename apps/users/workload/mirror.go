package workload

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/apps/users"
)

// mirror is a store that only contains changes: it computes the other users. It is as quick to make
// with a million users as with one, and independent of the stores that are compared with it. It is
// for one caller.
type mirror struct {
	n       int                   // seeded users
	next    int64                 // id
	changed map[int64]*users.User // that are not as seeded; nil if deleted
	emails  map[string]int64      // of the changed users
}

var _ users.Repository = (*mirror)(nil)

func newMirror(n int) *mirror {
	m := &mirror{}
	m.reset(n)
	return m
}

func (m *mirror) reset(n int) {
	*m = mirror{n: n, next: users.FirstID + int64(n), changed: map[int64]*users.User{}, emails: map[string]int64{}}
}

// Reset leaves n seeded users.
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
	if k := id - users.FirstID; k >= 0 && k < int64(m.n) {
		return users.Seeded(int(k)), true
	}
	return users.User{}, false
}

// emailHolder returns the id of the user with an e-mail, or 0.
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

// put stores u in place of was, which is zero for a new user.
func (m *mirror) put(was, u users.User) {
	delete(m.emails, was.Email)
	m.changed[u.ID], m.emails[u.Email] = &u, u.ID
}

// Create stores a new user.
func (m *mirror) Create(_ context.Context, d users.Draft, at time.Time) (users.User, error) {
	if m.emailHolder(d.Email) != 0 {
		return users.User{}, users.ErrEmailTaken
	}
	u := users.User{ID: m.next, Name: d.Name, Email: d.Email, CreatedAt: at, UpdatedAt: at}
	m.next++
	m.put(users.User{}, u)
	return u, nil
}

// Get returns the user of that id.
func (m *mirror) Get(_ context.Context, id int64) (users.User, error) {
	u, ok := m.findUser(id)
	if !ok {
		return u, users.ErrNotFound
	}
	return u, nil
}

// Update replaces name and e-mail.
func (m *mirror) Update(_ context.Context, id int64, d users.Draft, at time.Time) (users.User, error) {
	u, ok := m.findUser(id)
	if !ok {
		return u, users.ErrNotFound
	}
	if by := m.emailHolder(d.Email); by != 0 && by != id {
		return users.User{}, users.ErrEmailTaken
	}
	was := u
	u.Name, u.Email, u.UpdatedAt = d.Name, d.Email, at
	m.put(was, u)
	return u, nil
}

// Delete forgets the user.
func (m *mirror) Delete(_ context.Context, id int64) error {
	u, ok := m.findUser(id)
	if !ok {
		return users.ErrNotFound
	}
	delete(m.emails, u.Email)
	m.changed[id] = nil
	return nil
}

// List scans all users: it returns those that match from offset on, and how many do.
func (m *mirror) List(_ context.Context, text string, offset, limit int) ([]users.User, int64, error) {
	if text == "" && len(m.changed) == 0 { // the page can be computed
		var list []users.User
		for k := offset; k < m.n && len(list) < limit; k++ {
			list = append(list, users.Seeded(k))
		}
		return list, int64(m.n), nil
	}
	var list []users.User
	var total int64
	for id := int64(users.FirstID); id < m.next; id++ {
		u, ok := m.findUser(id)
		if !ok || !slices.ContainsFunc([]string{u.Name, u.Email}, func(s string) bool { return strings.Contains(strings.ToLower(s), text) }) {
			continue
		}
		if total >= int64(offset) && len(list) < limit {
			list = append(list, u)
		}
		total++
	}
	return list, total, nil
}
