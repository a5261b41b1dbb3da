package userstest

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users"
)

// plain is the plainest store there can be, with one fault.
type plain struct {
	fault string
	mu    sync.Mutex
	users []users.User
	next  int64
	reset int
}

func (p *plain) is(fault string) bool { return p.fault == fault }

func (p *plain) begin(ctx context.Context) error {
	p.mu.Lock()
	if p.is("deaf to cancellation") {
		return nil
	}
	return ctx.Err()
}

func (p *plain) find(id int64) int {
	return slices.IndexFunc(p.users, func(u users.User) bool { return u.ID == id })
}

// taken reports whether somebody else has the e-mail. Where it lets go of the lock
// in between, others come in.
func (p *plain) taken(email string, id int64, lets bool) bool {
	found := slices.ContainsFunc(p.users, func(u users.User) bool { return u.Email == email && u.ID != id })
	if lets && !found {
		p.mu.Unlock()
		for range 10 {
			runtime.Gosched()
		}
		p.mu.Lock()
	}
	return found
}

func (p *plain) Create(ctx context.Context, d users.Draft, at time.Time) (users.User, error) {
	err := p.begin(ctx)
	defer p.mu.Unlock()
	if err != nil {
		return users.User{}, err
	}
	if !p.is("no uniqueness") && p.taken(d.Email, 0, p.is("a moment between look and create")) {
		return users.User{}, users.ErrEmailTaken
	}
	u := newUser(p.next, d, at, at)
	switch {
	case p.is("ids used again") && len(p.users) > 0:
		u.ID = p.users[len(p.users)-1].ID + 1
	case p.is("ids from zero"):
		u.ID -= users.FirstID
	case p.is("seconds"):
		u.UpdatedAt = at.Truncate(time.Second)
	case p.is("local times"):
		u.CreatedAt = at.In(time.FixedZone("", 3600))
	case p.is("bytes for characters"):
		u.Name = strings.ToValidUTF8(u.Name[:min(10, len(u.Name))], "")
	}
	p.next++
	p.users = append(p.users, u)
	if p.is("slow to cancel") {
		return u, ctx.Err()
	}
	return u, nil
}

func (p *plain) Get(ctx context.Context, id int64) (users.User, error) {
	err := p.begin(ctx)
	defer p.mu.Unlock()
	if err != nil {
		return users.User{}, err
	}
	i := p.find(id)
	if i < 0 {
		return users.User{}, users.ErrNotFound
	}
	return p.users[i], nil
}

func (p *plain) Update(ctx context.Context, id int64, d users.Draft, at time.Time) (users.User, error) {
	err := p.begin(ctx)
	defer p.mu.Unlock()
	if err != nil {
		return users.User{}, err
	}
	i := p.find(id)
	if i < 0 && !p.is("e-mail before id") {
		return users.User{}, users.ErrNotFound
	}
	if p.is("half an update") {
		p.users[i].Name = d.Name
	}
	if p.is("own e-mail is taken") && d.Email == p.users[i].Email {
		return users.User{}, users.ErrEmailTaken
	}
	if !p.is("no uniqueness of updates") && p.taken(d.Email, id, p.is("a moment between look and update")) {
		return users.User{}, users.ErrEmailTaken
	}
	if i = p.find(id); i < 0 {
		return users.User{}, users.ErrNotFound
	}
	u := &p.users[i]
	u.Name, u.Email, u.UpdatedAt = d.Name, d.Email, at
	if p.is("made anew") {
		u.CreatedAt = at
	}
	return *u, nil
}

func (p *plain) Delete(ctx context.Context, id int64) error {
	err := p.begin(ctx)
	defer p.mu.Unlock()
	if err != nil {
		return err
	}
	i := p.find(id)
	switch {
	case i < 0 && p.is("deletes are quiet"):
		return nil
	case i < 0:
		return users.ErrNotFound
	case p.is("deleted by moving the last"):
		p.users[i] = p.users[len(p.users)-1]
		p.users = p.users[:len(p.users)-1]
		return nil
	}
	p.users = slices.Delete(p.users, i, i+1)
	return nil
}

