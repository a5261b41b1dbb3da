package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/tarebench/tare/apps/users"
	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// sqlite stores users in a file. Reads are concurrent. Writes share one connection, each a transaction of one
// statement. So no call fails with "database is locked". A write waits at most waitMillis for another program.
//
// In WAL mode with synchronous=NORMAL a write survives the program, but perhaps not a power cut.
type sqlite struct {
	calls     rwLock // Reset and Close take it exclusively
	file      string
	templates *templateDir
	writer    chan struct{} // one token, for the call that writes
	db        *connections  // nil after Close or a failed Reset
	lost      error         // reason why db is nil
}

// openSQLite opens or creates a file with n seeded users. dir has the templates; "" means a private one.
func openSQLite(ctx context.Context, file, dir string, n int) (*sqlite, error) {
	templates, err := newTemplates(dir)
	if err != nil {
		return nil, err
	}
	s := &sqlite{calls: newRWLock(), file: file, templates: templates, writer: make(chan struct{}, 1)}
	s.writer <- struct{}{}
	if _, err := os.Lstat(file); errors.Is(err, os.ErrNotExist) {
		if err := createFile(ctx, templates, file, n); err != nil {
			return nil, errors.Join(err, templates.removePrivate())
		}
	}
	if s.db, err = openConnections(ctx, file); err != nil {
		return nil, errors.Join(err, templates.removePrivate())
	}
	return s, nil
}

// createFile makes file with n users. Only its owner can read it, because of the e-mails. SQLite's logs have
// the same mode.
func createFile(ctx context.Context, templates *templateDir, file string, n int) error {
	if n == 0 {
		empty, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		return empty.Close()
	}
	next, err := templates.copyTemplate(ctx, file, n)
	if err != nil {
		return err
	}
	return replaceFile(next, file)
}

// Create implements [users.Repository].
func (s *sqlite) Create(ctx context.Context, d users.Draft, at time.Time) (users.User, error) {
	u := users.User{Name: d.Name, Email: d.Email, CreatedAt: microTime(at.UnixMicro())}
	u.UpdatedAt = u.CreatedAt
	err := s.runWrite(ctx, func(ctx context.Context, db *connections) error {
		now := u.CreatedAt.UnixMicro()
		r, err := db.create.ExecContext(ctx, d.Name, strings.ToLower(d.Name), d.Email, now, now)
		if err != nil {
			return err
		}
		u.ID, err = r.LastInsertId()
		return err
	})
	if err != nil {
		return users.User{}, repositoryError("create a user", err)
	}
	return u, nil
}

// Get implements [users.Repository].
func (s *sqlite) Get(ctx context.Context, id int64) (users.User, error) {
	u := users.User{ID: id}
	err := s.runRead(ctx, func(db *connections) error {
		var created, updated int64
		// database/sql would start a goroutine for a context that can end. The call is too short for that.
		row := db.get.QueryRowContext(context.WithoutCancel(ctx), id)
		err := row.Scan(&u.Name, &u.Email, &created, &updated)
		u.CreatedAt, u.UpdatedAt = microTime(created), microTime(updated)
		return err
	})
	if err != nil {
		return users.User{}, repositoryError("get a user", err)
	}
	return u, nil
}

// Update implements [users.Repository].
func (s *sqlite) Update(ctx context.Context, id int64, d users.Draft, at time.Time) (users.User, error) {
	u := users.User{ID: id, Name: d.Name, Email: d.Email, UpdatedAt: microTime(at.UnixMicro())}
	err := s.runWrite(ctx, func(ctx context.Context, db *connections) error {
		rows, err := db.update.QueryContext(ctx, d.Name, strings.ToLower(d.Name), d.Email, u.UpdatedAt.UnixMicro(), id)
		if err != nil {
			return err
		}
		defer rows.Close()
		found := false
		for rows.Next() { // the end has errors of the transaction
			var created int64
			if err := rows.Scan(&created); err != nil {
				return err
			}
			u.CreatedAt, found = microTime(created), true
		}
		if err := rows.Err(); err != nil {
			return err
		}
		if !found {
			return sql.ErrNoRows
		}
		return rows.Close()
	})
	if err != nil {
		return users.User{}, repositoryError("update a user", err)
	}
	return u, nil
}

// Delete implements [users.Repository].
func (s *sqlite) Delete(ctx context.Context, id int64) error {
	err := s.runWrite(ctx, func(ctx context.Context, db *connections) error {
		r, err := db.delete.ExecContext(ctx, id)
		if err != nil {
			return err
		}
		deleted, err := r.RowsAffected()
		if err == nil && deleted == 0 {
			err = sql.ErrNoRows
		}
		return err
	})
	return repositoryError("delete a user", err)
}

