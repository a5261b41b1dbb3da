package users

import (
	"context"
	"slices"
	"sync"
	"time"
)

type linear struct {
	mu     sync.RWMutex
	users  []User // sorted by id
	next   int64
	seeded []User // users after the last Reset; never modified
}

// Linear returns a store that is correct but slow: it scans all users for an e-mail or an id. Published
// benchmarks used such a store and attributed the results to transports. This one shows the effect.
func Linear() Repository { return &linear{next: FirstID} }

// Create implements [Repository].
func (l *linear) Create(ctx context.Context, d Draft, at time.Time) (User, error) {
	u := newUser(d, at)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch i, err := l.findEmail(ctx, u.Email); {
	case err != nil:
		return User{}, err
	case i >= 0:
		return User{}, ErrEmailTaken
	}
	u.ID, u.CreatedAt = l.next, at
	l.next++
	l.users = append(l.users, *u)
	return *u, nil
}

// Get implements [Repository].
func (l *linear) Get(ctx context.Context, id int64) (User, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	i, err := l.findID(ctx, id)
	if err != nil {
		return User{}, err
	}
	return l.users[i], nil
}

// Update implements [Repository].
func (l *linear) Update(ctx context.Context, id int64, d Draft, at time.Time) (User, error) {
	u := newUser(d, at)
	l.mu.Lock()
	defer l.mu.Unlock()
	i, err := l.findID(ctx, id)
	if err != nil {
		return User{}, err
	}
	switch j, err := l.findEmail(ctx, u.Email); {
	case err != nil:
		return User{}, err
	case j >= 0 && j != i:
		return User{}, ErrEmailTaken
	}
	u.ID, u.CreatedAt = id, l.users[i].CreatedAt
	l.users[i] = *u
	return *u, nil
}

// Delete implements [Repository].
func (l *linear) Delete(ctx context.Context, id int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	i, err := l.findID(ctx, id)
	if err != nil {
		return err
	}
	l.users = slices.Delete(l.users, i, i+1)
	return nil
}

// List implements [Repository].
func (l *linear) List(ctx context.Context, text string, offset, limit int) ([]User, int64, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if text == "" && ctx.Err() == nil {
		from := max(0, min(offset, len(l.users)))
		n := max(0, min(limit, len(l.users)-from))
		return slices.Clone(l.users[from:][:n]), int64(len(l.users)), nil
	}
	found, total := []User{}, 0
	// It never matches, so that findFirst scans all users.
	_, err := l.findFirst(ctx, func(u *User) bool {
		if matchesText(u, text) {
			if total >= offset && len(found) < limit {
				found = appendPage(found, *u, min(limit, len(l.users)))
			}
			total++
		}
		return false
	})
	if err != nil {
		return nil, 0, err
	}
	return found, int64(total), nil
}

// Reset implements [Repository]. It copies n seeded users, and makes them only for another n.
func (l *linear) Reset(ctx context.Context, n int) error {
	if err := checkReset(ctx, n); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if n != len(l.seeded) {
		seeded, err := seedUsers(ctx, n)
		if err != nil {
			return err
		}
		l.seeded = seeded
	}
	clear(l.users)
	l.users = append(l.users[:0], l.seeded...)
	l.next = FirstID + int64(n)
	return nil
}

// Close implements [Repository].
func (l *linear) Close() error { return nil }

// findEmail returns the index of the user with an e-mail, or -1.
func (l *linear) findEmail(ctx context.Context, email string) (int, error) {
	return l.findFirst(ctx, func(u *User) bool { return u.Email == email })
}

// findID returns the index of the user with an id, or ErrNotFound.
func (l *linear) findID(ctx context.Context, id int64) (int, error) {
	i, err := l.findFirst(ctx, func(u *User) bool { return u.ID == id })
	if err == nil && i < 0 {
		err = ErrNotFound
	}
	return i, err
}

// findFirst returns the index of the first match or -1.
func (l *linear) findFirst(ctx context.Context, match func(*User) bool) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	for i := range l.users {
		if i%checkEvery == checkEvery-1 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if match(&l.users[i]) {
			return i, nil
		}
	}
	return -1, nil
}
