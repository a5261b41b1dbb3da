package userstest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/tarebench/tare/apps/users"
)

// This file tests that e-mails stay unique under concurrent calls.

const concurrentCalls = 200

// runContest calls rival concurrently. Losers must get ErrEmailTaken. It returns the number of winners.
func runContest(f *faults, rival func(i int) error) (won int64) {
	var ready, done sync.WaitGroup
	var wins atomic.Int64
	begin := make(chan struct{})
	errs := make([]error, concurrentCalls)
	for i := range concurrentCalls {
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
			f.add("one of %d: %w", concurrentCalls, err)
		}
	}
	return wins.Load()
}

// wantOwners adds a fault unless a search for email finds want users.
func (f *faults) wantOwners(ctx context.Context, r users.Repository, email string, want int64) {
	found, total, err := r.List(ctx, email, 0, 10)
	if err != nil || total != want || int64(len(found)) != want {
		f.add("%d and %d users with %s, %v, want %d", total, len(found), email, err, want)
	}
}

func checkCreators(ctx context.Context, r users.Repository) error {
	if _, err := fillStore(ctx, r, 10); err != nil {
		return err
	}
	var f faults
	for round := range soakTimes(3) {
		email := fmt.Sprintf("wanted%d@example.org", round)
		won := runContest(&f, func(i int) error {
			_, err := r.Create(ctx, users.Draft{Name: fmt.Sprintf("Rival %d", i), Email: email}, testTime(i))
			return err
		})
		if won != 1 {
			f.add("%d of %d creators of one e-mail succeeded", won, concurrentCalls)
		}
		f.wantOwners(ctx, r, email, 1)
	}
	return f.err()
}

// checkUpdaters lets 200 updates compete for an e-mail. One wins, and others change nothing.
func checkUpdaters(ctx context.Context, r users.Repository) error {
	var f faults
	for round := range soakTimes(2) {
		want, err := fillStore(ctx, r, concurrentCalls)
		if err != nil {
			return err
		}
		email := fmt.Sprintf("wanted%d@example.org", round)
		var winner atomic.Int64
		won := runContest(&f, func(i int) error {
			_, err := r.Update(ctx, want[i].ID, users.Draft{Name: "Winner", Email: email}, testTime(i))
			if err == nil {
				winner.Store(int64(i))
			}
			return err
		})
		if won != 1 {
			f.add("%d of %d updates to one e-mail succeeded", won, concurrentCalls)
			continue
		}
		i := int(winner.Load())
		want[i] = newUser(want[i].ID, users.Draft{Name: "Winner", Email: email}, want[i].CreatedAt, testTime(i))
		f.wantOwners(ctx, r, email, 1)
		f.wantUsers(ctx, "after the contest", r, want)
	}
	return f.err()
}

// checkMixedRivals lets creates and updates compete while the owner is deleted. At most one may succeed.
func checkMixedRivals(ctx context.Context, r users.Repository) error {
	var f faults
	for range soakTimes(2) {
		want, err := fillStore(ctx, r, concurrentCalls)
		if err != nil {
			return err
		}
		email := want[0].Email
		won := runContest(&f, func(i int) error {
			switch {
			case i == 0:
				return r.Delete(ctx, want[0].ID)
			case i%2 == 0:
				_, err := r.Create(ctx, users.Draft{Name: fmt.Sprintf("Rival %d", i), Email: email}, testTime(i))
				return err
			}
			_, err := r.Update(ctx, want[i].ID, users.Draft{Name: "Winner", Email: email}, testTime(i))
			return err
		})
		won-- // the delete
		if won > 1 {
			f.add("%d users have the e-mail that one left", won)
		}
		f.wantOwners(ctx, r, email, won)
	}
	return f.err()
}

// checkOwnUsers runs concurrent callers, each with its own users.
func checkOwnUsers(ctx context.Context, r users.Repository) error {
	if _, err := fillStore(ctx, r, 10); err != nil {
		return err
	}
	const callers = 8
	var all sync.WaitGroup
	faulty := make([]faults, callers)
	for c := range callers {
		all.Go(func() {
			f := &faulty[c]
			for i := range soakTimes(10) {
				d := testDraft(1000*c + i)
				u, err := r.Create(ctx, d, testTime(i))
				f.wantUser("create", u, err, newUser(u.ID, d, testTime(i), testTime(i)))
				change := users.Draft{Name: "Other", Email: "other" + d.Email}
				updated, err := r.Update(ctx, u.ID, change, testTime(i+1))
				f.wantUser("update", updated, err, newUser(u.ID, change, testTime(i), testTime(i+1)))
				got, err := r.Get(ctx, u.ID)
				f.wantUser("get", got, err, updated)
				f.wantOwners(ctx, r, change.Email, 1)
				if err := r.Delete(ctx, u.ID); err != nil {
					f.add("delete: %w", err)
				}
				_, err = r.Get(ctx, u.ID)
				f.wantError("get", err, users.ErrNotFound)
			}
		})
	}
	all.Wait()
	var f faults
	for _, found := range faulty {
		f.list = append(f.list, found.list...)
	}
	want := make([]users.User, 10)
	for i := range want {
		want[i] = users.Seeded(i)
	}
	f.wantUsers(ctx, "after all have gone", r, want)
	return f.err()
}
