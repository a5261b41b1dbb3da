package store

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users"
)

// newDatabase makes a database of that name, which goes with the test, and returns its URL.
func newDatabase(t *testing.T, server, name string) string {
	t.Helper()
	c := direct(t, server, "")
	if err := execAll(t.Context(), c, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)", "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := execAll(context.Background(), c, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	at, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	at.Path = "/" + name
	return at.String()
}

// The database that a URL names holds its users whatever is opened, closed and
// reset. It is seeded once.
func namedIsKept(t *testing.T, server string) {
	at := "postgres:" + newDatabase(t, server, "tare_test_named")
	var ada users.User
	for i, n := range []int{3, 0, 7} {
		r, err := Open(t.Context(), at, n)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if ada, err = r.Create(t.Context(), users.Draft{Name: "Ada Lund", Email: "ada@example.com"}, time.Unix(1, 0)); err != nil || ada.ID != users.FirstID+3 {
				t.Fatalf("create: %v, error %v", ada, err)
			}
		}
		if err := r.Reset(t.Context(), n); !errors.Is(err, ErrNamed) {
			t.Errorf("reset: error %v, want ErrNamed", err)
		}
		other := open(t, "temporary:"+at, 1000) // of a lab that is given the same URL
		if err := other.Close(); err != nil {
			t.Error(err)
		}
		if u, err := r.Get(t.Context(), ada.ID); err != nil || u != ada {
			t.Errorf("the time of number %d: %v, error %v; want %v", i+1, u, err, ada)
		}
		if _, total, err := r.List(t.Context(), "", 0, 1); err != nil || total != 4 {
			t.Errorf("the time of number %d: %d users, error %v; want 4", i+1, total, err)
		}
		closed(t, r)
	}
	of := newDatabase(t, server, "tare_store_20200101_named")
	if r, err := Open(t.Context(), "postgres:"+of, 0); err == nil || !strings.Contains(err.Error(), "belong to labs") {
		if err == nil {
			r.Close()
		}
		t.Errorf("a database with the name of a lab's: error %v", err)
	}
	foreign := newDatabase(t, server, "tare_test_foreign")
	c := direct(t, foreign, "")
	if err := execAll(t.Context(), c, "CREATE TABLE users (a text)"); err != nil {
		t.Fatal(err)
	}
	if r, err := Open(t.Context(), "postgres:"+foreign, 0); err == nil || !strings.Contains(err.Error(), "already exists") {
		if err == nil {
			r.Close()
		}
		t.Errorf("a database with another table users: error %v", err)
	}
	if err := execAll(t.Context(), c, "INSERT INTO users (a) VALUES ('b')"); err != nil {
		t.Errorf("its table: %v", err)
	}
}