// List implements [users.Repository]. One statement selects page and number, so they match.
func (s *sqlite) List(ctx context.Context, text string, offset, limit int) ([]users.User, int64, error) {
	found, total := []users.User{}, int64(0)
	err := s.runRead(ctx, func(db *connections) error {
		statement, args := db.list, []any{max(0, limit), max(0, offset)}
		if text != "" {
			statement, args = db.search, append(args, text)
		}
		rows, err := statement.QueryContext(ctx, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id, created, updated sql.NullInt64 // null if the page is empty
			var name, email sql.NullString
			if err := rows.Scan(&total, &id, &name, &email, &created, &updated); err != nil {
				return err
			}
			if id.Valid {
				found = append(found, users.User{
					ID:        id.Int64,
					Name:      name.String,
					Email:     email.String,
					CreatedAt: microTime(created.Int64),
					UpdatedAt: microTime(updated.Int64),
				})
			}
		}
		return rows.Err()
	})
	if err != nil {
		return nil, 0, repositoryError("list users", err)
	}
	return found, total, nil
}

// Reset implements [users.Repository] by a copy of a template. No other program may have the file open.
func (s *sqlite) Reset(ctx context.Context, n int) error {
	if err := s.resetFile(ctx, n); err != nil {
		return repositoryError(fmt.Sprintf("reset to %d users", n), err)
	}
	return nil
}

// resetFile copies while calls continue, and replaces the file without calls.
func (s *sqlite) resetFile(ctx context.Context, n int) error {
	if n < 0 {
		return errors.New("fewer than none")
	}
	if err := s.calls.rLock(ctx); err != nil {
		return err
	}
	next, err := "", s.lost
	if !errors.Is(err, ErrClosed) { // after a failed Reset, another can succeed
		next, err = s.templates.copyTemplate(ctx, s.file, n)
	}
	s.calls.rUnlock()
	if err != nil {
		return err
	}
	defer os.Remove(next) // fails after renaming
	if err := s.calls.lock(ctx); err != nil {
		return err
	}
	defer s.calls.unlock()
	if errors.Is(s.lost, ErrClosed) {
		return ErrClosed
	}
	if s.db != nil {
		// The log is written into a file that will be replaced, so without a sync.
		_, err = s.db.writer.ExecContext(ctx, "PRAGMA synchronous = off")
		err = errors.Join(err, s.db.closeAll())
		s.db, s.lost = nil, errors.New("the file was lost in a reset")
		if err != nil {
			return err
		}
	}
	if err := replaceFile(next, s.file); err != nil {
		return err
	}
	// A late reset is better than a store without a file.
	db, err := openConnections(context.WithoutCancel(ctx), s.file)
	if err != nil {
		return err
	}
	s.db, s.lost = db, nil
	return nil
}

// Close implements [users.Repository]. The file remains.
func (s *sqlite) Close() error {
	if err := s.calls.lock(context.Background()); err != nil {
		return err
	}
	defer s.calls.unlock()
	if errors.Is(s.lost, ErrClosed) {
		return nil
	}
	var err error
	if s.db != nil {
		err = s.db.closeAll()
	}
	s.db, s.lost = nil, ErrClosed
	return errors.Join(err, s.templates.removePrivate())
}

func (s *sqlite) runRead(ctx context.Context, f func(*connections) error) error {
	if err := s.calls.rLock(ctx); err != nil {
		return err
	}
	defer s.calls.rUnlock()
	if s.db == nil {
		return s.lost
	}
	err := f(s.db)
	if err != nil && ctx.Err() != nil { // the driver may have another error
		err = ctx.Err()
	}
	return err
}

// runWrite calls f while no other call writes. If ctx ends while it waits, nothing is written. The context of f
// does not end, because a cancellation could be reported after the write has taken effect.
func (s *sqlite) runWrite(ctx context.Context, f func(context.Context, *connections) error) error {
	return s.runRead(ctx, func(db *connections) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.writer:
		}
		defer func() { s.writer <- struct{}{} }()
		if err := ctx.Err(); err != nil { // select may have chosen the token
			return err
		}
		return f(context.WithoutCancel(ctx), db)
	})
}

// repositoryError converts err to those of [users.Repository].
func repositoryError(operation string, err error) error {
	var sqliteErr *driver.Error
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, sql.ErrNoRows):
		return users.ErrNotFound
	case errors.As(err, &sqliteErr) && sqliteErr.Code() == lib.SQLITE_CONSTRAINT_UNIQUE:
		return users.ErrEmailTaken
	}
	return fmt.Errorf("%s: %w", operation, oneLine(err))
}

func microTime(micros int64) time.Time { return time.UnixMicro(micros).UTC() }
