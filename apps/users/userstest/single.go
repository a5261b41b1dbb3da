package userstest

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tarebench/tare/apps/users"
)

// This file tests how stores change single users. Each test begins with seeded users. Its variable want has the
// users that the store must then contain.

func checkCreate(ctx context.Context, r users.Repository) error {
	want, err := fillStore(ctx, r, 3)
	if err != nil {
		return err
	}
	var f faults
	names := []string{"Ann", "Łucja Żółć", "王小明", "O'Brien; DROP TABLE users", `back\slash "quoted" %_`, "👩‍👩‍👧 family"}
	for i, name := range names {
		d := users.Draft{Name: name, Email: testDraft(i).Email}
		u, err := r.Create(ctx, d, testTime(i))
		if err != nil {
			f.add("create %q: %w", name, err)
			continue
		}
		last := want[len(want)-1].ID
		isWrongFirst := i == 0 && u.ID != users.FirstID+3 // the reset has used 3 ids
		if u.ID <= last || isWrongFirst {
			f.add("create %q: id %d after %d; the first after a reset is %d", name, u.ID, last, users.FirstID+3)
		}
		f.wantUser("create", u, nil, newUser(u.ID, d, testTime(i), testTime(i)))
		want = append(want, u)
	}
	f.wantUsers(ctx, "after creates", r, want)
	return f.err()
}

func checkUnknown(ctx context.Context, r users.Repository) error {
	want, err := fillStore(ctx, r, 2)
	if err != nil {
		return err
	}
	var f faults
	for _, id := range []int64{0, -1, 1, users.FirstID - 1, users.FirstID + 2, math.MinInt64, math.MaxInt64} {
		_, err := r.Get(ctx, id)
		f.wantError("get", err, users.ErrNotFound)
		_, err = r.Update(ctx, id, testDraft(0), testTime(0))
		f.wantError("update", err, users.ErrNotFound)
		_, err = r.Update(ctx, id, users.Draft{Name: "Nobody", Email: want[0].Email}, testTime(0))
		f.wantError("update to an e-mail that is taken", err, users.ErrNotFound)
		f.wantError("delete", r.Delete(ctx, id), users.ErrNotFound)
	}
	f.wantUsers(ctx, "after rejected calls", r, want)
	return f.err()
}

// checkUpdate changes names and e-mails, and moves e-mails between users.
func checkUpdate(ctx context.Context, r users.Repository) error {
	want, err := fillStore(ctx, r, 3)
	if err != nil {
		return err
	}
	var f faults
	change := func(description string, i int, d users.Draft, turn int) {
		want[i] = newUser(want[i].ID, d, want[i].CreatedAt, testTime(turn))
		u, err := r.Update(ctx, want[i].ID, d, testTime(turn))
		f.wantUser(description, u, err, want[i])
	}
	first, second := want[0].Email, want[1].Email
	change("name", 0, users.Draft{Name: "Another name", Email: first}, 1)
	change("e-mail", 0, users.Draft{Name: "Another name", Email: "new@example.org"}, 2)
	change("nothing", 0, users.Draft{Name: "Another name", Email: "new@example.org"}, 3)
	change("to the e-mail that another had", 1, users.Draft{Name: "Second", Email: first}, 4)
	change("and on", 2, users.Draft{Name: "Third", Email: second}, 5)
	change("and back", 0, users.Draft{Name: "First", Email: users.Seeded(2).Email}, 6)
	f.wantUsers(ctx, "after updates", r, want)

	u, err := r.Create(ctx, users.Draft{Name: "Fourth", Email: "new@example.org"}, testTime(7))
	if err != nil {
		f.add("create with an e-mail that an update left: %w", err)
	} else {
		f.wantUsers(ctx, "after the create", r, append(want, u))
	}
	return f.err()
}

func checkFailedUpdate(ctx context.Context, r users.Repository) error {
	want, err := fillStore(ctx, r, 3)
	if err != nil {
		return err
	}
	var f faults
	for i := range want {
		for j := range want {
			if i != j {
				_, err := r.Update(ctx, want[i].ID, users.Draft{Name: "Half an update", Email: want[j].Email}, testTime(1))
				f.wantError("update to another's e-mail", err, users.ErrEmailTaken)
			}
		}
	}
	f.wantUsers(ctx, "after rejected updates", r, want)
	_, total, err := r.List(ctx, "half", 0, 1)
	if total != 0 || err != nil {
		f.add("a search finds %d of rejected updates, %v", total, err)
	}
	return f.err()
}

