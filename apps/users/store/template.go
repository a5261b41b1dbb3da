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

// templateDir stores files with seeded users to copy from, one per number of them. Several programs
// may share a directory: each file is built once, and appears complete.
type templateDir struct {
	dir     string
	private bool // the directory is removed with the store
}

// newTemplates stores them in dir, or, if dir is "", in a directory that removePrivate removes.
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

// copyTemplate writes a file with n users next to the file of that name, which it is to replace,
// and returns its name.
func (t *templateDir) copyTemplate(ctx context.Context, file string, n int) (string, error) {
	from, err := t.ensureFile(ctx, n)
	if err != nil {
		return "", fmt.Errorf("build a template of %d users: %w", n, err)
	}
	source, err := os.Open(from)
	if err != nil {
		return "", err
	}
	defer source.Close()
	target, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".new-")
	if err != nil {
		return "", err
	}
	// If the system and file system can, they copy by themselves.
	_, err = io.Copy(target, source)
	if err = errors.Join(err, target.Close()); err != nil {
		return "", errors.Join(err, os.Remove(target.Name()))
	}
	return target.Name(), nil
}

// ensureFile returns the template of n users, and builds it if it does not exist.
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
	if _, err := os.Stat(path); err == nil { // another process built it meanwhile
		return path, nil
	}
	building := path + ".building"
	if err := os.Remove(building); err != nil && !errors.Is(err, os.ErrNotExist) { // left by a killed program
		return "", err
	}
	if err := buildTemplate(ctx, building, known, n); err != nil {
		return "", errors.Join(err, os.Remove(building))
	}
	return path, os.Rename(building, path)
}

// lockFile locks out other programs, by a transaction on an empty file: all systems have SQLite's
// locks, and they end with their program.
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

// buildTemplate makes a file with n seeded users. Until it is complete it need not survive
// anything.
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
		_, err = db.ExecContext(ctx, "PRAGMA journal_mode = wal") // copies begin with it
	}
	return errors.Join(err, db.Close())
}

// insertUsers inserts n users, many with each statement.
func insertUsers(ctx context.Context, db *sql.DB, n int) error {
	const most, columns = 100, 6
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // has no effect once it is committed
	var insert *sql.Stmt
	prepared := 0 // users that insert is for
	args := make([]any, 0, most*columns)
	for k := 0; k < n; {
		many := min(most, n-k)
		if many != prepared {
			text := "INSERT INTO users (id, name, folded, email, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)" + strings.Repeat(", (?, ?, ?, ?, ?, ?)", many-1)
			if insert, err = tx.PrepareContext(ctx, text); err != nil {
				return err
			}
			prepared = many
		}
		args = args[:0]
		for range many {
			u := users.Seeded(k)
			args = append(args, u.ID, u.Name, strings.ToLower(u.Name), u.Email, u.CreatedAt.UnixMicro(), u.UpdatedAt.UnixMicro())
			k++
		}
		if _, err := insert.ExecContext(ctx, args...); err != nil {
			return err
		}
	}
	return tx.Commit()
}
