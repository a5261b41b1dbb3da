// Package userstest checks repositories of app users against the documentation of package users:
//
//	func TestStore(t *testing.T) {
//		userstest.Repository(t, func(t *testing.T) users.Repository { return open(t) })
//	}
//
// It requires more than [users.Repository]. Users are listed in the order of their ids. Lower case is that of
// strings.ToLower. Times are in UTC, in microseconds. An unknown id is reported before an e-mail that is
// taken. A page must be a consistent snapshot, and so must the number of users.
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

// Repository runs the suite. Each test calls open for a store, perhaps a used one, and resets and closes it.
// TARE_SOAK repeats tests of chance ten times as often.
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

// check is one test; its error has several faults.
type check struct {
	name string
	run  func(ctx context.Context, r users.Repository) error
}

func allChecks() []check {
	return []check{
		{"create", checkCreate},
		{"unknown", checkUnknown},
		{"update", checkUpdate},
		{"failed update", checkFailedUpdate},
		{"delete", checkDelete},
		{"ids are not used again", checkIDs},
		{"model", checkModel},
		{"creators of one e-mail", checkCreators},
		{"updates to one e-mail", checkUpdaters},
		{"creators and updates", checkMixedRivals},
		{"own users", checkOwnUsers},
		{"pages", checkPages},
		{"pages while others create and delete", checkStablePages},
		{"pages while their users are deleted", checkShrinkingPages},
		{"search", checkSearch},
		{"pages of a search", checkSearchPages},
		{"cancelled before", checkCancelledBefore},
		{"cancelled meanwhile", checkCancelledMeanwhile},
		{"reset", checkReset},
		{"reset to another number", checkResetOther},
	}
}

func soakTimes(n int) int {
	if os.Getenv("TARE_SOAK") != "" {
		return 10 * n
	}
	return n
}

// testTime returns a different time for each i, which all stores can represent.
func testTime(i int) time.Time {
	return time.Date(2025, time.June, 1, 12, 30, 0, 0, time.UTC).Add(time.Duration(i) * 1_000_001 * time.Microsecond)
}

// testDraft returns a different draft for each i, without a seeded e-mail.
func testDraft(i int) users.Draft {
	return users.Draft{Name: fmt.Sprintf("Person %d", i), Email: fmt.Sprintf("person%d@example.org", i)}
}

func newUser(id int64, d users.Draft, created, updated time.Time) users.User {
	return users.User{ID: id, Name: d.Name, Email: d.Email, CreatedAt: created, UpdatedAt: updated}
}

// faults collects the first ten faults that a test finds in a store.
type faults struct{ list []error }

func (f *faults) add(format string, args ...any) {
	if len(f.list) < 10 {
		f.list = append(f.list, fmt.Errorf(format, args...))
	}
}

func (f *faults) wantUser(operation string, got users.User, err error, want users.User) {
	if err != nil {
		f.add("%s: %w", operation, err)
	} else if !sameUser(got, want) {
		f.add("%s: %+v, want %+v", operation, got, want)
	}
}

func (f *faults) wantError(operation string, err, want error) {
	if !errors.Is(err, want) {
		f.add("%s: error %v, want %v", operation, err, want)
	}
}

func (f *faults) err() error { return errors.Join(f.list...) }

// sameUser reports whether two users are equal, and the times of a are in UTC.
func sameUser(a, b users.User) bool {
	isUTC := func(t time.Time) bool { return t.Location() == time.UTC }
	sameText := a.ID == b.ID && a.Name == b.Name && a.Email == b.Email
	sameTimes := a.CreatedAt.Equal(b.CreatedAt) && a.UpdatedAt.Equal(b.UpdatedAt)
	return sameText && sameTimes && isUTC(a.CreatedAt) && isUTC(a.UpdatedAt)
}

// wantUsers adds faults unless the store has exactly the users want. It uses List, Get and the e-mails. moment
// says in a fault when that was checked.
func (f *faults) wantUsers(ctx context.Context, moment string, r users.Repository, want []users.User) {
	got, total, err := r.List(ctx, "", 0, len(want)+10)
	if err != nil {
		f.add("%s: list: %w", moment, err)
		return
	}
	if int(total) != len(want) || len(got) != len(want) {
		f.add("%s: %d users listed of %d, want %d", moment, len(got), total, len(want))
		return
	}
	for i := range want {
		if !sameUser(got[i], want[i]) {
			f.add("%s: %+v listed at %d, want %+v", moment, got[i], i, want[i])
		}
		u, err := r.Get(ctx, want[i].ID)
		f.wantUser(moment+": get", u, err, want[i])
		_, err = r.Create(ctx, users.Draft{Name: "Somebody else", Email: want[i].Email}, testTime(0))
		f.wantError(moment+": create with the e-mail of "+want[i].Name, err, users.ErrEmailTaken)
	}
}

func fillStore(ctx context.Context, r users.Repository, n int) ([]users.User, error) {
	if err := r.Reset(ctx, n); err != nil {
		return nil, fmt.Errorf("reset to %d users: %w", n, err)
	}
	list := make([]users.User, n)
	for i := range list {
		list[i] = users.Seeded(i)
	}
	return list, nil
}
