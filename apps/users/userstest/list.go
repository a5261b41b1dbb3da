package userstest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tarebench/tare/apps/users"
)

// This file tests how stores list and search users in pages, also while other calls change users.

// wantPage adds a fault unless List returns the correct page of all, the users that match text.
func (f *faults) wantPage(ctx context.Context, r users.Repository, text string, all []users.User, offset, limit int) {
	got, total, err := r.List(ctx, text, offset, limit)
	from := min(offset, len(all))
	want := all[from:min(len(all), from+limit)]
	if err != nil || int(total) != len(all) || !slices.EqualFunc(got, want, sameUser) {
		f.add("list %q from %d, at most %d: %d users of %d, %v, want %d of %d\n%+v\n%+v", text, offset, limit, len(got), total, err, len(want), len(all), got, want)
	}
}

// checkPages lists pages of many sizes at many offsets, after some deletes.
func checkPages(ctx context.Context, r users.Repository) error {
	all, err := fillStore(ctx, r, 57)
	if err != nil {
		return err
	}
	for _, i := range []int{50, 31, 30, 29, 0} {
		if err := r.Delete(ctx, all[i].ID); err != nil {
			return err
		}
		all = slices.Delete(all, i, i+1)
	}
	var f faults
	for _, limit := range []int{1, 7, 10, 100} {
		for offset := 0; offset < 60; offset += limit {
			f.wantPage(ctx, r, "", all, offset, limit)
		}
	}
	for _, offset := range []int{1000, math.MaxInt32, math.MaxInt} {
		f.wantPage(ctx, r, "", all, offset, 100)
	}
	return f.err()
}

// changers change a store until they are stopped.
type changers struct {
	stopped atomic.Bool
	all     sync.WaitGroup
	rounds  atomic.Int64 // number of changes so far

	mu     sync.Mutex
	faults faults
}

// start starts n goroutines that call act, each time with a new number.
func (o *changers) start(n int, act func(turn int) error) {
	var turns atomic.Int64
	for range n {
		o.all.Go(func() {
			for !o.stopped.Load() {
				if err := act(int(turns.Add(1))); err != nil {
					o.mu.Lock()
					o.faults.add("others: %w", err)
					o.mu.Unlock()
					return
				}
				o.rounds.Add(1)
			}
		})
	}
}

// stop waits for all goroutines and returns their faults.
func (o *changers) stop() error {
	o.stopped.Store(true)
	o.all.Wait()
	return o.faults.err()
}

// checkStablePages checks that a page stays the same while users with higher ids change.
func checkStablePages(ctx context.Context, r users.Repository) error {
	const seeded, limit, callers = 100, 7, 4
	all, err := fillStore(ctx, r, seeded)
	if err != nil {
		return err
	}
	var o changers
	o.start(callers, func(turn int) error {
		u, err := r.Create(ctx, testDraft(turn), testTime(turn))
		if err != nil {
			return err
		}
		return r.Delete(ctx, u.ID)
	})
	var f faults
	const maxPasses = 1_000_000
	for pass := 0; pass < maxPasses; pass++ {
		hasChanged := o.rounds.Load() > 0 || ctx.Err() != nil
		if pass >= soakTimes(3) && hasChanged {
			break
		}
		for offset := 0; offset < seeded; offset += limit {
			got, total, err := r.List(ctx, "", offset, limit)
			want := all[offset:min(seeded, offset+limit)]
			isComplete := len(want) <= len(got) && len(got) <= limit && slices.EqualFunc(got[:len(want)], want, sameUser)
			if err != nil || !isComplete {
				f.add("from %d: %+v, %v, want %+v", offset, got, err, want)
			}
			if total < seeded || total > seeded+callers {
				f.add("%d users where %d stay and at most %d come", total, seeded, callers)
			}
		}
		if len(f.list) > 0 {
			break
		}
	}
	if err := o.stop(); err != nil {
		return err
	}
	f.wantUsers(ctx, "after all have gone", r, all)
	return f.err()
}

