package userstest

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tarebench/tare/apps/users"
)

func create(ctx context.Context, r users.Repository) error {
	want, err := filled(ctx, r, 3)
	if err != nil {
		return err
	}
	var f faults
	names := []string{"Ann", "Łucja Żółć", "王小明", "O'Brien; DROP TABLE users", `back\slash "quoted" %_`, "👩‍👩‍👧 family"}
	for i, name := range names {
		d := users.Draft{Name: name, Email: draft(i).Email}
		u, err := r.Create(ctx, d, moment(i))
		if err != nil {
			f.add("create %q: %w", name, err)
			continue
		}
		if last := want[len(want)-1].ID; u.ID <= last || i == 0 && u.ID != users.FirstID+3 {
			f.add("create %q: id %d after %d; the first after a reset is %d", name, u.ID, last, users.FirstID+3)
		}
		f.is("create", u, nil, drafted(u.ID, d, moment(i), moment(i)))
		want = append(want, u)
	}
	f.holds(ctx, "after creates", r, want)
	return f.err()
}

func unknown(ctx context.Context, r users.Repository) error {
	want, err := filled(ctx, r, 2)
	if err != nil {
		return err
	}
	var f faults
	for _, id := range []int64{0, -1, 1, users.FirstID - 1, users.FirstID + 2, math.MinInt64, math.MaxInt64} {
		_, err := r.Get(ctx, id)
		f.refused("get", err, users.ErrNotFound)
		_, err = r.Update(ctx, id, draft(0), moment(0))
		f.refused("update", err, users.ErrNotFound)
		_, err = r.Update(ctx, id, users.Draft{Name: "Nobody", Email: want[0].Email}, moment(0))
		f.refused("update to an e-mail that is taken", err, users.ErrNotFound)
		f.refused("delete", r.Delete(ctx, id), users.ErrNotFound)
	}
	f.holds(ctx, "after refusals", r, want)
	return f.err()
}

func update(ctx context.Context, r users.Repository) error {
	want, err := filled(ctx, r, 3)
	if err != nil {
		return err
	}
	var f faults
	change := func(what string, i int, d users.Draft, at int) {
		want[i] = drafted(want[i].ID, d, want[i].CreatedAt, moment(at))
		u, err := r.Update(ctx, want[i].ID, d, moment(at))
		f.is(what, u, err, want[i])
	}
	first, second := want[0].Email, want[1].Email
	change("name", 0, users.Draft{Name: "Another name", Email: first}, 1)
	change("e-mail", 0, users.Draft{Name: "Another name", Email: "new@example.org"}, 2)
	change("nothing", 0, users.Draft{Name: "Another name", Email: "new@example.org"}, 3)
	change("to the e-mail that another had", 1, users.Draft{Name: "Second", Email: first}, 4)
	change("and on", 2, users.Draft{Name: "Third", Email: second}, 5)
	change("and back", 0, users.Draft{Name: "First", Email: users.Seeded(2).Email}, 6)
	f.holds(ctx, "after updates", r, want)

	u, err := r.Create(ctx, users.Draft{Name: "Fourth", Email: "new@example.org"}, moment(7))
	if err != nil {
		f.add("create with an e-mail that an update left: %w", err)
	} else {
		f.holds(ctx, "after the create", r, append(want, u))
	}
	return f.err()
}

func failedUpdate(ctx context.Context, r users.Repository) error {
	want, err := filled(ctx, r, 3)
	if err != nil {
		return err
	}
	var f faults
	for i := range want {
		for j := range want {
			if i != j {
				_, err := r.Update(ctx, want[i].ID, users.Draft{Name: "Half an update", Email: want[j].Email}, moment(1))
				f.refused("update to another's e-mail", err, users.ErrEmailTaken)
			}
		}
	}
	f.holds(ctx, "after refused updates", r, want)
	_, total, err := r.List(ctx, "half", 0, 1)
	if total != 0 || err != nil {
		f.add("a search finds %d of refused updates, %v", total, err)
	}
	return f.err()
}

func remove(ctx context.Context, r users.Repository) error {
	want, err := filled(ctx, r, 4)
	if err != nil {
		return err
	}
	var f faults
	gone := want[1]
	if err := r.Delete(ctx, gone.ID); err != nil {
		f.add("delete: %w", err)
	}
	f.refused("delete again", r.Delete(ctx, gone.ID), users.ErrNotFound)
	_, err = r.Get(ctx, gone.ID)
	f.refused("get", err, users.ErrNotFound)
	_, err = r.Update(ctx, gone.ID, draft(0), moment(0))
	f.refused("update", err, users.ErrNotFound)
	want = slices.Delete(want, 1, 2)
	f.holds(ctx, "after a delete", r, want)

	d := users.Draft{Name: "Heir", Email: gone.Email}
	u, err := r.Create(ctx, d, moment(1))
	f.is("create with the e-mail of a deleted user", u, err, drafted(u.ID, d, moment(1), moment(1)))
	f.holds(ctx, "after a create", r, append(want, u))
	return f.err()
}

func ids(ctx context.Context, r users.Repository) error {
	if _, err := filled(ctx, r, 2); err != nil {
		return err
	}
	var f faults
	last := users.FirstID + int64(1)
	for i := range 5 {
		u, err := r.Create(ctx, draft(i), moment(i))
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
		if i == 2 { // by now nobody is left but the seeded ones
			for k := range 2 {
				if err := r.Delete(ctx, users.FirstID+int64(k)); err != nil {
					f.add("delete: %w", err)
				}
			}
		}
	}
	f.holds(ctx, "after all were deleted", r, nil)
	return f.err()
}

// model does at random what can be done, and knows what must come of it.
func model(ctx context.Context, r users.Repository) error {
	const seeded, emails = 300, 400 // so that some are taken
	want, err := filled(ctx, r, seeded)
	if err != nil {
		return err
	}
	var f faults
	rng := rand.New(rand.NewPCG(7, 7))
	taken := func(email string, but int) bool {
		return slices.ContainsFunc(want, func(u users.User) bool {
			return u.Email == email && (but < 0 || u.ID != want[but].ID)
		})
	}
	for step := range times(400) {
		d := draft(rng.IntN(emails))
		i := rng.IntN(len(want))
		switch action := rng.IntN(8); {
		case action < 3 || len(want) < 10:
			u, err := r.Create(ctx, d, moment(step))
			if taken(d.Email, -1) {
				f.refused("create", err, users.ErrEmailTaken)
				continue
			}
			f.is("create", u, err, drafted(u.ID, d, moment(step), moment(step)))
			want = append(want, u)
		case action < 5:
			u, err := r.Update(ctx, want[i].ID, d, moment(step))
			if taken(d.Email, i) {
				f.refused("update", err, users.ErrEmailTaken)
				continue
			}
			want[i] = drafted(want[i].ID, d, want[i].CreatedAt, moment(step))
			f.is("update", u, err, want[i])
		case action < 7:
			if err := r.Delete(ctx, want[i].ID); err != nil {
				f.add("delete: %w", err)
			}
			want = slices.Delete(want, i, i+1)
		default:
			f.page(ctx, r, "", want, i, 1+rng.IntN(20))
		}
		if len(f.list) > 0 {
			return f.err()
		}
	}
	f.holds(ctx, "in the end", r, want)
	return f.err()
}
