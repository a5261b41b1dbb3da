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

// postgres stores users in the database of its URL, or in a temporary one, which Close drops.
// Statements are prepared, once per connection, by pgx.
//
// When the server ends, calls fail immediately. The first one to do so resets all idle connections,
// so that later ones connect again: the first call that finds a server again succeeds.
type postgres struct {
	callGate
	server *server
	named  bool   // the database is the caller's: it is neither dropped nor emptied
	name   string // of the temporary database; "" if none, see lost
	seeded int    // users in its table seeded
	pool   *pgxpool.Pool
	lost   error // why there is no pool
}

func openPostgres(ctx context.Context, url string, n int, temporary bool) (*postgres, error) {
	s, err := newServer(url)
	if err != nil {
		return nil, err
	}
	p := &postgres{callGate: newGate(), server: s, named: !temporary}
	connect := p.renewDatabase
	if p.named {
		connect = p.attachNamed
	}
	err = connect(ctx, n)
	for end := time.Now().Add(waitMillis * time.Millisecond); err != nil && isAway(err) && time.Now().Before(end) && ctx.Err() == nil; {
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
			err = connect(ctx, n)
		}
	}
	if err != nil {
		if end := ctx.Err(); end != nil && !errors.Is(err, end) { // the server reports a cancellation
			err = fmt.Errorf("%w: %w", end, err)
		}
		return nil, err
	}
	return p, nil
}

// isAway reports whether a server may be about to start: it accepts no connections, or none yet. A
// store that opens waits for it, for waitMillis.
func isAway(err error) bool {
	var refused *pgconn.PgError
	return errors.Is(err, syscall.ECONNREFUSED) || errors.As(err, &refused) && strings.HasPrefix(refused.Code, "57P")
}

const (
	// A rejected insert would use up an id, which is not undone with it. So it is not tried if the
	// e-mail is already taken; the index ensures the rest.
	postgresCreate = `INSERT INTO users (name, folded, email, created_at, updated_at) SELECT $1::text, $2::text, $3::text, $4::timestamptz, $4::timestamptz
		WHERE NOT EXISTS (SELECT FROM users WHERE email = $3::text) RETURNING id`
	postgresGet    = "SELECT name, email, created_at, updated_at FROM users WHERE id = $1"
	postgresUpdate = "UPDATE users SET name = $2, folded = $3, email = $4, updated_at = $5 WHERE id = $1 RETURNING created_at"
	postgresDelete = "DELETE FROM users WHERE id = $1"

	// Both select the number of users and a page together. A page without users is one row, in
	// which they are null.
	postgresList = `SELECT (SELECT count(*) FROM users), p.id, p.name, p.email, p.created_at, p.updated_at FROM (SELECT 1) AS one
		LEFT JOIN (SELECT * FROM users ORDER BY id LIMIT $1 OFFSET $2) AS p ON true ORDER BY p.id`
	postgresSearch = `SELECT (SELECT count(*) FROM users WHERE strpos(folded, $3) > 0 OR strpos(email, $3) > 0), p.id, p.name, p.email, p.created_at, p.updated_at FROM (SELECT 1) AS one
		LEFT JOIN (SELECT * FROM users WHERE strpos(folded, $3) > 0 OR strpos(email, $3) > 0 ORDER BY id LIMIT $1 OFFSET $2) AS p ON true ORDER BY p.id`
)