// checkShrinkingPages deletes and creates users everywhere. Pages must be in order, complete and without
// duplicates. At most one user per goroutine is missing.
func checkShrinkingPages(ctx context.Context, r users.Repository) error {
	const seeded, limit, callers = 120, 10, 3
	all, err := fillStore(ctx, r, seeded)
	if err != nil {
		return err
	}
	toDelete := make(chan int64, seeded) // every third seeded user remains
	for i, u := range all {
		if i%3 != 0 {
			toDelete <- u.ID
		}
	}
	var o changers
	o.start(callers, func(turn int) error {
		if err := r.Delete(ctx, <-toDelete); err != nil {
			return err
		}
		u, err := r.Create(ctx, testDraft(turn), testTime(turn))
		if err == nil {
			toDelete <- u.ID
		}
		return err
	})
	var f faults
	for range soakTimes(10) {
		for offset := 0; offset < seeded-callers; offset += limit {
			got, total, err := r.List(ctx, "", offset, limit)
			if err != nil || total < seeded-callers || total > seeded {
				f.add("%d users, %v, want %d to %d", total, err, seeded-callers, seeded)
			}
			if minUsers := min(limit, seeded-callers-offset); len(got) < minUsers || len(got) > limit {
				f.add("from %d: %d users, want %d to %d", offset, len(got), minUsers, limit)
			}
			if !slices.IsSortedFunc(got, func(a, b users.User) int { return cmp.Compare(a.ID, b.ID) }) || hasDuplicates(got) {
				f.add("from %d: users twice or out of order: %+v", offset, got)
			}
		}
	}
	if err := o.stop(); err != nil {
		return err
	}
	return f.err()
}

// hasDuplicates reports whether list, in the order of ids, has a user twice.
func hasDuplicates(list []users.User) bool {
	for i := 1; i < len(list); i++ {
		if list[i-1].ID == list[i].ID {
			return true
		}
	}
	return false
}

// checkSearch uses letters of many scripts, and special characters of SQL.
func checkSearch(ctx context.Context, r users.Repository) error {
	if _, err := fillStore(ctx, r, 0); err != nil {
		return err
	}
	names := []string{"UPPER Case", "lower case", "ÅNGSTRÖM Öl", "ångström", "100% Wool", "1000 Wool", "under_score", "under score", `back\slash`, "O'Brien", "ΣΟΦΙΑ", "Дарья", "王小明", "[abc]* ?.+", "Straße"}
	var all []users.User
	for i, name := range names {
		u, err := r.Create(ctx, users.Draft{Name: name, Email: fmt.Sprintf("mail%02d_x@example.org", i)}, testTime(i))
		if err != nil {
			return fmt.Errorf("create %q: %w", name, err)
		}
		all = append(all, u)
	}
	var f faults
	for _, text := range []string{
		"case", "upper", "ångström", "å", "ö", "öl", "100%", "%", "_", "r_s", "0_x", `\`, `k\s`, "'", "'b", "--", "σοφια", "да", "王", "小明", "[abc]*", "?", ".+", ".", "straße", "strasse",
		"mail03", "@example.org", "mail1", "example.com", "e c", "caseb", "nobody", "*", "[", `"`, "l0", "x@", "%%", "__", `\%`, `\_`,
	} {
		var want []users.User
		for _, u := range all {
			if strings.Contains(strings.ToLower(u.Name), text) || strings.Contains(u.Email, text) {
				want = append(want, u)
			}
		}
		f.wantPage(ctx, r, text, want, 0, 100)
	}

	// A search must not find former values.
	for _, step := range []func() error{
		func() error {
			_, err := r.Update(ctx, all[0].ID, users.Draft{Name: "Renamed", Email: "renamed@example.org"}, testTime(1))
			return err
		},
		func() error { return r.Delete(ctx, all[9].ID) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	for text, want := range map[string]int64{"upper": 0, "mail00": 0, "renamed": 1, "o'brien": 0} {
		f.wantOwners(ctx, r, text, want)
	}
	return f.err()
}

func checkSearchPages(ctx context.Context, r users.Repository) error {
	all, err := fillStore(ctx, r, 200)
	if err != nil {
		return err
	}
	var want []users.User
	for _, u := range all {
		if strings.Contains(strings.ToLower(u.Name), "an") || strings.Contains(u.Email, "an") {
			want = append(want, u)
		}
	}
	if len(want) < 20 {
		return fmt.Errorf("only %d of the seeded users match", len(want))
	}
	var f faults
	for offset := 0; offset < len(want)+10; offset += 9 {
		f.wantPage(ctx, r, "an", want, offset, 9)
	}
	f.wantPage(ctx, r, "an", want, math.MaxInt, 9)
	f.wantPage(ctx, r, "nobody has this", nil, 0, 9)
	f.wantPage(ctx, r, "nobody has this", nil, 50, 9)
	return f.err()
}
