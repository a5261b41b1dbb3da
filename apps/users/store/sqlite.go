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

// sqlite keeps users in a file. Reads run side by side on connections of their
// own; writes go one after the other over a single one, each a transaction of one
// statement. So nobody in this program ever waits for a lock of the file, and
// "database is locked" cannot be an answer. (Another program that writes into the
// same file is waited for, for patience.)
//
// In WAL mode with synchronous=NORMAL what was written survives the end of the
// program, though perhaps not that of the power.
type sqlite struct {
	gate
	file      string
	templates *templates
	writer    chan struct{} // holds one token: whoever has it may write
	db        *connections  // nil: closed, or lost in a Reset that failed
	lost      error         // why db is nil
}

func openSQLite(ctx context.Context, file, dir string, n int) (*sqlite, error) {
	t, err := newTemplates(dir)
	if err != nil {
		return nil, err
	}
	s := &sqlite{gate: newGate(), file: file, templates: t, writer: make(chan struct{}, 1)}
	s.writer <- struct{}{}
	if _, err := os.Lstat(file); errors.Is(err, os.ErrNotExist) {
		if err := create(ctx, t, file, n); err != nil {
			return nil, errors.Join(err, t.close())
		}
	}
	if s.db, err = connect(ctx, file); err != nil {
		return nil, errors.Join(err, t.close())
	}
	return s, nil
}

// create creates file with n seeded users, for its owner only: it holds names and
// e-mail addresses. SQLite gives the files next to it the same mode.
func create(ctx context.Context, t *templates, file string, n int) error {
	if n == 0 {
		empty, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		return empty.Close()
	}
	next, err := t.copy(ctx, file, n)
	if err != nil {
		return err
	}
	return replace(next, file)
}

// Create is that of [users.Repository].
func (s *sqlite) Create(ctx context.Context, d users.Draft, at time.Time) (users.User, error) {
	u := users.User{Name: d.Name, Email: d.Email, CreatedAt: micro(at.UnixMicro())}
	u.UpdatedAt = u.CreatedAt
	err := s.write(ctx, func(ctx context.Context, db *connections) error {
		now := u.CreatedAt.UnixMicro()
		r, err := db.create.ExecContext(ctx, d.Name, strings.ToLower(d.Name), d.Email, now, now)
		if err != nil {
			return err
		}
		u.ID, err = r.LastInsertId()
		return err
	})
	if err != nil {
		return users.User{}, refusal("create a user", err)
	}
	return u, nil
}

// Get is that of [users.Repository].
func (s *sqlite) Get(ctx context.Context, id int64) (users.User, error) {
	u := users.User{ID: id}
	err := s.read(ctx, func(db *connections) error {
		var created, updated int64
		// A context that can end would cost a goroutine, for a call as short as this.
		row := db.get.QueryRowContext(context.WithoutCancel(ctx), id)
		err := row.Scan(&u.Name, &u.Email, &created, &updated)
		u.CreatedAt, u.UpdatedAt = micro(created), micro(updated)
		return err
	})
	if err != nil {
		return users.User{}, refusal("get a user", err)
	}
	return u, nil
}

