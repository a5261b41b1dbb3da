// Package store stores users in a database:
//
//	sqlite:FILE                 in a file
//	sqlite:FILE?template=DIR    in a file; DIR contains the templates of new files
//	postgres:URL                in the existing database that URL names
//	temporary:postgres:URL      in a new database on the server at URL, which Close drops
//
// [Open] opens these stores, and those of package users. They have migrations, prepared statements and a
// unique index of e-mails, as in a real service. Seeded users are inserted only once, into a template.
//
// The package never drops or empties a PostgreSQL database that the caller names.
package store

import (
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"strings"

	"github.com/tarebench/tare/apps/users"
)

// ErrClosed is the error of calls after Close.
var ErrClosed = errors.New("the store is closed")

// ErrNamed is returned by Reset for a PostgreSQL database that the caller named. No user changes.
var ErrNamed = errors.New("users in a database that has a name of its own are not deleted")

// Open opens a store by its name. It is a users.Opener.
//
// A new SQLite file gets n seeded users; an existing one keeps its users. So does a named PostgreSQL database.
// A temporary one is always new.
func Open(ctx context.Context, store string, n int) (users.Repository, error) {
	if n < 0 {
		return nil, fmt.Errorf("open store: %d users", n)
	}
	name, temporary := strings.CutPrefix(store, users.Temporary)
	kind, rest, _ := strings.Cut(name, ":")
	switch {
	case kind == "sqlite" && !temporary:
		// No character in paths has a special meaning.
		file, dir, _ := strings.Cut(rest, "?template=")
		if file == "" || file == ":memory:" {
			return nil, fmt.Errorf("open store %q: it names no file, as in sqlite:users.db", store)
		}
		r, err := openSQLite(ctx, file, dir, n)
		if err != nil {
			return nil, fmt.Errorf("open SQLite file %s: %w", file, oneLine(err))
		}
		return r, nil
	case kind == "postgres" || kind == "postgresql":
		url := rest
		if strings.HasPrefix(rest, "//") { // postgres://… : kind is the scheme
			url = name
		}
		r, err := openPostgres(ctx, url, n, temporary)
		if err != nil {
			return nil, fmt.Errorf("open PostgreSQL: %w", oneLine(err))
		}
		return r, nil
	}
	r, err := users.Open(ctx, store, n)
	if errors.Is(err, users.ErrNoStore) {
		return nil, fmt.Errorf("%w, sqlite:FILE and postgres:URL", err)
	}
	return r, err
}

var _ users.Opener = Open

//go:embed migrations
var migrations embed.FS

// loadMigrations returns the migrations of a database in the order of application. The first one leads to
// version 1.
func loadMigrations(database string) ([]string, error) {
	dir := "migrations/" + database
	entries, err := migrations.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	var out []string
	for _, e := range entries {
		text, err := migrations.ReadFile(dir + "/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("read migrations: %w", err)
		}
		out = append(out, string(text))
	}
	return out, nil
}

func errNewer(version, known int) error {
	return fmt.Errorf("its schema has version %d, and this program knows of %d", version, known)
}

// fingerprint returns a short hash of the schema and the users. It is part of a template's name, so that a
// program with another schema or other users does not use the template.
func fingerprint(steps []string, n int) string {
	h := sha256.New()
	for _, s := range steps {
		fmt.Fprintf(h, "%d\n%s", len(s), s)
	}
	for _, k := range []int{0, n / 2, n} {
		fmt.Fprintf(h, "%v\n", users.Seeded(k))
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:4])
}

// oneLine returns err with a text of one line, because drivers return several.
func oneLine(err error) error {
	if err == nil || !strings.Contains(err.Error(), "\n") {
		return err
	}
	return lineError{err}
}

type lineError struct{ error }

func (e lineError) Error() string {
	var parts []string
	for line := range strings.Lines(e.error.Error()) {
		parts = append(parts, strings.TrimSpace(line))
	}
	return strings.Join(parts, " / ")
}

func (e lineError) Unwrap() error { return e.error }
