package userstest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/tarebench/tare/apps/users"
)

// rivals is how many ask for one e-mail at once.
const rivals = 200

// contest has all rivals begin at the same time. Each is to succeed or to be
// told that the e-mail is taken.
func contest(f *faults, rival func(i int) error) (won int64) {
	var ready, done sync.WaitGroup
	var wins atomic.Int64
	begin := make(chan struct{})
	errs := make([]error, rivals)
	for i := range rivals {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-begin
			switch err := rival(i); {
			case err == nil:
				wins.Add(1)
			case !errors.Is(err, users.ErrEmailTaken):
				errs[i] = err
			}
		})
	}
	ready.Wait()
	close(begin)
	done.Wait()
	for _, err := range errs {
		if err != nil {
			f.add("one of %d: %w", rivals, err)
		}
	}
	return wins.Load()
}

// owners wants that exactly so many are found by the e-mail.
func (f *faults) owners(ctx context.Context, r users.Repository, email string, want int64) {
	found, total, err := r.List(ctx, email, 0, 10)
	if err != nil || total != want || int64(len(found)) != want {
		f.add("%d and %d users with %s, %v, want %d", total, len(found), email, err, want)
	}
}

// creators: of 200 that create a user with the same e-mail one succeeds.
func creators(ctx context.Context, r users.Repository) error {
	if _, err := filled(ctx, r, 10); err != nil {
		return err
	}
	var f faults
	for round := range times(3) {
		email := fmt.Sprintf("wanted%d@example.org", round)
		won := contest(&f, func(i int) error {
			_, err := r.Create(ctx, users.Draft{Name: fmt.Sprintf("Rival %d", i), Email: email}, moment(i))
			return err
		})
		if won != 1 {
			f.add("%d of %d creators of one e-mail succeeded", won, rivals)
		}
		f.owners(ctx, r, email, 1)
	}
	return f.err()
}

// updaters: of 200 users that take the same e-mail one does, and all others are as
// they were.
func updaters(ctx context.Context, r users.Repository) error {
	var f faults
	for round := range times(2) {
		want, err := filled(ctx, r, rivals)
		if err != nil {
			return err
		}
		email := fmt.Sprintf("wanted%d@example.org", round)
		var winner atomic.Int64
		won := contest(&f, func(i int) error {
			_, err := r.Update(ctx, want[i].ID, users.Draft{Name: "Winner", Email: email}, moment(i))
			if err == nil {
				winner.Store(int64(i))
			}
			return err
		})
		if won != 1 {
			f.add("%d of %d updates to one e-mail succeeded", won, rivals)
			continue
		}
		i := int(winner.Load())
		want[i] = drafted(want[i].ID, users.Draft{Name: "Winner", Email: email}, want[i].CreatedAt, moment(i))
		f.owners(ctx, r, email, 1)
		f.holds(ctx, "after the contest", r, want)
	}
	return f.err()
}

// both: creators and updates want one e-mail whose owner goes in between.
func both(ctx context.Context, r users.Repository) error {
	var f faults
	for range times(2) {
		want, err := filled(ctx, r, rivals)
		if err != nil {
			return err
		}
		email := want[0].Email
		won := contest(&f, func(i int) error {
			switch {
			case i == 0:
				return r.Delete(ctx, want[0].ID)
			case i%2 == 0:
				_, err := r.Create(ctx, users.Draft{Name: fmt.Sprintf("Rival %d", i), Email: email}, moment(i))
				return err
			}
			_, err := r.Update(ctx, want[i].ID, users.Draft{Name: "Winner", Email: email}, moment(i))
			return err
		})
		won-- // the delete
		if won > 1 {
			f.add("%d users have the e-mail that one left", won)
		}
		f.owners(ctx, r, email, won)
	}
	return f.err()
}

// own: several callers work at once, each with users that nobody else knows of.
func own(ctx context.Context, r users.Repository) error {
	if _, err := filled(ctx, r, 10); err != nil {
		return err
	}
	const callers = 8
	var all sync.WaitGroup
	faulty := make([]faults, callers)
	for c := range callers {
		all.Go(func() {
			f := &faulty[c]
			for i := range times(10) {
				one := draft(1000*c + i)
				u, err := r.Create(ctx, one, moment(i))
				f.is("create", u, err, drafted(u.ID, one, moment(i), moment(i)))
				other := users.Draft{Name: "Other", Email: "other" + one.Email}
				v, err := r.Update(ctx, u.ID, other, moment(i+1))
				f.is("update", v, err, drafted(u.ID, other, moment(i), moment(i+1)))
				w, err := r.Get(ctx, u.ID)
				f.is("get", w, err, v)
				f.owners(ctx, r, other.Email, 1)
				if err := r.Delete(ctx, u.ID); err != nil {
					f.add("delete: %w", err)
				}
				_, err = r.Get(ctx, u.ID)
				f.refused("get", err, users.ErrNotFound)
			}
		})
	}
	all.Wait()
	var f faults
	for _, one := range faulty {
		f.list = append(f.list, one.list...)
	}
	want := make([]users.User, 10)
	for k := range want {
		want[k] = users.Seeded(k)
	}
	f.holds(ctx, "after all have gone", r, want)
	return f.err()
}
