// Package conformance tests transports of app users with one script of calls. [Face] tests a transport in this
// process. [Suite] tests a built program, with plain requests and its own client.
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

// seeded is the number of users before the script.
const seeded = 50

// callScript returns calls with every operation and every error. They depend on each other in this order.
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
		// Valid users, with the new ids last+1 and last+2.
		create("Ada Lovelace", "ada@example.com"), get(last + 1), get(users.FirstID), get(last),
		create("  Zoë \"Q\" <&>\t", " ZOE@Example.COM "), get(last + 2),

		// Names and e-mails at the limits, and beyond.
		create("Bob", "b@example.com"), create("Bo", "bo@example.com"), create("", "x@example.com"), create("  ab  ", "ab@example.com"), create("ab\tc", "tab@example.com"), create("a\\b\u2028 😀", "signs@example.com"),
		create(strings.Repeat("é", 100), "hundred@example.com"), create(strings.Repeat("é", 101), "more@example.com"),
		create("Ada Lovelace", ""), create("Ada Lovelace", "no address"), create("Ada Lovelace", "Ada <ada2@example.com>"), create("", ""),

		// E-mails that are taken, and unknown ids.
		create("Ada Lovelace", "ada@example.com"), create("Ada Again", "ADA@example.com"), create("Ada Again", users.Seeded(7).Email),
		get(last + 1000), get(users.FirstID - 1), get(1), get(0), get(-1), get(1 << 62),

		update(last+1, "Ada King", "ada.king@example.com"), get(last + 1), update(last+1, "Countess Ada", "ada.king@example.com"),
		update(last+1, "Ada King", users.Seeded(3).Email), update(last+1, "A", "ada.king@example.com"), update(last+1, "Ada King", "@"),
		update(last+1000, "Nobody There", "nobody@example.com"), update(0, "Nobody There", "nobody@example.com"),
		create("Ada Lovelace", "ada@example.com"), // the e-mail is free again

		remove(users.FirstID + 3), get(users.FirstID + 3), remove(users.FirstID + 3), remove(last + 1000), remove(0), remove(-5),
		create("Her Successor", users.Seeded(3).Email),

		// Pages, searches, and invalid queries.
		list("", 0, 0), list("", 2, 20), list("", 1, 100), list("", 1, 1000), list("", 3, 20), list("", 1000, 10), list("", 2_000_000_000, 100),
		list("ADA", 0, 0), list("zoë", 1, 3), list("  ada ", 0, 0), list("\"q\" <&>", 0, 0), list("100%25 &=+#/?é", 0, 0), list("example.com", 1, 7), list("nobody at all", 0, 0),
		list("", -1, 0), list("", 0, -5), list("", -1, -5), list("é", -2, 10), list(strings.Repeat("x", users.MaxText+1), 0, 0),
	}
}

// reference is a correct service in this process, for comparison.
type reference struct {
	service   *users.Service
	tolerance time.Duration // difference between times; 0 if clocks are the same
}

// newReference returns a reference with seeded users. Its clock is now; nil means time.Now.
func newReference(now func() time.Time, tolerance time.Duration) (reference, error) {
	store, err := users.Open(context.Background(), users.MemoryStore, seeded)
	if err != nil {
		return reference{}, err
	}
	return reference{service: users.New(users.Config{Now: now}, store), tolerance: tolerance}, nil
}

func (r reference) doCall(c rpc.Call) (rpc.Outcome, error) {
	return c.Do(context.Background(), localClient{r.service})
}

// playScript makes all calls of the script with c and compares the results with those of the reference. If
// lenient is set, any result is accepted.
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

func (r reference) madeCalls() wire.Calls {
	c := r.service.Calls()
	return wire.Calls{Create: c.Create, Get: c.Get, Update: c.Update, Delete: c.Delete, List: c.List, Sum: c.Sum}
}

type localClient struct{ *users.Service }

// Close does nothing.
func (localClient) Close() error { return nil }

// checkOutcome compares got or gotErr with want or wantErr.
func (r reference) checkOutcome(c rpc.Call, got rpc.Outcome, gotErr error, want rpc.Outcome, wantErr error) error {
	var gotRefusal, wantRefusal *users.Error
	switch {
	case gotErr != nil && !errors.As(gotErr, &gotRefusal):
		return gotErr
	case wantErr != nil && !errors.As(wantErr, &wantRefusal):
		return wantErr
	case gotRefusal != nil && wantRefusal != nil:
		if gotRefusal.Code != wantRefusal.Code || gotRefusal.Message != wantRefusal.Message {
			return fmt.Errorf("refused with %q, want %q", gotRefusal.Error(), wantRefusal.Error())
		}
		return nil
	case gotRefusal != nil:
		return fmt.Errorf("refused with %w", gotRefusal)
	case wantRefusal != nil:
		return fmt.Errorf("answered, want a refusal with %w", wantRefusal)
	case c.Op != rpc.OpList:
		return r.sameUser(got.User, want.User)
	}
	g, w := got.Page, want.Page
	if r.tolerance == 0 && (g.Users == nil) != (w.Users == nil) {
		return fmt.Errorf("users are %v, want %v", g.Users, w.Users)
	}
	isSamePage := g.Total == w.Total && g.Page == w.Page && g.Limit == w.Limit
	if !isSamePage || len(g.Users) != len(w.Users) {
		return fmt.Errorf("%d users of %d on page %d of %d each, want %d of %d on page %d of %d", len(g.Users), g.Total, g.Page, g.Limit, len(w.Users), w.Total, w.Page, w.Limit)
	}
	for i := range g.Users {
		if err := r.sameUser(g.Users[i], w.Users[i]); err != nil {
			return fmt.Errorf("user %d of the page: %w", i, err)
		}
	}
	return nil
}

