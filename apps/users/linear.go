package users

import (
	"context"
	"slices"
	"sync"
	"time"
)

// linear keeps users in a slice.
type linear struct {
	mu     sync.RWMutex
	users  []User // by id
	next   int64
	seeded []User // what the last Reset left; never changed
}

// Linear is a store that does right and takes its time: it looks at one user
// after another to see whether an e-mail is taken and to find an id, so that
// each call costs more the more users there are. Benchmarks of services have
// been published that ran over such a store, and their figures were taken for
// those of the transports. It is here to show what that does.
func Linear() Repository { return &linear{next: FirstID} }

// Create is that of [Repository].
func (l *linear) Create(ctx context.Context, d Draft, at time.Time) (User, error) {
	u := kept(d, at)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch i, err := l.owner(ctx, u.Email); {
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

// Get is that of [Repository].
func (l *linear) Get(ctx context.Context, id int64) (User, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	i, err := l.place(ctx, id)
	if err != nil {
		return User{}, err
	}
	return l.users[i], nil
}

// Update is that of [Repository].
func (l *linear) Update(ctx context.Context, id int64, d Draft, at time.Time) (User, error) {
	u := kept(d, at)
	l.mu.Lock()
	defer l.mu.Unlock()
	i, err := l.place(ctx, id)
	if err != nil {
		return User{}, err
	}
	switch j, err := l.owner(ctx, u.Email); {
	case err != nil:
		return User{}, err
	case j >= 0 && j != i:
		return User{}, ErrEmailTaken
	}
	u.ID, u.CreatedAt = id, l.users[i].CreatedAt
	l.users[i] = *u
	return *u, nil
}

// Delete is that of [Repository].
func (l *linear) Delete(ctx context.Context, id int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	i, err := l.place(ctx, id)
	if err != nil {
		return err
	}
	l.users = slices.Delete(l.users, i, i+1)
	return nil
}

// List is that of [Repository].
func (l *linear) List(ctx context.Context, text string, offset, limit int) ([]User, int64, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if text == "" && ctx.Err() == nil {
		from := max(0, min(offset, len(l.users)))
		return slices.Clone(l.users[from:][:max(0, min(limit, len(l.users)-from))]), int64(len(l.users)), nil
	}
	found, total := []User{}, 0
	_, err := l.scan(ctx, func(u *User) bool {
		if matches(u, text) {
			if total >= offset && len(found) < limit {
				found = appended(found, *u, min(limit, len(l.users)))
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

// Reset is that of [Repository]. It copies n users.
func (l *linear) Reset(ctx context.Context, n int) error {
	if err := resettable(ctx, n); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if n != len(l.seeded) {
		seeded, err := seed(ctx, n)
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

// Close is that of [Repository].
func (l *linear) Close() error { return nil }

// owner is where the user of that e-mail is; -1: nowhere.
func (l *linear) owner(ctx context.Context, email string) (int, error) {
	return l.scan(ctx, func(u *User) bool { return u.Email == email })
}

// place is where the user of that id is.
func (l *linear) place(ctx context.Context, id int64) (int, error) {
	i, err := l.scan(ctx, func(u *User) bool { return u.ID == id })
	if err == nil && i < 0 {
		err = ErrNotFound
	}
	return i, err
}

// scan is where the first user is that is meant; -1: nowhere.
func (l *linear) scan(ctx context.Context, meant func(*User) bool) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	for i := range l.users {
		if i%patience == patience-1 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if meant(&l.users[i]) {
			return i, nil
		}
	}
	return -1, nil
}