// Create implements [users.Repository].
func (p *postgres) Create(ctx context.Context, d users.Draft, at time.Time) (users.User, error) {
	u := users.User{Name: d.Name, Email: d.Email, CreatedAt: microTime(at.UnixMicro())}
	u.UpdatedAt = u.CreatedAt
	err := p.runCall(ctx, "create a user", func(pool *pgxpool.Pool) error {
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

// Get implements [users.Repository].
func (p *postgres) Get(ctx context.Context, id int64) (users.User, error) {
	u := users.User{ID: id}
	err := p.runCall(ctx, "get a user", func(pool *pgxpool.Pool) error {
		return pool.QueryRow(ctx, postgresGet, id).Scan(&u.Name, &u.Email, &u.CreatedAt, &u.UpdatedAt)
	})
	if err != nil {
		return users.User{}, err
	}
	u.CreatedAt, u.UpdatedAt = u.CreatedAt.UTC(), u.UpdatedAt.UTC()
	return u, nil
}

// Update implements [users.Repository].
func (p *postgres) Update(ctx context.Context, id int64, d users.Draft, at time.Time) (users.User, error) {
	u := users.User{ID: id, Name: d.Name, Email: d.Email, UpdatedAt: microTime(at.UnixMicro())}
	err := p.runCall(ctx, "update a user", func(pool *pgxpool.Pool) error {
		return pool.QueryRow(ctx, postgresUpdate, id, d.Name, strings.ToLower(d.Name), d.Email, u.UpdatedAt).Scan(&u.CreatedAt)
	})
	if err != nil {
		return users.User{}, err
	}
	u.CreatedAt = u.CreatedAt.UTC()
	return u, nil
}

// Delete implements [users.Repository].
func (p *postgres) Delete(ctx context.Context, id int64) error {
	return p.runCall(ctx, "delete a user", func(pool *pgxpool.Pool) error {
		tag, err := pool.Exec(ctx, postgresDelete, id)
		if err == nil && tag.RowsAffected() == 0 {
			err = pgx.ErrNoRows
		}
		return err
	})
}

// List implements [users.Repository]. Page and number come from one statement, so that they are of
// one moment.
func (p *postgres) List(ctx context.Context, text string, offset, limit int) ([]users.User, int64, error) {
	found, total := []users.User{}, int64(0)
	err := p.runCall(ctx, "list users", func(pool *pgxpool.Pool) error {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return nil // nothing that the server can store or search for
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
			var id *int64 // nil if the page is empty
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

// runCall calls f with the pool and converts its error for repositories. An error of ctx means that
// the server has done nothing, unless it did not even report that within [cancelDelay].
func (p *postgres) runCall(ctx context.Context, what string, f func(*pgxpool.Pool) error) error {
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
	case refused == nil || strings.HasPrefix(refused.Code, "57P"): // no response, or the server ends or starts
		p.pool.Reset()
	}
	return fmt.Errorf("%s: %w", what, oneLine(err))
}

// Reset implements [users.Repository]. It copies a few users from a second table. For many, or more
// than that has, it creates the database again. It removes nothing of a named database: the error
// is [ErrNamed].
func (p *postgres) Reset(ctx context.Context, n int) error {
	if n < 0 {
		return fmt.Errorf("reset to %d users", n)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := p.lockAll(ctx); err != nil {
		return err
	}
	defer p.unlockAll()
	var err error
	switch {
	case errors.Is(p.lost, ErrClosed):
		err = p.lost
	case p.named:
		err = ErrNamed
	case p.pool != nil && n <= p.seeded:
		if err = p.refillTable(ctx, n); err != nil && ctx.Err() == nil { // over a connection that has ended, perhaps
			p.pool.Reset()
			err = p.refillTable(ctx, n)
		}
	default:
		err = p.renewDatabase(ctx, n)
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		if p.pool != nil && !p.named {
			p.pool.Reset()
		}
		return fmt.Errorf("reset to %d users: %w", n, oneLine(err))
	}
	return nil
}

// refillTable empties the table and fills it, in one transaction.
func (p *postgres) refillTable(ctx context.Context, n int) error {
	return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "TRUNCATE users"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "INSERT INTO users SELECT * FROM seeded WHERE id < $1 ORDER BY id", users.FirstID+int64(n)); err != nil {
			return err
		}
		// Both are undone with the transaction; the second updates the statistics, which plans
		// depend on.
		return execAll(ctx, tx, restartIDs(n), "ANALYZE users")
	})
}

// attachNamed connects to the database of the URL. A new one gets n users.
func (p *postgres) attachNamed(ctx context.Context, n int) (err error) {
	p.pool, err = p.server.attachNamed(ctx, n)
	return err
}

// renewDatabase replaces the database by a new one.
func (p *postgres) renewDatabase(ctx context.Context, n int) error {
	name, pool, err := p.server.createDatabase(ctx, n)
	if err != nil {
		return err
	}
	former := p.dropDatabase(ctx)
	p.name, p.pool, p.lost = name, pool, nil
	if p.seeded = n; n > fewUsers {
		p.seeded = 0
	}
	return former
}

// dropDatabase closes the connections to the database, if there is one, and drops a temporary one.
func (p *postgres) dropDatabase(ctx context.Context) error {
	if p.pool == nil {
		return nil
	}
	p.pool.Close()
	p.pool = nil
	if p.named {
		return nil
	}
	return p.server.dropDatabase(ctx, p.name)
}

// Close implements [users.Repository].
func (p *postgres) Close() error {
	if err := p.lockAll(context.Background()); err != nil {
		return err
	}
	defer p.unlockAll()
	if errors.Is(p.lost, ErrClosed) {
		return nil
	}
	p.lost = ErrClosed
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := p.dropDatabase(ctx); err != nil {
		return fmt.Errorf("close the store: %w", oneLine(err))
	}
	return nil
}
