package contendertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/wire"
)

// seeded is how many users there are when the script begins.
const seeded = 50

// script is every operation and every refusal of the service.
func script() []rpc.Call {
	const last = users.FirstID + seeded - 1
	create := func(name, email string) rpc.Call { return rpc.Call{Op: rpc.OpCreate, Name: name, Email: email} }
	update := func(id int64, name, email string) rpc.Call {
		return rpc.Call{Op: rpc.OpUpdate, ID: id, Name: name, Email: email}
	}
	get := func(id int64) rpc.Call { return rpc.Call{Op: rpc.OpGet, ID: id} }
	remove := func(id int64) rpc.Call { return rpc.Call{Op: rpc.OpDelete, ID: id} }
	list := func(q string, page, limit int) rpc.Call {
		return rpc.Call{Op: rpc.OpList, Query: q, Page: page, Limit: limit}
	}
	return []rpc.Call{
		create("Ada Lovelace", "ada@example.com"), get(last + 1), get(users.FirstID), get(last),
		create("  Zoë \"Q\" <&>\t", " ZOE@Example.COM "), get(last + 2),
		create("Bob", "b@example.com"), create("Bo", "bo@example.com"), create("", "x@example.com"), create("  ab  ", "ab@example.com"), create("ab\tc", "tab@example.com"), create("a\\b\u2028 😀", "signs@example.com"),
		create(strings.Repeat("é", 100), "hundred@example.com"), create(strings.Repeat("é", 101), "more@example.com"),
		create("Ada Lovelace", ""), create("Ada Lovelace", "no address"), create("Ada Lovelace", "Ada <ada2@example.com>"), create("", ""),
		create("Ada Lovelace", "ada@example.com"), create("Ada Again", "ADA@example.com"), create("Ada Again", users.Seeded(7).Email),
		get(last + 1000), get(users.FirstID - 1), get(1), get(0), get(-1), get(1 << 62),
		update(last+1, "Ada King", "ada.king@example.com"), get(last + 1), update(last+1, "Countess Ada", "ada.king@example.com"),
		update(last+1, "Ada King", users.Seeded(3).Email), update(last+1, "A", "ada.king@example.com"), update(last+1, "Ada King", "@"),
		update(last+1000, "Nobody There", "nobody@example.com"), update(0, "Nobody There", "nobody@example.com"),
		create("Ada Lovelace", "ada@example.com"), // which is free again
		remove(users.FirstID + 3), get(users.FirstID + 3), remove(users.FirstID + 3), remove(last + 1000), remove(0), remove(-5),
		create("Her Successor", users.Seeded(3).Email),
		list("", 0, 0), list("", 2, 20), list("", 1, 100), list("", 1, 1000), list("", 3, 20), list("", 1000, 10), list("", 2_000_000_000, 100),
		list("ADA", 0, 0), list("zoë", 1, 3), list("  ada ", 0, 0), list("\"q\" <&>", 0, 0), list("100%25 &=+#/?é", 0, 0), list("example.com", 1, 7), list("nobody at all", 0, 0),
		list("", -1, 0), list("", 0, -5), list("", -1, -5), list("é", -2, 10), list(strings.Repeat("x", users.MaxText+1), 0, 0),
	}
}

// reference is what a sound service makes of calls, in this process.
type reference struct{ service *users.Service }

func newReference(n int) (reference, error) {
	store, err := users.Open(context.Background(), users.MemoryStore, n)
	if err != nil {
		return reference{}, err
	}
	return reference{users.New(users.Config{}, store)}, nil
}

// do makes a call.
func (r reference) do(c rpc.Call) (rpc.Outcome, error) {
	return c.Do(context.Background(), local{r.service})
}

// calls are what it was asked.
func (r reference) calls() wire.Calls {
	c := r.service.Calls()
	return wire.Calls{Create: c.Create, Get: c.Get, Update: c.Update, Delete: c.Delete, List: c.List, Sum: c.Sum}
}

// local is a service as a client.
type local struct{ *users.Service }

// Close does nothing.
func (local) Close() error { return nil }

// agrees holds what came of a call against what is right.
func agrees(c rpc.Call, got rpc.Outcome, gotErr error, want rpc.Outcome, wantErr error) error {
	var refused, right *users.Error
	switch {
	case gotErr != nil && !errors.As(gotErr, &refused):
		return gotErr
	case wantErr != nil && !errors.As(wantErr, &right):
		return wantErr
	case refused != nil && right != nil:
		if refused.Code != right.Code || refused.Message != right.Message {
			return fmt.Errorf("refused with %q, want %q", refused.Error(), right.Error())
		}
		return nil
	case refused != nil:
		return fmt.Errorf("refused with %w", refused)
	case right != nil:
		return fmt.Errorf("answered, want a refusal with %w", right)
	case c.Op != rpc.OpList:
		return sameUser(got.User, want.User)
	}
	g, w := got.Page, want.Page
	if g.Total != w.Total || g.Page != w.Page || g.Limit != w.Limit || len(g.Users) != len(w.Users) {
		return fmt.Errorf("%d users of %d on page %d of %d each, want %d of %d on page %d of %d", len(g.Users), g.Total, g.Page, g.Limit, len(w.Users), w.Total, w.Page, w.Limit)
	}
	for i := range g.Users {
		if err := sameUser(g.Users[i], w.Users[i]); err != nil {
			return fmt.Errorf("user %d of the page: %w", i, err)
		}
	}
	return nil
}

// sameUser: times are the same where they are not those of the calls, and near
// where they are.
func sameUser(got, want users.User) error {
	if got.ID != want.ID || got.Name != want.Name || got.Email != want.Email {
		return fmt.Errorf("user %d %q %q, want %d %q %q", got.ID, got.Name, got.Email, want.ID, want.Name, want.Email)
	}
	if want.ID == 0 {
		return nil // of delete
	}
	for _, at := range [][2]time.Time{{got.CreatedAt, want.CreatedAt}, {got.UpdatedAt, want.UpdatedAt}} {
		near := time.Hour
		if want.CreatedAt.Equal(want.UpdatedAt) && want.ID < users.FirstID+seeded {
			near = 0
		}
		if d := at[0].Sub(at[1]).Abs(); d > near || at[0].Nanosecond()%1000 != 0 {
			return fmt.Errorf("user %d: time %v, want %v", got.ID, at[0], at[1])
		}
	}
	if got.CreatedAt.Equal(got.UpdatedAt) != want.CreatedAt.Equal(want.UpdatedAt) {
		return fmt.Errorf("user %d: created %v, updated %v", got.ID, got.CreatedAt, got.UpdatedAt)
	}
	return nil
}
