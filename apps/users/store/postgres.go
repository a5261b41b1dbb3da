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

// postgres stores users in the database of its URL, or in a temporary one that Close drops. pgx prepares
// statements once per connection.
//
// Calls fail immediately if the server ends. The first failure resets idle connections, so that later calls
// connect again.
type postgres struct {
	calls rwLock // Reset and Close take it exclusively

	server *server
	named  bool          // the caller named the database, so it must not be dropped or emptied
	name   string        // name of the temporary database
	seeded int           // users in the table seeded, see refillTable; 0 without it
	pool   *pgxpool.Pool // nil after Close or a failed Reset
	lost   error         // reason why pool is nil
}

// openPostgres opens the database at url or, if temporary, a new one on its server with n seeded users. It
// waits up to waitMillis for the server.
func openPostgres(ctx context.Context, url string, n int, temporary bool) (*postgres, error) {
	s, err := newServer(url)
	if err != nil {
		return nil, err
	}
	p := &postgres{calls: newRWLock(), server: s, named: !temporary}
	connect := p.renewDatabase
	if p.named {
		connect = p.attachNamed
	}
	err = connect(ctx, n)
	deadline := time.Now().Add(waitMillis * time.Millisecond)
	for err != nil && isStarting(err) && time.Now().Before(deadline) && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
			err = connect(ctx, n)
		}
	}
	if err != nil {
		ctxErr := ctx.Err()
		if ctxErr != nil && !errors.Is(err, ctxErr) { // err is the server's report of the cancellation
			err = fmt.Errorf("%w: %w", ctxErr, err)
		}
		return nil, err
	}
	return p, nil
}

// isStarting reports whether the server may be about to start.
func isStarting(err error) bool {
	var serverErr *pgconn.PgError
	return errors.Is(err, syscall.ECONNREFUSED) || errors.As(err, &serverErr) && isShutdown(serverErr)
}

// isShutdown reports whether the server ends, starts, or drops the connection: codes 57P01 to 57P05 of
// PostgreSQL, such as admin_shutdown.
func isShutdown(err *pgconn.PgError) bool { return strings.HasPrefix(err.Code, "57P") }

// uniqueViolation is PostgreSQL's code for a duplicate key.
const uniqueViolation = "23505"

const (
	// A rejected insert uses up an id. So the statement inserts nothing if the e-mail is taken. The index
	// still rejects one of two concurrent inserts.
	postgresCreate = `INSERT INTO users (name, folded, email, created_at, updated_at) SELECT $1::text, $2::text, $3::text, $4::timestamptz, $4::timestamptz
		WHERE NOT EXISTS (SELECT FROM users WHERE email = $3::text) RETURNING id`
	postgresGet    = "SELECT name, email, created_at, updated_at FROM users WHERE id = $1"
	postgresUpdate = "UPDATE users SET name = $2, folded = $3, email = $4, updated_at = $5 WHERE id = $1 RETURNING created_at"
	postgresDelete = "DELETE FROM users WHERE id = $1"

	// postgresList and postgresSearch select a page and the number of users. For an empty page, they return
	// one row with nulls.
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

// List implements [users.Repository]. One statement selects page and number, so they match.
func (p *postgres) List(ctx context.Context, text string, offset, limit int) ([]users.User, int64, error) {
	found, total := []users.User{}, int64(0)
	err := p.runCall(ctx, "list users", func(pool *pgxpool.Pool) error {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return nil // the server cannot store such text
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

// runCall calls f with the pool, and converts its error to one of [users.Repository]. The error of ctx means
// that nothing has changed, if the server confirms within [cancelDelay].
func (p *postgres) runCall(ctx context.Context, operation string, f func(*pgxpool.Pool) error) error {
	if err := p.calls.rLock(ctx); err != nil {
		return err
	}
	defer p.calls.rUnlock()
	if p.pool == nil {
		return fmt.Errorf("%s: %w", operation, p.lost)
	}
	err := f(p.pool)
	var serverErr *pgconn.PgError // nil without a response
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgx.ErrNoRows):
		return users.ErrNotFound
	case errors.Is(err, users.ErrEmailTaken), errors.As(err, &serverErr) && serverErr.Code == uniqueViolation:
		return users.ErrEmailTaken
	case ctx.Err() != nil:
		return ctx.Err()
	case serverErr == nil || isShutdown(serverErr):
		p.pool.Reset()
	}
	return fmt.Errorf("%s: %w", operation, oneLine(err))
}

// Reset implements [users.Repository]. It copies the table seeded, or a template. For a named database it
// returns [ErrNamed].
func (p *postgres) Reset(ctx context.Context, n int) error {
	if n < 0 {
		return fmt.Errorf("reset to %d users", n)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := p.calls.lock(ctx); err != nil {
		return err
	}
	defer p.calls.unlock()
	var err error
	switch {
	case errors.Is(p.lost, ErrClosed):
		err = p.lost
	case p.named:
		err = ErrNamed
	case p.pool != nil && n <= p.seeded:
		if err = p.refillTable(ctx, n); err != nil && ctx.Err() == nil {
			p.pool.Reset() // the connection may have ended: use another
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

// refillTable copies n users of the table seeded in one transaction.
func (p *postgres) refillTable(ctx context.Context, n int) error {
	return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "TRUNCATE users"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "INSERT INTO users SELECT * FROM seeded WHERE id < $1 ORDER BY id", users.FirstID+int64(n)); err != nil {
			return err
		}
		// Both are in the transaction. ANALYZE is for the query planner.
		return execAll(ctx, tx, restartIDs(n), "ANALYZE users")
	})
}

// attachNamed connects to the database of the URL. A new one gets n users.
func (p *postgres) attachNamed(ctx context.Context, n int) (err error) {
	p.pool, err = p.server.attachNamed(ctx, n)
	return err
}

func (p *postgres) renewDatabase(ctx context.Context, n int) error {
	name, pool, err := p.server.createDatabase(ctx, n)
	if err != nil {
		return err
	}
	dropErr := p.dropDatabase(ctx)
	p.name, p.pool, p.lost = name, pool, nil
	p.seeded = n
	if n > fewUsers {
		p.seeded = 0
	}
	return dropErr
}

// dropDatabase closes connections, and drops a temporary database.
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
	if err := p.calls.lock(context.Background()); err != nil {
		return err
	}
	defer p.calls.unlock()
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
