// Package userstest holds repositories of app users against what package users
// says of them:
//
//	func TestStore(t *testing.T) {
//		userstest.Repository(t, func(t *testing.T) users.Repository { return open(t) })
//	}
//
// Beyond the words of [users.Repository] it asks that users are listed in the
// order of their ids; that lower case is what strings.ToLower makes; that times are
// kept to the microsecond and come back in UTC; and that an unknown id is refused
// before an e-mail that is taken. The number of users and a page need not be of
// the same moment, but each is of one.
package userstest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users"
)

// Repository runs the suite. Each test opens a store of its own, or one that was
// used before, resets it and closes it. With TARE_SOAK=1 what depends on chance
// is tried ten times as often.
func Repository(t *testing.T, open func(t *testing.T) users.Repository) {
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			r := open(t)
			defer func() {
				if err := r.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			}()
			if err := c.run(t.Context(), r); err != nil {
				t.Error(err)
			}
		})
	}
}

// check is one test. Its error says all that is wrong.
type check struct {
	name string
	run  func(ctx context.Context, r users.Repository) error
}

func checks() []check {
	return []check{
		{"create", create},
		{"unknown", unknown},
		{"update", update},
		{"failed update", failedUpdate},
		{"delete", remove},
		{"ids are not used again", ids},
		{"model", model},
		{"creators of one e-mail", creators},
		{"updates to one e-mail", updaters},
		{"creators and updates", both},
		{"own users", own},
		{"pages", pages},
		{"pages while others create and delete", stablePages},
		{"pages while their users are deleted", shrinkingPages},
		{"search", search},
		{"pages of a search", searchPages},
		{"cancelled before", cancelledBefore},
		{"cancelled meanwhile", cancelledMeanwhile},
		{"reset", reset},
		{"reset to another number", resetOther},
	}
}

// times is n, or ten times as many in a soak.
func times(n int) int {
	if os.Getenv("TARE_SOAK") != "" {
		return 10 * n
	}
	return n
}

// moment is a time that stores can keep, and not a whole second.
func moment(i int) time.Time {
	return time.Date(2025, time.June, 1, 12, 30, 0, 0, time.UTC).Add(time.Duration(i) * 1_000_001 * time.Microsecond)
}

func draft(i int) users.Draft {
	return users.Draft{Name: fmt.Sprintf("Person %d", i), Email: fmt.Sprintf("person%d@example.org", i)}
}

func drafted(id int64, d users.Draft, created, updated time.Time) users.User {
	return users.User{ID: id, Name: d.Name, Email: d.Email, CreatedAt: created, UpdatedAt: updated}
}

// faults collects what is wrong.
type faults struct{ list []error }

func (f *faults) add(format string, args ...any) {
	if len(f.list) < 10 {
		f.list = append(f.list, fmt.Errorf(format, args...))
	}
}

// is wants that user and no error.
func (f *faults) is(what string, got users.User, err error, want users.User) {
	if err != nil {
		f.add("%s: %w", what, err)
	} else if !same(got, want) {
		f.add("%s: %+v, want %+v", what, got, want)
	}
}

// refused wants that error.
func (f *faults) refused(what string, err, want error) {
	if !errors.Is(err, want) {
		f.add("%s: error %v, want %v", what, err, want)
	}
}

func (f *faults) err() error { return errors.Join(f.list...) }

// same compares users, times as moments, which are to be in UTC.
func same(a, b users.User) bool {
	utc := func(t time.Time) bool { return t.Location() == time.UTC }
	return a.ID == b.ID && a.Name == b.Name && a.Email == b.Email &&
		a.CreatedAt.Equal(b.CreatedAt) && a.UpdatedAt.Equal(b.UpdatedAt) && utc(a.CreatedAt) && utc(a.UpdatedAt)
}

// holds wants exactly those users, listed in that order, each under its id, and
// their e-mails taken.
func (f *faults) holds(ctx context.Context, what string, r users.Repository, want []users.User) {
	got, total, err := r.List(ctx, "", 0, len(want)+10)
	if err != nil {
		f.add("%s: list: %w", what, err)
		return
	}
	if int(total) != len(want) || len(got) != len(want) {
		f.add("%s: %d users listed of %d, want %d", what, len(got), total, len(want))
		return
	}
	for i := range want {
		if !same(got[i], want[i]) {
			f.add("%s: %+v listed at %d, want %+v", what, got[i], i, want[i])
		}
		u, err := r.Get(ctx, want[i].ID)
		f.is(what+": get", u, err, want[i])
		_, err = r.Create(ctx, users.Draft{Name: "Somebody else", Email: want[i].Email}, moment(0))
		f.refused(what+": create with the e-mail of "+want[i].Name, err, users.ErrEmailTaken)
	}
}

// filled resets the repository to n users and says which those are.
func filled(ctx context.Context, r users.Repository, n int) ([]users.User, error) {
	if err := r.Reset(ctx, n); err != nil {
		return nil, fmt.Errorf("reset to %d users: %w", n, err)
	}
	list := make([]users.User, n)
	for k := range list {
		list[k] = users.Seeded(k)
	}
	return list, nil
}
