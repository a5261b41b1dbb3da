package userstest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tarebench/tare/apps/users"
)

// This file tests calls whose context ends. If it ends before the call, nothing may change. If it ends during
// the call, the call must take effect completely or not at all.

func checkCancelledBefore(ctx context.Context, r users.Repository) error {
	seeded, err := fillStore(ctx, r, 3)
	if err != nil {
		return err
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	expired, cancel := context.WithDeadline(ctx, time.Unix(1, 0))
	defer cancel()
	var f faults
	for ended, want := range map[context.Context]error{cancelled: context.Canceled, expired: context.DeadlineExceeded} {
		_, err := r.Create(ended, testDraft(0), testTime(0))
		f.wantError("create", err, want)
		_, err = r.Get(ended, seeded[0].ID)
		f.wantError("get", err, want)
		_, err = r.Update(ended, seeded[0].ID, testDraft(1), testTime(0))
		f.wantError("update", err, want)
		f.wantError("delete", r.Delete(ended, seeded[0].ID), want)
		_, _, err = r.List(ended, "", 0, 10)
		f.wantError("list", err, want)
		_, _, err = r.List(ended, "a", 0, 10)
		f.wantError("search", err, want)
		f.wantError("reset", r.Reset(ended, 2), want)
		f.wantError("reset to as many", r.Reset(ended, 3), want)
	}
	f.wantUsers(ctx, "after calls that were cancelled", r, seeded)
	return f.err()
}

// checkCancelledMeanwhile ends contexts during calls. Without an error a call must have taken effect. With the
// context's error it may have. The store must continue to work.
func checkCancelledMeanwhile(ctx context.Context, r users.Repository) error {
	const callers, each = 4, 10
	seeded, err := fillStore(ctx, r, callers*each)
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	faulty := make([]faults, callers)
	attempts := soakTimes(60)
	for c := range callers {
		all.Go(func() {
			a := cancelledCaller{r: r, f: &faulty[c]}
			for _, u := range seeded[c*each : (c+1)*each] {
				a.users = append(a.users, []users.User{u})
			}
			for i := range attempts {
				timeout := time.Duration(i%60*(i%60)) * time.Microsecond // up to 3.5 ms
				a.createUser(ctx, c*attempts+i, timeout)
				a.updateUser(ctx, i%each, c*attempts+i, timeout)
			}
			for i := range a.users {
				a.checkUser(ctx, i)
			}
		})
	}
	all.Wait()
	var f faults
	for _, found := range faulty {
		f.list = append(f.list, found.list...)
	}
	return f.err()
}

// cancelledCaller makes calls with short timeouts.
type cancelledCaller struct {
	r     users.Repository
	f     *faults
	users [][]users.User // possible states of each user, with those of cancelled updates
}

// checkEnded adds a fault if err is another error than that of the context.
func (a *cancelledCaller) checkEnded(operation string, err error) {
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		a.f.add("%s whose caller goes: %w", operation, err)
	}
}

// createUser creates a user, and deletes it if the create took effect.
func (a *cancelledCaller) createUser(ctx context.Context, turn int, timeout time.Duration) {
	short, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	d := testDraft(turn)
	created, err := a.r.Create(short, d, testTime(turn))
	a.checkEnded("create", err)
	found, total, listErr := a.r.List(ctx, d.Email, 0, 10)
	isConsistent := int(total) == len(found) && total <= 1
	isMissing := total == 0 && err == nil
	if listErr != nil || !isConsistent || isMissing {
		a.f.add("after a create with error %v: %+v, %d, %v", err, found, total, listErr)
		return
	}
	if total == 0 {
		return
	}
	u := found[0]
	hasOtherID := err == nil && u.ID != created.ID
	if hasOtherID || !sameUser(u, newUser(u.ID, d, testTime(turn), testTime(turn))) {
		a.f.add("%+v was created, %+v is there", d, u)
	}
	err = a.r.Delete(short, u.ID)
	a.checkEnded("delete", err)
	if err == nil {
		_, err := a.r.Get(ctx, u.ID)
		a.f.wantError("get after a delete", err, users.ErrNotFound)
	}
}

func (a *cancelledCaller) updateUser(ctx context.Context, i, turn int, timeout time.Duration) {
	short, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	known := a.users[i][0]
	d := users.Draft{Name: fmt.Sprintf("Update %d", turn), Email: fmt.Sprintf("update%d@example.org", turn)}
	_, err := a.r.Update(short, known.ID, d, testTime(turn))
	a.checkEnded("update", err)
	updated := newUser(known.ID, d, known.CreatedAt, testTime(turn))
	if err == nil {
		a.users[i] = []users.User{updated}
	} else {
		a.users[i] = append(a.users[i], updated)
	}
	a.checkUser(ctx, i)
}

func (a *cancelledCaller) checkUser(ctx context.Context, i int) {
	got, err := a.r.Get(ctx, a.users[i][0].ID)
	if err != nil || !slices.ContainsFunc(a.users[i], func(u users.User) bool { return sameUser(got, u) }) {
		a.f.add("%+v, %v, want one of %+v", got, err, a.users[i])
	}
}

func checkReset(ctx context.Context, r users.Repository) error {
	var f faults
	for _, n := range []int{0, 1, 30} {
		for round := range 3 {
			want, err := fillStore(ctx, r, n)
			if err != nil {
				return err
			}
			f.wantUsers(ctx, fmt.Sprintf("round %d of %d users", round, n), r, want)
			u, err := r.Create(ctx, testDraft(round), testTime(0))
			f.wantUser("create", u, err, newUser(users.FirstID+int64(n), testDraft(round), testTime(0), testTime(0)))
			if n == 0 {
				continue
			}
			if err := r.Delete(ctx, want[n-1].ID); err != nil {
				f.add("delete: %w", err)
			}
			// Move e-mails between users: a reset must restore them in any order.
			if _, err := r.Update(ctx, u.ID, users.Draft{Name: "Taker", Email: want[n-1].Email}, testTime(1)); err != nil {
				f.add("update: %w", err)
			}
			if n > 2 {
				for i, email := range []string{"free@example.org", want[0].Email, want[1].Email} {
					if _, err := r.Update(ctx, want[i].ID, users.Draft{Name: "Changed", Email: email}, testTime(2)); err != nil {
						f.add("update: %w", err)
					}
				}
			}
		}
		if len(f.list) > 0 {
			return f.err()
		}
	}
	return f.err()
}

func checkResetOther(ctx context.Context, r users.Repository) error {
	var f faults
	for _, n := range []int{5, 1000, 0, 300, 1000, 299} {
		want, err := fillStore(ctx, r, n)
		if err != nil {
			return err
		}
		for offset := 0; offset <= n; offset += 100 {
			f.wantPage(ctx, r, "", want, offset, 100)
		}
		for i, u := range want { // delete some of the first half
			if i < n/2 && i%7 == 0 {
				if err := r.Delete(ctx, u.ID); err != nil {
					f.add("delete: %w", err)
				}
			}
		}
		u, err := r.Create(ctx, testDraft(n), testTime(n))
		f.wantUser("create", u, err, newUser(users.FirstID+int64(n), testDraft(n), testTime(n), testTime(n)))
	}
	if err := r.Reset(ctx, -1); err == nil {
		f.add("it was reset to a negative number of users")
	}
	return f.err()
}