// sameUser compares users. Times of seeded ones must be equal; others may differ by the tolerance.
func (r reference) sameUser(got, want users.User) error {
	if r.tolerance == 0 && got != want {
		return fmt.Errorf("user %+v, want %+v", got, want)
	}
	if got.ID != want.ID || got.Name != want.Name || got.Email != want.Email {
		return fmt.Errorf("user %d %q %q, want %d %q %q", got.ID, got.Name, got.Email, want.ID, want.Name, want.Email)
	}
	if want.ID == 0 {
		return nil // a delete returns no user
	}
	tolerance := r.tolerance
	isUnchanged := want.CreatedAt.Equal(want.UpdatedAt) && want.ID < users.FirstID+seeded // a seeded user
	if isUnchanged {
		tolerance = 0
	}
	for _, times := range []struct{ got, want time.Time }{{got.CreatedAt, want.CreatedAt}, {got.UpdatedAt, want.UpdatedAt}} {
		inMicroseconds := times.got.Nanosecond()%1000 == 0
		if d := times.got.Sub(times.want).Abs(); d > tolerance || !inMicroseconds {
			return fmt.Errorf("user %d: time %v, want %v", got.ID, times.got, times.want)
		}
	}
	if got.CreatedAt.Equal(got.UpdatedAt) != want.CreatedAt.Equal(want.UpdatedAt) {
		return fmt.Errorf("user %d: created %v, updated %v", got.ID, got.CreatedAt, got.UpdatedAt)
	}
	return nil
}

// createAll lets concurrent callers create one e-mail, half of them in other letter case. Exactly one must
// succeed.
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
	won := 0 // successful callers
	for _, err := range outcomes {
		var refusal *users.Error
		switch {
		case err == nil:
			won++
		case !errors.As(err, &refusal) || refusal.Code != users.AlreadyExists:
			return fmt.Errorf("one of %d creators at once: %w", creators, err)
		}
	}
	page, err := c.List(context.Background(), users.Query{Text: "the.only@" + domain})
	isUnique := won == 1 && page.Total == 1
	if !lenient && (err != nil || !isUnique) {
		return errors.Join(err, fmt.Errorf("of %d creators of one e-mail at once %d won, and %d users have it", creators, won, page.Total))
	}
	return nil
}

// countRejected gets the first user n times, and counts failures with code.
func countRejected(c rpc.Client, n int, code users.Code) (count int, err error) {
	for range n {
		_, err := c.Get(context.Background(), users.FirstID)
		var refusal *users.Error
		switch {
		case errors.As(err, &refusal) && refusal.Code == code:
			count++
		case err != nil:
			return count, err
		}
	}
	return count, nil
}

// failsOne is users.Config.FailOne in tests: every third call fails.
const failsOne = 3

func checkErrors(c rpc.Client, lenient bool) error {
	failed, err := countRejected(c, 10*failsOne, users.Unavailable)
	if err == nil && failed != 10 && !lenient {
		err = fmt.Errorf("with one call in %d to fail, %d of %d did", failsOne, failed, 10*failsOne)
	}
	return err
}

// checkRequestIDs expects the id of a request, or a new one for an invalid id.
func checkRequestIDs(p *plainClient, lenient bool) error {
	isValid := map[string]bool{
		"mine-1":                                  true,
		strings.Repeat("x", users.MaxRequestID):   true,
		strings.Repeat("x", users.MaxRequestID+1): false,
		"a b": false,
		"":    false,
	}
	for id, valid := range isValid {
		for _, user := range []int64{users.FirstID, 5} { // there is no user 5
			p.id = id
			_, err := p.Get(context.Background(), user)
			var refusal *users.Error
			if err != nil && !errors.As(err, &refusal) {
				return err
			}
			got := *p.lastID.Load()
			isCorrect := got != "" && len(got) <= users.MaxRequestID && (got == id) == valid
			if !isCorrect && !lenient {
				return fmt.Errorf("x-request-id is %q in the answer to a request of %q, of user %d", got, id, user)
			}
		}
	}
	return nil
}
