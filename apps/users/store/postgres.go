package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/tarebench/tare/apps/users"
)

// postgres keeps users in the database that its URL names, or in a temporary one,
// which Close drops. Statements are prepared, once per connection, by pgx.
//
// When the server ends, calls fail at once. The first one to do so has all idle
// connections forgotten, so that those after it dial anew: the first call that
// finds a server again works.
type postgres struct {
	gate
	server *server
	named  bool   // the database is the caller's: it is neither dropped nor emptied
	name   string // of the temporary database; empty: none, see lost
	seeded int    // users in its table seeded
	pool   *pgxpool.Pool
	lost   error // why there is no pool
}

func openPostgres(ctx context.Context, url string, n int, temporary bool) (*postgres, error) {
	s, err := newServer(url)
	if err != nil {
		return nil, err
	}
	p := &postgres{gate: newGate(), server: s, named: !temporary}
	connect := p.renew
	if p.named {
		connect = p.attach
	}
	err = connect(ctx, n)
	for end := time.Now().Add(patience * time.Millisecond); err != nil && away(err) && time.Now().Before(end) && ctx.Err() == nil; {
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
			err = connect(ctx, n)
		}
	}
	if err != nil {
		if end := ctx.Err(); end != nil && !errors.Is(err, end) { // the server says that it was cancelled
			err = fmt.Errorf("%w: %w", end, err)
		}
		return nil, err
	}
	return p, nil
}

// away reports whether a server may be about to start: it takes no connections, or
// none yet. A store that opens waits for it, for patience.
func away(err error) bool {
	var refused *pgconn.PgError
	return errors.Is(err, syscall.ECONNREFUSED) || errors.As(err, &refused) && strings.HasPrefix(refused.Code, "57P")
}

const (
	// A refused insert would use up an id, which is not undone with it. So it is not
	// tried where the e-mail can be seen to be taken; the index sees to the rest.
	postgresCreate = `INSERT INTO users (name, folded, email, created_at, updated_at) SELECT $1::text, $2::text, $3::text, $4::timestamptz, $4::timestamptz
		WHERE NOT EXISTS (SELECT FROM users WHERE email = $3::text) RETURNING id`
	postgresGet    = "SELECT name, email, created_at, updated_at FROM users WHERE id = $1"
	postgresUpdate = "UPDATE users SET name = $2, folded = $3, email = $4, updated_at = $5 WHERE id = $1 RETURNING created_at"
	postgresDelete = "DELETE FROM users WHERE id = $1"

	// Both ask for the number of users and for a page at once. A page without users
	// is one row, in which they are null.
	postgresList = `SELECT (SELECT count(*) FROM users), p.id, p.name, p.email, p.created_at, p.updated_at FROM (SELECT 1) AS one
		LEFT JOIN (SELECT * FROM users ORDER BY id LIMIT $1 OFFSET $2) AS p ON true ORDER BY p.id`
	postgresSearch = `SELECT (SELECT count(*) FROM users WHERE strpos(folded, $3) > 0 OR strpos(email, $3) > 0), p.id, p.name, p.email, p.created_at, p.updated_at FROM (SELECT 1) AS one
		LEFT JOIN (SELECT * FROM users WHERE strpos(folded, $3) > 0 OR strpos(email, $3) > 0 ORDER BY id LIMIT $1 OFFSET $2) AS p ON true ORDER BY p.id`
)

// Create is that of [users.Repository].
func (p *postgres) Create(ctx context.Context, d users.Draft, at time.Time) (users.User, error) {
	u := users.User{Name: d.Name, Email: d.Email, CreatedAt: micro(at.UnixMicro())}
	u.UpdatedAt = u.CreatedAt
	err := p.call(ctx, "create a user", func(pool *pgxpool.Pool) error {
		err := pool.QueryRow(ctx, postgresCreate, d.Name, strings.ToLower(d.Name), d.Email, u.CreatedAt).Scan(&u.ID)
		if errors.Is(err, pgx.ErrNoRows) {
			err = users.ErrEmailTaken
		}
		return err
	})
	if err != nil {
		return users.User{}, err
	}
	return u, nil
}

// Get is that of [users.Repository].
func (p *postgres) Get(ctx context.Context, id int64) (users.User, error) {
	u := users.User{ID: id}
	err := p.call(ctx, "get a user", func(pool *pgxpool.Pool) error {
		return pool.QueryRow(ctx, postgresGet, id).Scan(&u.Name, &u.Email, &u.CreatedAt, &u.UpdatedAt)
	})
	if err != nil {
		return users.User{}, err
	}
	u.CreatedAt, u.UpdatedAt = u.CreatedAt.UTC(), u.UpdatedAt.UTC()
	return u, nil
}

// Update is that of [users.Repository].
func (p *postgres) Update(ctx context.Context, id int64, d users.Draft, at time.Time) (users.User, error) {
	u := users.User{ID: id, Name: d.Name, Email: d.Email, UpdatedAt: micro(at.UnixMicro())}
	err := p.call(ctx, "update a user", func(pool *pgxpool.Pool) error {
		return pool.QueryRow(ctx, postgresUpdate, id, d.Name, strings.ToLower(d.Name), d.Email, u.UpdatedAt).Scan(&u.CreatedAt)
	})
	if err != nil {
		return users.User{}, err
	}
	u.CreatedAt = u.CreatedAt.UTC()
	return u, nil
}

