// Package conformance is the suite of app users: one script of calls, which a transport plays in
// the process of its test, and a built contender over the wire, by plain requests and by the client
// that it brings.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/wire"
)

// seeded is the number of users when the script begins.
const seeded = 50

// callScript returns calls of every operation with every error of the service.
func callScript() []rpc.Call {
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

// reference is a correct service in this process.
type reference struct {
	service *users.Service
	near    time.Duration // tolerance of times that are those of calls; 0 if all is the same
}

// newReference returns a service of seeded users whose clock is now; nil means the time.
func newReference(now func() time.Time, near time.Duration) (reference, error) {
	store, err := users.Open(context.Background(), users.MemoryStore, seeded)
	if err != nil {
		return reference{}, err
	}
	return reference{users.New(users.Config{Now: now}, store), near}, nil
}

// doCall makes a call.
func (r reference) doCall(c rpc.Call) (rpc.Outcome, error) {
	return c.Do(context.Background(), local{r.service})
}

// playScript makes all calls of the script by a client, and compares each result with the correct
// one. With lenient it accepts any.
func (r reference) playScript(c rpc.Client, lenient bool) error {
	for i, call := range callScript() {
		want, wantErr := r.doCall(call)
		got, gotErr := call.Do(context.Background(), c)
		if err := r.checkOutcome(call, got, gotErr, want, wantErr); err != nil && !lenient {
			return fmt.Errorf("call %d, %+v: %w", i, call, err)
		}
	}
	return nil
}

// madeCalls returns the calls that the service received.
func (r reference) madeCalls() wire.Calls {
	c := r.service.Calls()
	return wire.Calls{Create: c.Create, Get: c.Get, Update: c.Update, Delete: c.Delete, List: c.List, Sum: c.Sum}
}

// local is a service as a client.
type local struct{ *users.Service }

// Close does nothing.
func (local) Close() error { return nil }

// checkOutcome compares the result of a call with the correct one.
func (r reference) checkOutcome(c rpc.Call, got rpc.Outcome, gotErr error, want rpc.Outcome, wantErr error) error {
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
		return r.sameUser(got.User, want.User)
	}
	g, w := got.Page, want.Page
	if r.near == 0 && (g.Users == nil) != (w.Users == nil) {
		return fmt.Errorf("users are %v, want %v", g.Users, w.Users)
	}
	if g.Total != w.Total || g.Page != w.Page || g.Limit != w.Limit || len(g.Users) != len(w.Users) {
		return fmt.Errorf("%d users of %d on page %d of %d each, want %d of %d on page %d of %d", len(g.Users), g.Total, g.Page, g.Limit, len(w.Users), w.Total, w.Page, w.Limit)
	}
	for i := range g.Users {
		if err := r.sameUser(g.Users[i], w.Users[i]); err != nil {
			return fmt.Errorf("user %d of the page: %w", i, err)
		}
	}
	return nil
}

// sameUser compares users: times must be equal unless they are those of calls, and near if they
// are.
func (r reference) sameUser(got, want users.User) error {
	if r.near == 0 && got != want {
		return fmt.Errorf("user %+v, want %+v", got, want)
	}
	if got.ID != want.ID || got.Name != want.Name || got.Email != want.Email {
		return fmt.Errorf("user %d %q %q, want %d %q %q", got.ID, got.Name, got.Email, want.ID, want.Name, want.Email)
	}
	if want.ID == 0 {
		return nil // of delete
	}
	for _, at := range [][2]time.Time{{got.CreatedAt, want.CreatedAt}, {got.UpdatedAt, want.UpdatedAt}} {
		near := r.near
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

// createAll lets that number of callers concurrently create users with one e-mail, of which exactly
// one must succeed.
func createAll(c rpc.Client, creators int, domain string, lenient bool) error {
	outcomes := make([]error, creators)
	var all sync.WaitGroup
	for i := range creators {
		all.Go(func() {
			email := "The.Only@" + domain
			if i%2 == 0 {
				email = strings.ToLower(email)
			}
			_, outcomes[i] = c.Create(context.Background(), users.Draft{Name: fmt.Sprint("Creator ", i), Email: email})
		})
	}
	all.Wait()
	won := 0
	for _, err := range outcomes {
		var refused *users.Error
		switch {
		case err == nil:
			won++
		case !errors.As(err, &refused) || refused.Code != users.AlreadyExists:
			return fmt.Errorf("one of %d creators at once: %w", creators, err)
		}
	}
	page, err := c.List(context.Background(), users.Query{Text: "the.only@" + domain})
	if !lenient && (err != nil || won != 1 || page.Total != 1) {
		return errors.Join(err, fmt.Errorf("of %d creators of one e-mail at once %d won, and %d users have it", creators, won, page.Total))
	}
	return nil
}

// countRejected gets the first user n times, and counts the errors with code.
func countRejected(c rpc.Client, n int, code users.Code) (count int, err error) {
	for range n {
		_, err := c.Get(context.Background(), users.FirstID)
		var refused *users.Error
		switch {
		case errors.As(err, &refused) && refused.Code == code:
			count++
		case err != nil:
			return count, err
		}
	}
	return count, nil
}

// failsOne is the interval of failing calls, if that is set.
const failsOne = 3

// checkErrors checks that failures on request reach the client unchanged.
func checkErrors(c rpc.Client, lenient bool) error {
	failed, err := countRejected(c, 10*failsOne, users.Unavailable)
	if err == nil && failed != 10 && !lenient {
		err = fmt.Errorf("with one call in %d to fail, %d of %d did", failsOne, failed, 10*failsOne)
	}
	return err
}

// checkRequestIDs checks that a request's id is in its response, or a new one if it has no valid
// id.
func checkRequestIDs(p *plainClient, lenient bool) error {
	for id, kept := range map[string]bool{"mine-1": true, strings.Repeat("x", users.MaxRequestID): true, strings.Repeat("x", users.MaxRequestID+1): false, "a b": false, "": false} {
		for _, user := range []int64{users.FirstID, 5} { // one of whom is not there
			p.id = id
			_, err := p.Get(context.Background(), user)
			var refused *users.Error
			if err != nil && !errors.As(err, &refused) {
				return err
			}
			if got := *p.lastID.Load(); (got == "" || len(got) > users.MaxRequestID || (got == id) != kept) && !lenient {
				return fmt.Errorf("x-request-id is %q in the answer to a request of %q, of user %d", got, id, user)
			}
		}
	}
	return nil
}
