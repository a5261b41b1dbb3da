package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	driver "modernc.org/sqlite"
)

// waitMillis is the wait, in ms, for another program that writes to the file, or a PostgreSQL server that
// starts.
const waitMillis = 5000

// connections to a file have prepared statements.
type connections struct {
	writer  *sql.DB // single, for create, update and delete
	readers *sql.DB // connections for get, list and search

	create, get, update, delete, list, search *sql.Stmt
}

const (
	sqliteCreate = "INSERT INTO users (name, folded, email, created_at, updated_at) VALUES (?, ?, ?, ?, ?)"
	sqliteGet    = "SELECT name, email, created_at, updated_at FROM users WHERE id = ?"
	sqliteUpdate = "UPDATE users SET name = ?, folded = ?, email = ?, updated_at = ? WHERE id = ? RETURNING created_at"
	sqliteDelete = "DELETE FROM users WHERE id = ?"

	// sqliteList and sqliteSearch select a page and the number of users. For an empty page, they return one
	// row with nulls.
	sqliteList = `SELECT (SELECT count(*) FROM users), p.id, p.name, p.email, p.created_at, p.updated_at FROM (SELECT 1)
		LEFT JOIN (SELECT * FROM users ORDER BY id LIMIT ?1 OFFSET ?2) AS p ORDER BY p.id`
	sqliteSearch = `SELECT (SELECT count(*) FROM users WHERE instr(folded, ?3) OR instr(email, ?3)), p.id, p.name, p.email, p.created_at, p.updated_at FROM (SELECT 1)
		LEFT JOIN (SELECT * FROM users WHERE instr(folded, ?3) OR instr(email, ?3) ORDER BY id LIMIT ?1 OFFSET ?2) AS p ORDER BY p.id`
)

// openConnections opens the file, or creates an empty one, and applies missing migrations.
func openConnections(ctx context.Context, file string) (*connections, error) {
	wait := fmt.Sprintf("busy_timeout(%d)", waitMillis)
	writer, err := openDB(file, wait, "journal_mode(wal)", "synchronous(normal)")
	if err != nil {
		return nil, err
	}
	writer.SetMaxOpenConns(1)
	known, err := loadMigrations("sqlite")
	if err == nil {
		err = migrateSQLite(ctx, writer, known)
	}
	if err != nil {
		return nil, errors.Join(err, writer.Close())
	}
	c := &connections{writer: writer}
	if c.readers, err = openDB(file, wait, "query_only(1)"); err != nil {
		return nil, errors.Join(err, writer.Close())
	}
	maxReaders := max(4, runtime.GOMAXPROCS(0))
	c.readers.SetMaxOpenConns(maxReaders)
	c.readers.SetMaxIdleConns(maxReaders)
	if err := c.prepareStatements(ctx); err != nil {
		return nil, errors.Join(err, c.closeAll())
	}
	return c, nil
}

func (c *connections) prepareStatements(ctx context.Context) error {
	for _, p := range []struct {
		statement **sql.Stmt
		db        *sql.DB
		text      string
	}{
		{&c.create, c.writer, sqliteCreate},
		{&c.update, c.writer, sqliteUpdate},
		{&c.delete, c.writer, sqliteDelete},
		{&c.get, c.readers, sqliteGet},
		{&c.list, c.readers, sqliteList},
		{&c.search, c.readers, sqliteSearch},
	} {
		var err error
		if *p.statement, err = p.db.PrepareContext(ctx, p.text); err != nil {
			return fmt.Errorf("prepare a statement: %w", err)
		}
	}
	return nil
}

// closeAll closes all connections, the writer last: the last one moves the write-ahead log into the file.
func (c *connections) closeAll() error { return errors.Join(c.readers.Close(), c.writer.Close()) }

// openDB returns a pool of connections to a file, and does not connect yet. Each connection executes the
// pragmas, such as synchronous(normal). Transactions begin with a write lock.
func openDB(file string, pragmas ...string) (*sql.DB, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // C:/…
		path = "/" + path
	}
	name := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{"_pragma": pragmas, "_txlock": {"immediate"}}.Encode()}
	c, err := driver.NewConnector(name.String())
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(c), nil
}

// migrateSQLite applies missing steps. Each transaction sets the version, so two programs can migrate
// concurrently.
func migrateSQLite(ctx context.Context, db *sql.DB, steps []string) error {
	for {
		tx, err := db.BeginTx(ctx, nil) // locks out other writers, see openDB
		if err != nil {
			return err
		}
		more, err := migrateOnce(ctx, tx, steps)
		if err != nil || !more {
			return errors.Join(err, tx.Rollback())
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
}

// migrateOnce applies the next migration. It returns false if all are applied.
func migrateOnce(ctx context.Context, tx *sql.Tx, steps []string) (bool, error) {
	var version int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return false, err
	}
	switch {
	case version > len(steps):
		return false, errNewer(version, len(steps))
	case version == len(steps):
		return false, nil
	}
	if _, err := tx.ExecContext(ctx, steps[version]); err != nil {
		return false, fmt.Errorf("migrate to version %d: %w", version+1, err)
	}
	_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version+1))
	return true, err
}

// replaceFile replaces file, which must have no connection, and removes its logs.
func replaceFile(next, file string) error {
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if err := os.Remove(file + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return os.Rename(next, file)
}
