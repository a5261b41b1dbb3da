package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tarebench/tare/apps/users"
)

// templateDir has SQLite files with seeded users, one per number of users. New stores are copies. Programs may
// share it: a file appears when it is complete.
type templateDir struct {
	dir     string
	private bool // removed with the only store
}

// newTemplates returns the templates in dir, which it creates if necessary; "" means a private directory.
func newTemplates(dir string) (*templateDir, error) {
	if dir != "" {
		return &templateDir{dir: dir}, os.MkdirAll(dir, 0o777)
	}
	dir, err := os.MkdirTemp("", "tare-users-")
	return &templateDir{dir: dir, private: true}, err
}

func (t *templateDir) removePrivate() error {
	if t.private {
		return os.RemoveAll(t.dir)
	}
	return nil
}

// copyTemplate copies the template of n users next to file. The caller renames the copy.
func (t *templateDir) copyTemplate(ctx context.Context, file string, n int) (string, error) {
	template, err := t.ensureFile(ctx, n)
	if err != nil {
		return "", fmt.Errorf("build a template of %d users: %w", n, err)
	}
	source, err := os.Open(template)
	if err != nil {
		return "", err
	}
	defer source.Close()
	target, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".new-")
	if err != nil {
		return "", err
	}
	// io.Copy may let the kernel copy, without reading.
	_, err = io.Copy(target, source)
	if err = errors.Join(err, target.Close()); err != nil {
		return "", errors.Join(err, os.Remove(target.Name()))
	}
	return target.Name(), nil
}

// ensureFile returns the path of the template of n users. It builds a missing one.
func (t *templateDir) ensureFile(ctx context.Context, n int) (string, error) {
	known, err := loadMigrations("sqlite")
	if err != nil {
		return "", err
	}
	path := filepath.Join(t.dir, fmt.Sprintf("users-%d-%s.db", n, fingerprint(known, n)))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	unlock, err := lockFile(ctx, filepath.Join(t.dir, "lock.db"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(path); err == nil { // another program has built it meanwhile
		return path, nil
	}
	building := path + ".building"
	if err := os.Remove(building); err != nil && !errors.Is(err, os.ErrNotExist) { // a killed program may have left it
		return "", err
	}
	if err := buildTemplate(ctx, building, known, n); err != nil {
		return "", errors.Join(err, os.Remove(building))
	}
	return path, os.Rename(building, path)
}

// lockFile locks a file until unlock. It is a transaction of SQLite on an empty file, which works everywhere
// and ends with the program.
func lockFile(ctx context.Context, file string) (unlock func(), err error) {
	db, err := openDB(file, fmt.Sprintf("busy_timeout(%d)", time.Hour.Milliseconds()))
	if err != nil {
		return nil, err
	}
	c, err := db.Conn(ctx)
	if err == nil {
		_, err = c.ExecContext(ctx, "BEGIN EXCLUSIVE")
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return func() { _ = errors.Join(c.Close(), db.Close()) }, nil
}

// buildTemplate creates a file with n seeded users. It uses no journal and no syncs, because an incomplete file
// is built again.
func buildTemplate(ctx context.Context, file string, steps []string, n int) error {
	db, err := openDB(file, "journal_mode(off)", "synchronous(off)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	err = migrateSQLite(ctx, db, steps)
	if err == nil {
		err = insertUsers(ctx, db, n)
	}
	if err == nil {
		_, err = db.ExecContext(ctx, "PRAGMA journal_mode = wal") // stored in the file, and so in copies
	}
	return errors.Join(err, db.Close())
}

// insertUsers inserts n users, up to 100 per statement.
func insertUsers(ctx context.Context, db *sql.DB, n int) error {
	const maxRows, columns = 100, 6
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // has no effect after Commit
	var insert *sql.Stmt
	prepared := 0 // users that insert inserts
	args := make([]any, 0, maxRows*columns)
	for inserted := 0; inserted < n; {
		rows := min(maxRows, n-inserted)
		if rows != prepared {
			text := "INSERT INTO users (id, name, folded, email, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)" + strings.Repeat(", (?, ?, ?, ?, ?, ?)", rows-1)
			if insert, err = tx.PrepareContext(ctx, text); err != nil {
				return err
			}
			prepared = rows
		}
		args = args[:0]
		for range rows {
			u := users.Seeded(inserted)
			args = append(args, u.ID, u.Name, strings.ToLower(u.Name), u.Email, u.CreatedAt.UnixMicro(), u.UpdatedAt.UnixMicro())
			inserted++
		}
		if _, err := insert.ExecContext(ctx, args...); err != nil {
			return err
		}
	}
	return tx.Commit()
}