// Delete is that of [users.Repository].
func (p *postgres) Delete(ctx context.Context, id int64) error {
	return p.call(ctx, "delete a user", func(pool *pgxpool.Pool) error {
		tag, err := pool.Exec(ctx, postgresDelete, id)
		if err == nil && tag.RowsAffected() == 0 {
			err = pgx.ErrNoRows
		}
		return err
	})
}

// List is that of [users.Repository]. Page and number come from one statement, so
// that they tell of one moment.
func (p *postgres) List(ctx context.Context, text string, offset, limit int) ([]users.User, int64, error) {
	found, total := []users.User{}, int64(0)
	err := p.call(ctx, "list users", func(pool *pgxpool.Pool) error {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return nil // nothing that the server would keep or be asked
		}
		statement, args := postgresList, []any{max(0, limit), max(0, offset)}
		if text != "" {
			statement, args = postgresSearch, append(args, text)
		}
		rows, err := pool.Query(ctx, statement, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id *int64 // nil: the page is empty
			var name, email *string
			var created, updated *time.Time
			if err := rows.Scan(&total, &id, &name, &email, &created, &updated); err != nil {
				return err
			}
			if id != nil {
				found = append(found, users.User{ID: *id, Name: *name, Email: *email, CreatedAt: created.UTC(), UpdatedAt: updated.UTC()})
			}
		}
		return rows.Err()
	})
	if err != nil {
		return nil, 0, err
	}
	return found, total, nil
}

// call asks the pool and says what came of it in the words of repositories. An
// error of ctx means that the server has done nothing, unless it did not even say
// so within [grace].
func (p *postgres) call(ctx context.Context, what string, f func(*pgxpool.Pool) error) error {
	if err := p.enter(ctx); err != nil {
		return err
	}
	defer p.leave()
	if p.pool == nil {
		return fmt.Errorf("%s: %w", what, p.lost)
	}
	err := f(p.pool)
	var refused *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgx.ErrNoRows):
		return users.ErrNotFound
	case errors.Is(err, users.ErrEmailTaken), errors.As(err, &refused) && refused.Code == "23505": // unique_violation
		return users.ErrEmailTaken
	case ctx.Err() != nil:
		return ctx.Err()
	case refused == nil || strings.HasPrefix(refused.Code, "57P"): // no answer, or that the server ends or starts
		p.pool.Reset()
	}
	return fmt.Errorf("%s: %w", what, flat(err))
}

// Reset is that of [users.Repository]. Few users are copied from a table beside
// theirs. For many, or more than that has, the database is created anew. Of a
// named database nothing is removed: the error is [ErrNamed].
func (p *postgres) Reset(ctx context.Context, n int) error {
	if n < 0 {
		return fmt.Errorf("reset to %d users", n)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := p.alone(ctx); err != nil {
		return err
	}
	defer p.open()
	var err error
	switch {
	case errors.Is(p.lost, ErrClosed):
		err = p.lost
	case p.named:
		err = ErrNamed
	case p.pool != nil && n <= p.seeded:
		if err = p.refill(ctx, n); err != nil && ctx.Err() == nil { // over a connection that has ended, perhaps
			p.pool.Reset()
			err = p.refill(ctx, n)
		}
	default:
		err = p.renew(ctx, n)
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		if p.pool != nil && !p.named {
			p.pool.Reset()
		}
		return fmt.Errorf("reset to %d users: %w", n, flat(err))
	}
	return nil
}

// refill empties the table and fills it, in one transaction.
func (p *postgres) refill(ctx context.Context, n int) error {
	return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "TRUNCATE users"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "INSERT INTO users SELECT * FROM seeded WHERE id < $1 ORDER BY id", users.FirstID+int64(n)); err != nil {
			return err
		}
		// Both undone with the transaction; the second, that plans do not go by a
		// table that is no more.
		return exec(ctx, tx, restart(n), "ANALYZE users")
	})
}

// attach connects to the database that the URL names. A new one gets n users.
func (p *postgres) attach(ctx context.Context, n int) (err error) {
	p.pool, err = p.server.attach(ctx, n)
	return err
}

// renew leaves the database for a new one.
func (p *postgres) renew(ctx context.Context, n int) error {
	name, pool, err := p.server.create(ctx, n)
	if err != nil {
		return err
	}
	former := p.drop(ctx)
	p.name, p.pool, p.lost = name, pool, nil
	if p.seeded = n; n > fewUsers {
		p.seeded = 0
	}
	return former
}

// drop leaves the database, if there is one. A temporary one is dropped.
func (p *postgres) drop(ctx context.Context) error {
	if p.pool == nil {
		return nil
	}
	p.pool.Close()
	p.pool = nil
	if p.named {
		return nil
	}
	return p.server.drop(ctx, p.name)
}

// Close is that of [users.Repository].
func (p *postgres) Close() error {
	if err := p.alone(context.Background()); err != nil {
		return err
	}
	defer p.open()
	if errors.Is(p.lost, ErrClosed) {
		return nil
	}
	p.lost = ErrClosed
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := p.drop(ctx); err != nil {
		return fmt.Errorf("close the store: %w", flat(err))
	}
	return nil
}
