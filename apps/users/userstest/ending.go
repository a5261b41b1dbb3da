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

// cancelledBefore: whoever has gone changes nothing.
func cancelledBefore(ctx context.Context, r users.Repository) error {
	want, err := filled(ctx, r, 3)
	if err != nil {
		return err
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	late, cancel := context.WithDeadline(ctx, time.Unix(1, 0))
	defer cancel()
	var f faults
	for ended, is := range map[context.Context]error{gone: context.Canceled, late: context.DeadlineExceeded} {
		_, err := r.Create(ended, draft(0), moment(0))
		f.refused("create", err, is)
		_, err = r.Get(ended, want[0].ID)
		f.refused("get", err, is)
		_, err = r.Update(ended, want[0].ID, draft(1), moment(0))
		f.refused("update", err, is)
		f.refused("delete", r.Delete(ended, want[0].ID), is)
		_, _, err = r.List(ended, "", 0, 10)
		f.refused("list", err, is)
		_, _, err = r.List(ended, "a", 0, 10)
		f.refused("search", err, is)
		f.refused("reset", r.Reset(ended, 2), is)
		f.refused("reset to as many", r.Reset(ended, 3), is)
	}
	f.holds(ctx, "after calls that were cancelled", r, want)
	return f.err()
}

// cancelledMeanwhile: callers go at any moment. What was said to be done is done,
// what was not is done whole or not at all, since a database may do it while the
// caller goes, and the store works on.
func cancelledMeanwhile(ctx context.Context, r users.Repository) error {
	const callers, each = 4, 10
	seeded, err := filled(ctx, r, callers*each)
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	faulty := make([]faults, callers)
	attempts := times(60)
	for c := range callers {
		all.Go(func() {
			a := abandoned{r: r, f: &faulty[c]}
			for _, u := range seeded[c*each : (c+1)*each] {
				a.users = append(a.users, []users.User{u})
			}
			for i := range attempts {
				patience := time.Duration(i%60*(i%60)) * time.Microsecond // up to 3.5 ms
				a.create(ctx, c*attempts+i, patience)
				a.update(ctx, i%each, c*attempts+i, patience)
			}
			for i := range a.users {
				a.is(ctx, i)
			}
		})
	}
	all.Wait()
	var f faults
	for _, one := range faulty {
		f.list = append(f.list, one.list...)
	}
	return f.err()
}

// abandoned makes calls whose caller goes.
type abandoned struct {
	r     users.Repository
	f     *faults
	users [][]users.User // what each may be: as it was last known, and what was given up since
}

func (a *abandoned) ended(what string, err error) {
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		a.f.add("%s whose caller goes: %w", what, err)
	}
}

// create creates a user, and deletes it where it is there.
func (a *abandoned) create(ctx context.Context, turn int, patience time.Duration) {
	short, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	d := draft(turn)
	made, err := a.r.Create(short, d, moment(turn))
	a.ended("create", err)
	found, total, listErr := a.r.List(ctx, d.Email, 0, 10)
	if listErr != nil || int(total) != len(found) || total > 1 || total == 0 && err == nil {
		a.f.add("after a create with error %v: %+v, %d, %v", err, found, total, listErr)
		return
	}
	if total == 0 {
		return
	}
	u := found[0]
	if !same(u, drafted(u.ID, d, moment(turn), moment(turn))) || err == nil && u.ID != made.ID {
		a.f.add("%+v was created, %+v is there", d, u)
	}
	err = a.r.Delete(short, u.ID)
	a.ended("delete", err)
	if err == nil {
		_, err := a.r.Get(ctx, u.ID)
		a.f.refused("get after a delete", err, users.ErrNotFound)
	}
}

func (a *abandoned) update(ctx context.Context, i, turn int, patience time.Duration) {
	short, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	former := a.users[i][0]
	d := users.Draft{Name: fmt.Sprintf("Update %d", turn), Email: fmt.Sprintf("update%d@example.org", turn)}
	_, err := a.r.Update(short, former.ID, d, moment(turn))
	a.ended("update", err)
	done := drafted(former.ID, d, former.CreatedAt, moment(turn))
	if err == nil {
		a.users[i] = []users.User{done}
	} else {
		a.users[i] = append(a.users[i], done)
	}
	a.is(ctx, i)
}

func (a *abandoned) is(ctx context.Context, i int) {
	got, err := a.r.Get(ctx, a.users[i][0].ID)
	if err != nil || !slices.ContainsFunc(a.users[i], func(u users.User) bool { return same(got, u) }) {
		a.f.add("%+v, %v, want one of %+v", got, err, a.users[i])
	}
}

// reset: whatever was done, all is as it was.
func reset(ctx context.Context, r users.Repository) error {
	var f faults
	for _, n := range []int{0, 1, 30} {
		for round := range 3 {
			want, err := filled(ctx, r, n)
			if err != nil {
				return err
			}
			f.holds(ctx, fmt.Sprintf("round %d of %d users", round, n), r, want)
			u, err := r.Create(ctx, draft(round), moment(0))
			f.is("create", u, err, drafted(users.FirstID+int64(n), draft(round), moment(0), moment(0)))
			if n == 0 {
				continue
			}
			if err := r.Delete(ctx, want[n-1].ID); err != nil {
				f.add("delete: %w", err)
			}
			// Its e-mail goes to another, and that one's to a new user.
			if _, err := r.Update(ctx, u.ID, users.Draft{Name: "Taker", Email: want[n-1].Email}, moment(1)); err != nil {
				f.add("update: %w", err)
			}
			if n > 2 {
				for i, email := range []string{"free@example.org", want[0].Email, want[1].Email} {
					if _, err := r.Update(ctx, want[i].ID, users.Draft{Name: "Changed", Email: email}, moment(2)); err != nil {
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

func resetOther(ctx context.Context, r users.Repository) error {
	var f faults
	for _, n := range []int{5, 1000, 0, 300, 1000, 299} {
		want, err := filled(ctx, r, n)
		if err != nil {
			return err
		}
		for offset := 0; offset <= n; offset += 100 {
			f.page(ctx, r, "", want, offset, 100)
		}
		for i, u := range want { // the oldest half goes
			if i < n/2 && i%7 == 0 {
				if err := r.Delete(ctx, u.ID); err != nil {
					f.add("delete: %w", err)
				}
			}
		}
		u, err := r.Create(ctx, draft(n), moment(n))
		f.is("create", u, err, drafted(users.FirstID+int64(n), draft(n), moment(n), moment(n)))
	}
	if err := r.Reset(ctx, -1); err == nil {
		f.add("it was reset to a negative number of users")
	}
	return f.err()
}