// checkDelete deletes a user and gives the e-mail to a new one.
func checkDelete(ctx context.Context, r users.Repository) error {
	want, err := fillStore(ctx, r, 4)
	if err != nil {
		return err
	}
	var f faults
	gone := want[1]
	if err := r.Delete(ctx, gone.ID); err != nil {
		f.add("delete: %w", err)
	}
	f.wantError("delete again", r.Delete(ctx, gone.ID), users.ErrNotFound)
	_, err = r.Get(ctx, gone.ID)
	f.wantError("get", err, users.ErrNotFound)
	_, err = r.Update(ctx, gone.ID, testDraft(0), testTime(0))
	f.wantError("update", err, users.ErrNotFound)
	want = slices.Delete(want, 1, 2)
	f.wantUsers(ctx, "after a delete", r, want)

	d := users.Draft{Name: "Heir", Email: gone.Email}
	u, err := r.Create(ctx, d, testTime(1))
	f.wantUser("create with the e-mail of a deleted user", u, err, newUser(u.ID, d, testTime(1), testTime(1)))
	f.wantUsers(ctx, "after a create", r, append(want, u))
	return f.err()
}

// checkIDs checks that ids are not used again.
func checkIDs(ctx context.Context, r users.Repository) error {
	if _, err := fillStore(ctx, r, 2); err != nil {
		return err
	}
	var f faults
	last := users.FirstID + int64(1)
	for i := range 5 {
		u, err := r.Create(ctx, testDraft(i), testTime(i))
		if err != nil {
			return err
		}
		if u.ID <= last {
			f.add("id %d after %d", u.ID, last)
		}
		last = u.ID
		if err := r.Delete(ctx, last); err != nil {
			f.add("delete: %w", err)
		}
		if i == 2 { // only seeded users remain: delete them, too
			for k := range 2 {
				if err := r.Delete(ctx, users.FirstID+int64(k)); err != nil {
					f.add("delete: %w", err)
				}
			}
		}
	}
	f.wantUsers(ctx, "after all were deleted", r, nil)
	return f.err()
}

// checkModel compares random calls with a slice of users.
func checkModel(ctx context.Context, r users.Repository) error {
	const seeded, emails = 300, 400 // few e-mails, so that some are taken
	want, err := fillStore(ctx, r, seeded)
	if err != nil {
		return err
	}
	var f faults
	rng := rand.New(rand.NewPCG(7, 7))
	// isTaken reports whether another user than number except has the e-mail; -1 excepts none.
	isTaken := func(email string, except int) bool {
		return slices.ContainsFunc(want, func(u users.User) bool {
			isExcepted := except >= 0 && u.ID == want[except].ID
			return u.Email == email && !isExcepted
		})
	}
	for step := range soakTimes(400) {
		d := testDraft(rng.IntN(emails))
		i := rng.IntN(len(want))
		switch action := rng.IntN(8); {
		case action < 3 || len(want) < 10:
			u, err := r.Create(ctx, d, testTime(step))
			if isTaken(d.Email, -1) {
				f.wantError("create", err, users.ErrEmailTaken)
				continue
			}
			f.wantUser("create", u, err, newUser(u.ID, d, testTime(step), testTime(step)))
			want = append(want, u)
		case action < 5:
			u, err := r.Update(ctx, want[i].ID, d, testTime(step))
			if isTaken(d.Email, i) {
				f.wantError("update", err, users.ErrEmailTaken)
				continue
			}
			want[i] = newUser(want[i].ID, d, want[i].CreatedAt, testTime(step))
			f.wantUser("update", u, err, want[i])
		case action < 7:
			if err := r.Delete(ctx, want[i].ID); err != nil {
				f.add("delete: %w", err)
			}
			want = slices.Delete(want, i, i+1)
		default:
			f.wantPage(ctx, r, "", want, i, 1+rng.IntN(20))
		}
		if len(f.list) > 0 {
			return f.err()
		}
	}
	f.wantUsers(ctx, "in the end", r, want)
	return f.err()
}