func (p *plain) List(ctx context.Context, text string, offset, limit int) ([]users.User, int64, error) {
	err := p.begin(ctx)
	defer p.mu.Unlock()
	if err != nil {
		return nil, 0, err
	}
	var all []users.User
	for _, u := range p.users {
		name, email := strings.ToLower(u.Name), u.Email
		found := strings.Contains(name, text) || strings.Contains(email, text)
		switch {
		case p.is("case matters"):
			found = strings.Contains(u.Name, text) || strings.Contains(email, text)
		case p.is("wildcards") && strings.ContainsAny(text, "%_"):
			found = strings.Contains(name, strings.Trim(text, "%_"))
		case p.is("names only"):
			found = strings.Contains(name, text)
		}
		if found {
			all = append(all, u)
		}
	}
	total := len(all)
	if p.is("newest first") {
		slices.SortFunc(all, func(a, b users.User) int { return cmp.Compare(b.ID, a.ID) })
	}
	if p.is("updated last") {
		slices.SortStableFunc(all, func(a, b users.User) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
	}
	page := slices.Clone(all[min(offset, total):][:min(limit, max(0, total-offset))])
	if p.is("total of the page") {
		total = len(page)
	}
	return page, int64(total), nil
}

func (p *plain) Reset(ctx context.Context, n int) error {
	err := p.begin(ctx)
	defer p.mu.Unlock()
	if err != nil || n < 0 {
		return cmp.Or(err, context.Canceled)
	}
	if p.is("reset once") && n == p.reset {
		return nil
	}
	if !p.is("ids go on") || p.next == 0 {
		p.next = users.FirstID + int64(n)
	}
	p.reset = n
	p.users = nil
	for k := range n {
		p.users = append(p.users, users.Seeded(k))
	}
	return nil
}

func (p *plain) Close() error { return nil }

// Each fault is found by the test that is there for it.
func TestFaults(t *testing.T) {
	for fault, by := range map[string]string{
		"no uniqueness":                    "creators of one e-mail",
		"a moment between look and create": "creators of one e-mail",
		"no uniqueness of updates":         "failed update",
		"a moment between look and update": "updates to one e-mail",
		"half an update":                   "failed update",
		"own e-mail is taken":              "update",
		"e-mail before id":                 "unknown",
		"made anew":                        "update",
		"ids used again":                   "ids are not used again",
		"ids from zero":                    "create",
		"seconds":                          "create",
		"local times":                      "create",
		"bytes for characters":             "create",
		"deletes are quiet":                "delete",
		"deleted by moving the last":       "pages",
		"case matters":                     "search",
		"wildcards":                        "search",
		"names only":                       "search",
		"newest first":                     "pages",
		"updated last":                     "update",
		"total of the page":                "pages of a search",
		"reset once":                       "reset",
		"ids go on":                        "reset to another number",
		"deaf to cancellation":             "cancelled before",
	} {
		i := slices.IndexFunc(allChecks(), func(c check) bool { return c.name == by })
		if i < 0 {
			t.Fatalf("there is no test %q", by)
		}
		if err := allChecks()[i].run(t.Context(), &plain{fault: fault}); err == nil {
			t.Errorf("%s: not found by %q", fault, by)
		}
	}
}

func TestPlain(t *testing.T) {
	Repository(t, func(t *testing.T) users.Repository { return &plain{} })
}

// A store that has done what it says it has not is no fault of the store.
func TestLateCancellation(t *testing.T) {
	if err := checkCancelledMeanwhile(t.Context(), &plain{fault: "slow to cancel"}); err != nil {
		t.Error(err)
	}
}

func TestBuiltIn(t *testing.T) {
	for _, store := range []string{users.MemoryStore, users.LinearStore} {
		t.Run(store, func(t *testing.T) {
			Repository(t, func(t *testing.T) users.Repository {
				r, err := users.Open(t.Context(), store, 20)
				if err != nil {
					t.Fatal(err)
				}
				return r
			})
		})
	}
}
