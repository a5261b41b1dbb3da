package serving

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/wire"
)

// configured makes settings, as a lab or a user does who says no more than set.
func configured(t *testing.T, more users.Opener, lab bool, set map[string]string) *config {
	t.Helper()
	c := App(func(server.Options, *users.Service) (server.Server, error) { return nil, nil }, more, nil, nil).New().(*config)
	for _, s := range c.Settings() {
		value, ok := set[s.Name]
		switch {
		case ok:
		case lab:
			value = s.Measured
		default:
			value = s.Default
		}
		if err := s.Set(value); err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
	}
	return c
}

func TestSettings(t *testing.T) {
	for _, tt := range []struct {
		lab    bool
		set    map[string]string
		store  string
		seeded int
		want   users.Config
	}{
		{false, nil, "memory", 0, users.Config{Validate: 1}},
		{true, nil, "memory", 1000, users.Config{Validate: 1}},
		{false, map[string]string{SetStore: "linear", SetUsers: "7", SetValidate: "2", SetFailOne: "9", SetRateLimit: "50"}, "linear", 7, users.Config{Validate: 2, FailOne: 9, Limit: 50}},
		{false, map[string]string{SetStore: "sqlite:/a:b"}, "sqlite:/a:b", 0, users.Config{Validate: 1}},
		{false, map[string]string{SetStore: "postgres://u:p@h/db"}, "postgres://u:p@h/db", 0, users.Config{Validate: 1}},
	} {
		c := configured(t, nil, tt.lab, tt.set)
		if c.store != tt.store || c.seeded != tt.seeded || c.Validate != tt.want.Validate || c.FailOne != tt.want.FailOne || c.Limit != tt.want.Limit {
			t.Errorf("%v: %+v", tt.set, c)
		}
	}
	for _, name := range []string{"oracle:x", "sqlite:", "memory:x", "postgres", ""} {
		if err := (&config{}).setStore(name); err == nil || !strings.Contains(err.Error(), "is neither memory") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestOpen: stores that the package does not have are the program's, and under a lab
// a database is a new one.
func TestOpen(t *testing.T) {
	for _, tt := range []struct {
		lab         bool
		store, want string
	}{{false, "sqlite:x", "sqlite:x"}, {true, "sqlite:x", "sqlite:x"}, {false, "postgres://h/db", "postgres://h/db"}, {true, "postgres://h/db", "temporary:postgres://h/db"}} {
		set := map[string]string{SetStore: tt.store, SetUsers: "3"}
		c := configured(t, func(ctx context.Context, store string, n int) (users.Repository, error) {
			if store != tt.want || n != 3 {
				t.Errorf("asked for %s of %d, want %s", store, n, tt.want)
			}
			return users.Open(ctx, users.MemoryStore, n)
		}, tt.lab, set)
		s, err := c.Open(tt.lab)
		if err != nil || len(s.Notices) != 0 {
			t.Errorf("%s: %v, %q", tt.store, err, s.Notices)
		}
		if _, err := configured(t, nil, tt.lab, set).Open(tt.lab); !errors.Is(err, contender.ErrUnsupported) {
			t.Errorf("%s, not built in: %v", tt.store, err)
		}
	}
	for _, more := range []users.Opener{nil, users.Open} {
		s, err := configured(t, more, false, nil).Open(false)
		if err != nil || len(s.Notices) != 1 || strings.HasSuffix(s.Notices[0], "; -store sqlite:FILE keeps them") != (more != nil) {
			t.Errorf("%v, %q", err, s.Notices)
		}
	}
}

// failing is a store that has no room.
type failing struct{ users.Repository }

func (failing) Create(context.Context, users.Draft, time.Time) (users.User, error) {
	return users.User{}, errors.New("disk full")
}

// TestCounts: calls are counted until a reset, and what the store failed with is for the lab.
func TestCounts(t *testing.T) {
	var service *users.Service
	c := configured(t, func(ctx context.Context, _ string, n int) (users.Repository, error) {
		r, err := users.Open(ctx, users.MemoryStore, n)
		return failing{r}, err
	}, true, map[string]string{SetStore: "sqlite:x", SetUsers: "3"})
	c.serve = func(_ server.Options, s *users.Service) (server.Server, error) {
		service = s
		return nil, nil
	}
	s, err := c.Open(true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Make(server.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := service.Get(t.Context(), users.FirstID+2); err != nil {
		t.Error(err)
	}
	if got := s.Calls(); got.Get != 1 || got.Sum == 0 || s.Fault() != nil {
		t.Errorf("%+v, %v", got, s.Fault())
	}
	if err := s.Reset(t.Context()); err != nil || s.Calls() != (wire.Calls{}) {
		t.Errorf("%v, %+v", err, s.Calls())
	}
	if _, err := service.Create(t.Context(), users.Draft{Name: "Ada", Email: "ada@example.com"}); err == nil || strings.Contains(err.Error(), "disk") && !errors.Is(err, s.Fault()) {
		t.Errorf("%v", err)
	}
	if err := s.Fault(); err == nil || err.Error() != "disk full" {
		t.Errorf("%v", err)
	}
	if err := s.Close(); err != nil || s.Keeps != "store" {
		t.Error(err)
	}
}
