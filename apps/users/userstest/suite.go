// Package userstest checks repositories of app users against the documentation of package users:
//
//	func TestStore(t *testing.T) {
//		userstest.Repository(t, func(t *testing.T) users.Repository { return open(t) })
//	}
//
// Beyond the documentation of [users.Repository] it requires that users are listed in the order of
// their ids; that lower case is as of strings.ToLower; that times have microseconds and are in UTC;
// and that an unknown id is rejected before an e-mail that is taken. The number of users and a page
// need not be of the same moment, but each is of one.
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

// Repository runs the suite. Each test opens a store of its own, or one that was used before,
// resets it and closes it. With TARE_SOAK=1 it repeats what depends on chance ten times as often.
func Repository(t *testing.T, open func(t *testing.T) users.Repository) {
	for _, c := range allChecks() {
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

// check is one test. Its error contains all faults.
type check struct {
	name string
	run  func(ctx context.Context, r users.Repository) error
}

func allChecks() []check {
	return []check{
		{"create", checkCreate},
		{"unknown", checkUnknown},
		{"update", checkUpdate},
		{"failed update", failedUpdate},
		{"delete", checkDelete},
		{"ids are not used again", checkIDs},
		{"model", checkModel},
		{"creators of one e-mail", checkCreators},
		{"updates to one e-mail", checkUpdaters},
		{"creators and updates", checkBoth},
		{"own users", checkOwnUsers},
		{"pages", checkPages},
		{"pages while others create and delete", stablePages},
		{"pages while their users are deleted", shrinkingPages},
		{"search", checkSearch},
		{"pages of a search", searchPages},
		{"cancelled before", cancelledBefore},
		{"cancelled meanwhile", cancelledMeanwhile},
		{"reset", checkReset},
		{"reset to another number", resetOther},
	}
}

// soakTimes returns n, or ten times as many in a soak.
func soakTimes(n int) int {
	if os.Getenv("TARE_SOAK") != "" {
		return 10 * n
	}
	return n
}

// testTime returns a time that stores can represent, with a fraction of a second.
func testTime(i int) time.Time {
	return time.Date(2025, time.June, 1, 12, 30, 0, 0, time.UTC).Add(time.Duration(i) * 1_000_001 * time.Microsecond)
}

func testDraft(i int) users.Draft {
	return users.Draft{Name: fmt.Sprintf("Person %d", i), Email: fmt.Sprintf("person%d@example.org", i)}
}

func newUser(id int64, d users.Draft, created, updated time.Time) users.User {
	return users.User{ID: id, Name: d.Name, Email: d.Email, CreatedAt: created, UpdatedAt: updated}
}

// faults collects the first ten faults.
type faults struct{ list []error }

func (f *faults) add(format string, args ...any) {
	if len(f.list) < 10 {
		f.list = append(f.list, fmt.Errorf(format, args...))
	}
}

// wantUser wants that user and no error.
func (f *faults) wantUser(what string, got users.User, err error, want users.User) {
	if err != nil {
		f.add("%s: %w", what, err)
	} else if !sameUser(got, want) {
		f.add("%s: %+v, want %+v", what, got, want)
	}
}

// wantError wants that error.
func (f *faults) wantError(what string, err, want error) {
	if !errors.Is(err, want) {
		f.add("%s: error %v, want %v", what, err, want)
	}
}

func (f *faults) err() error { return errors.Join(f.list...) }

// sameUser compares users, times as moments, which are to be in UTC.
func sameUser(a, b users.User) bool {
	utc := func(t time.Time) bool { return t.Location() == time.UTC }
	return a.ID == b.ID && a.Name == b.Name && a.Email == b.Email &&
		a.CreatedAt.Equal(b.CreatedAt) && a.UpdatedAt.Equal(b.UpdatedAt) && utc(a.CreatedAt) && utc(a.UpdatedAt)
}

// wantUsers wants exactly those users, listed in that order, each under its id, and their e-mails
// taken.
func (f *faults) wantUsers(ctx context.Context, what string, r users.Repository, want []users.User) {
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
		if !sameUser(got[i], want[i]) {
			f.add("%s: %+v listed at %d, want %+v", what, got[i], i, want[i])
		}
		u, err := r.Get(ctx, want[i].ID)
		f.wantUser(what+": get", u, err, want[i])
		_, err = r.Create(ctx, users.Draft{Name: "Somebody else", Email: want[i].Email}, testTime(0))
		f.wantError(what+": create with the e-mail of "+want[i].Name, err, users.ErrEmailTaken)
	}
}

// fillStore resets the repository to n users and returns them.
func fillStore(ctx context.Context, r users.Repository, n int) ([]users.User, error) {
	if err := r.Reset(ctx, n); err != nil {
		return nil, fmt.Errorf("reset to %d users: %w", n, err)
	}
	list := make([]users.User, n)
	for k := range list {
		list[k] = users.Seeded(k)
	}
	return list, nil
}