// Update is that of [users.Repository].
func (s *sqlite) Update(ctx context.Context, id int64, d users.Draft, at time.Time) (users.User, error) {
	u := users.User{ID: id, Name: d.Name, Email: d.Email, UpdatedAt: micro(at.UnixMicro())}
	err := s.write(ctx, func(ctx context.Context, db *connections) error {
		rows, err := db.update.QueryContext(ctx, d.Name, strings.ToLower(d.Name), d.Email, u.UpdatedAt.UnixMicro(), id)
		if err != nil {
			return err
		}
		defer rows.Close()
		found := false
		for rows.Next() { // to the end, where the transaction is: an error of it would be lost
			var created int64
			if err := rows.Scan(&created); err != nil {
				return err
			}
			u.CreatedAt, found = micro(created), true
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
		return users.User{}, refusal("update a user", err)
	}
	return u, nil
}

// Delete is that of [users.Repository].
func (s *sqlite) Delete(ctx context.Context, id int64) error {
	err := s.write(ctx, func(ctx context.Context, db *connections) error {
		r, err := db.delete.ExecContext(ctx, id)
		if err != nil {
			return err
		}
		gone, err := r.RowsAffected()
		if err == nil && gone == 0 {
			err = sql.ErrNoRows
		}
		return err
	})
	return refusal("delete a user", err)
}

// List is that of [users.Repository]. Page and number come from one statement, so
// that they tell of one moment.
func (s *sqlite) List(ctx context.Context, text string, offset, limit int) ([]users.User, int64, error) {
	found, total := []users.User{}, int64(0)
	err := s.read(ctx, func(db *connections) error {
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
			var id, created, updated sql.NullInt64 // null: the page is empty
			var name, email sql.NullString
			if err := rows.Scan(&total, &id, &name, &email, &created, &updated); err != nil {
				return err
			}
			if id.Valid {
				found = append(found, users.User{ID: id.Int64, Name: name.String, Email: email.String, CreatedAt: micro(created.Int64), UpdatedAt: micro(updated.Int64)})
			}
		}
		return rows.Err()
	})
	if err != nil {
		return nil, 0, refusal("list users", err)
	}
	return found, total, nil
}

// Reset is that of [users.Repository]: the file is replaced by a copy of a template.
// No other program may have it open.
func (s *sqlite) Reset(ctx context.Context, n int) error {
	if err := s.reset(ctx, n); err != nil {
		return refusal(fmt.Sprintf("reset to %d users", n), err)
	}
	return nil
}

func (s *sqlite) reset(ctx context.Context, n int) error {
	if n < 0 {
		return errors.New("fewer than none")
	}
	if err := s.enter(ctx); err != nil {
		return err
	}
	next, err := "", s.lost
	if !errors.Is(err, ErrClosed) {
		next, err = s.templates.copy(ctx, s.file, n) // calls go on meanwhile
	}
	s.leave()
	if err != nil {
		return err
	}
	defer os.Remove(next) // where it does not become the file
	if err := s.alone(ctx); err != nil {
		return err
	}
	defer s.open()
	if errors.Is(s.lost, ErrClosed) {
		return ErrClosed
	}
	if s.db != nil {
		// The log is folded into a file that goes: the disk need not be waited for.
		_, err = s.db.writer.ExecContext(ctx, "PRAGMA synchronous = off")
		err = errors.Join(err, s.db.close())
		s.db, s.lost = nil, errors.New("the file was lost in a reset")
		if err != nil {
			return err
		}
	}
	if err := replace(next, s.file); err != nil {
		return err
	}
	// Half way is worse than late: what has been closed is opened again.
	db, err := connect(context.WithoutCancel(ctx), s.file)
	if err != nil {
		return err
	}
	s.db, s.lost = db, nil
	return nil
}

// Close is that of [users.Repository]. The file stays.
func (s *sqlite) Close() error {
	if err := s.alone(context.Background()); err != nil {
		return err
	}
	defer s.open()
	if errors.Is(s.lost, ErrClosed) {
		return nil
	}
	var err error
	if s.db != nil {
		err = s.db.close()
	}
	s.db, s.lost = nil, ErrClosed
	return errors.Join(err, s.templates.close())
}

func (s *sqlite) read(ctx context.Context, f func(*connections) error) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	if s.db == nil {
		return s.lost
	}
	err := f(s.db)
	if err != nil && ctx.Err() != nil { // whatever the interrupted statement says
		err = ctx.Err()
	}
	return err
}

// write lets f write alone. Waiting ends with ctx; the statement itself does not,
// for it could be told to be over when it has just been done.
func (s *sqlite) write(ctx context.Context, f func(context.Context, *connections) error) error {
	return s.read(ctx, func(db *connections) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.writer:
		}
		defer func() { s.writer <- struct{}{} }()
		if err := ctx.Err(); err != nil { // select does not prefer it
			return err
		}
		return f(context.WithoutCancel(ctx), db)
	})
}

// refusal is err as a repository says it.
func refusal(what string, err error) error {
	var failed *driver.Error
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, sql.ErrNoRows):
		return users.ErrNotFound
	case errors.As(err, &failed) && failed.Code() == lib.SQLITE_CONSTRAINT_UNIQUE:
		return users.ErrEmailTaken
	}
	return fmt.Errorf("%s: %w", what, flat(err))
}

// micro is the time of so many microseconds since 1970.
func micro(since int64) time.Time { return time.UnixMicro(since).UTC() }
