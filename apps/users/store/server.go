package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/tarebench/tare/apps/users"
)

const (
	// cancelDelay is the time for a server, after the context of a call has ended, to report
	// whether it completed the call.
	cancelDelay = time.Second

	// fewUsers is the largest template with a second table to refill the first one from. More users
	// are copied faster as files.
	fewUsers = 20_000

	// lockKey is the advisory lock under which templates are built and schemas migrated:
	// "tareuser".
	lockKey = 0x7461726575736572

	// staleAge is the age from which a database without connections counts as abandoned, if this
	// machine cannot tell whether its program has ended. It begins with the day in its name.
	staleAge = 48 * time.Hour
)

// server makes databases on a PostgreSQL server, over short connections to the database of its URL.
type server struct{ config *pgxpool.Config }

func newServer(url string) (*server, error) {
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	// A cancelled context is reported to the server, which replies whether that came in time.
	// Without that, the outcome would be unknown.
	c.ConnConfig.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: cancelDelay}
	}
	// A connection of a cancelled call had its delay. pgx would wait for its end for another 15 s,
	// during which its place in the pool is unused.
	c.BeforeClose = func(conn *pgx.Conn) {
		if conn.IsClosed() {
			_ = conn.PgConn().Conn().Close()
		}
	}
	return &server{c}, nil
}

// createDatabase makes a database with n seeded users, and connects to it.
func (s *server) createDatabase(ctx context.Context, n int) (name string, pool *pgxpool.Pool, err error) {
	known, err := loadMigrations("postgres")
	if err != nil {
		return "", nil, err
	}
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		template, err := s.ensureTemplate(ctx, c, known, n)
		if err != nil {
			return fmt.Errorf("build a template of %d users: %w", n, err)
		}
		if err := dropStale(ctx, c); err != nil {
			return err
		}
		var day string // the server's, so that it is the same for all its users
		var version int
		if err := c.QueryRow(ctx, "SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD'), current_setting('server_version_num')::int").Scan(&day, &version); err != nil {
			return err
		}
		name = thisOwner().newName(day)
		return execAll(ctx, c, "CREATE DATABASE "+quoteName(name)+" TEMPLATE "+quoteName(template)+copyStrategy(version, n))
	})
	if err != nil {
		return "", nil, err
	}
	config := s.config.Copy()
	config.ConnConfig.Database = name
	if pool, err = newPool(ctx, config); err != nil {
		return "", nil, errors.Join(err, s.dropDatabase(context.WithoutCancel(ctx), name))
	}
	return name, pool, nil
}

// attachNamed connects to the database of the URL, after updating its schema. If no user has ever
// been created in it, it gets n seeded ones.
func (s *server) attachNamed(ctx context.Context, n int) (*pgxpool.Pool, error) {
	known, err := loadMigrations("postgres")
	if err != nil {
		return nil, err
	}
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		var name string // the URL may leave it out
		if err := c.QueryRow(ctx, "SELECT current_database()").Scan(&name); err != nil {
			return err
		}
		if strings.HasPrefix(name, ownedPrefix) {
			return fmt.Errorf("databases named %s… belong to labs, which drop them; name another one than %s", ownedPrefix, name)
		}
		if err := migratePostgres(ctx, c, known); err != nil {
			return fmt.Errorf("prepare database %s: %w", name, err)
		}
		return seedNew(ctx, c, n)
	})
	if err != nil {
		return nil, err
	}
	return newPool(ctx, s.config.Copy())
}

// newPool returns a pool that has reached its database.
func newPool(ctx context.Context, config *pgxpool.Config) (*pgxpool.Pool, error) {
	pool, err := pgxpool.NewWithConfig(context.WithoutCancel(ctx), config)
	if err != nil {
		return nil, err
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return pool, nil
}

// seedNew inserts n seeded users if there have never been any: the table is empty and the first id
// not used. Several programs may do so concurrently.
func seedNew(ctx context.Context, c *pgx.Conn, n int) error {
	if n == 0 {
		return nil
	}
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(lockKey)); err != nil {
			return err
		}
		var used bool
		if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM users) OR is_called OR last_value <> $1 FROM users_id_seq", int64(users.FirstID)).Scan(&used); err != nil || used {
			return err
		}
		if err := insertSeeded(ctx, tx, n); err != nil {
			return err
		}
		return execAll(ctx, tx, restartIDs(n))
	})
}

// copyStrategy returns how to copy n users if the server supports the choice, as from version 15
// on: few through its log, many as files, between two checkpoints.
func copyStrategy(version, n int) string {
	if n > fewUsers && version >= 15_00_00 {
		return " STRATEGY file_copy"
	}
	return ""
}

// dropDatabase removes a database, even if it has connections.
func (s *server) dropDatabase(ctx context.Context, name string) error {
	return s.withConn(ctx, func(c *pgx.Conn) error {
		return execAll(ctx, c, "DROP DATABASE IF EXISTS "+quoteName(name)+" WITH (FORCE)")
	})
}

// withConn connects, calls f, and disconnects.
func (s *server) withConn(ctx context.Context, f func(*pgx.Conn) error) error {
	c, err := pgx.ConnectConfig(ctx, s.config.ConnConfig.Copy())
	if err != nil {
		return err
	}
	err = f(c)
	// Closing a connection without response would wait for one.
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelDelay)
	defer cancel()
	return errors.Join(err, c.Close(end))
}

// ensureTemplate returns the database to copy n users from, and builds it if it does not exist.
func (s *server) ensureTemplate(ctx context.Context, c *pgx.Conn, steps []string, n int) (string, error) {
	name := fmt.Sprintf("tare_users_%d_%s", n, fingerprint(steps, n))
	if there, err := isTemplate(ctx, c, name); there || err != nil {
		return name, err
	}
	if _, err := c.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(lockKey)); err != nil { // until the connection ends
		return "", err
	}
	if there, err := isTemplate(ctx, c, name); there || err != nil { // another process built it meanwhile
		return name, err
	}
	building := name + "_building"
	if there, err := isTemplate(ctx, c, building); err != nil {
		return "", err
	} else if there { // left by a killed program
		if err := execAll(ctx, c, "ALTER DATABASE "+quoteName(building)+" IS_TEMPLATE false"); err != nil {
			return "", err
		}
	}
	if err := execAll(ctx, c, "DROP DATABASE IF EXISTS "+quoteName(building)+" WITH (FORCE)",
		"CREATE DATABASE "+quoteName(building)+" TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'"); err != nil {
		return "", err
	}
	config := s.config.ConnConfig.Copy()
	config.Database = building
	b, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return "", err
	}
	err = migratePostgres(ctx, b, steps)
	if err == nil {
		err = fillTemplate(ctx, b, n)
	}
	if err = errors.Join(err, b.Close(ctx)); err != nil {
		return "", err
	}
	return name, execAll(ctx, c, "ALTER DATABASE "+quoteName(building)+" IS_TEMPLATE true ALLOW_CONNECTIONS false",
		"ALTER DATABASE "+quoteName(building)+" RENAME TO "+quoteName(name))
}

// insertSeeded inserts n seeded users.
func insertSeeded(ctx context.Context, c interface {
	CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, rows pgx.CopyFromSource) (int64, error)
}, n int) error {
	k := 0
	_, err := c.CopyFrom(ctx, pgx.Identifier{"users"}, []string{"id", "name", "folded", "email", "created_at", "updated_at"},
		pgx.CopyFromFunc(func() ([]any, error) {
			if k == n {
				return nil, nil
			}
			u := users.Seeded(k)
			k++
			return []any{u.ID, u.Name, strings.ToLower(u.Name), u.Email, u.CreatedAt, u.UpdatedAt}, nil
		}))
	return err
}

// fillTemplate inserts the seeded users into a template.
func fillTemplate(ctx context.Context, c *pgx.Conn, n int) error {
	if err := insertSeeded(ctx, c, n); err != nil {
		return err
	}
	if n <= fewUsers {
		if err := execAll(ctx, c, "CREATE TABLE seeded AS TABLE users", "VACUUM (FREEZE, ANALYZE) seeded"); err != nil {
			return err
		}
	}
	return execAll(ctx, c, restartIDs(n), "VACUUM (FREEZE, ANALYZE) users")
}

// restartIDs returns the statement that sets the next id after n users.
func restartIDs(n int) string {
	return fmt.Sprintf("ALTER TABLE users ALTER COLUMN id RESTART WITH %d", users.FirstID+int64(n))
}

// migratePostgres applies the missing migrations, each in a transaction. Several programs may do so
// concurrently.
func migratePostgres(ctx context.Context, c *pgx.Conn, steps []string) error {
	for more := true; more; {
		err := pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			var version int
			if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(lockKey)); err != nil {
				return err
			}
			if err := execAll(ctx, tx, "CREATE TABLE IF NOT EXISTS migrations (version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())"); err != nil {
				return err
			}
			if err := tx.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM migrations").Scan(&version); err != nil {
				return err
			}
			if version > len(steps) {
				return errNewer(version, len(steps))
			}
			if more = version < len(steps); !more {
				return nil
			}
			if err := execAll(ctx, tx, steps[version]); err != nil {
				return fmt.Errorf("migrate to version %d: %w", version+1, err)
			}
			_, err := tx.Exec(ctx, "INSERT INTO migrations (version) VALUES ($1)", version+1)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// dropStale removes the databases of killed programs: immediately those of a program that has
// ended, and old ones.
func dropStale(ctx context.Context, c *pgx.Conn) error {
	rows, err := c.Query(ctx, `SELECT datname, to_date(substr(datname, 12, 8), 'YYYYMMDD') < (now() AT TIME ZONE 'UTC') - $1::interval
		AND NOT EXISTS (SELECT FROM pg_stat_activity AS a WHERE a.datname = pg_database.datname)
		FROM pg_database WHERE datname ~ '^tare_store_[0-9]{8}_'`, staleAge)
	if err != nil {
		return err
	}
	var name string
	var old bool
	var drop []string
	_, err = pgx.ForEachRow(rows, []any{&name, &old}, func() error {
		if o, ok := ownerOf(name); ok && o.hasEnded() { // the server may take a moment to notice that, too
			drop = append(drop, "DROP DATABASE IF EXISTS "+quoteName(name)+" WITH (FORCE)")
		} else if old {
			drop = append(drop, "DROP DATABASE IF EXISTS "+quoteName(name))
		}
		return nil
	})
	for _, statement := range drop {
		_ = execAll(ctx, c, statement) // it may be another user's, or in use
	}
	return err
}

func isTemplate(ctx context.Context, c *pgx.Conn, name string) (there bool, err error) {
	err = c.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1 AND datistemplate)", name).Scan(&there)
	return there, err
}

// execAll executes statements without arguments.
func execAll(ctx context.Context, c interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}, statements ...string) error {
	for _, s := range statements {
		if _, err := c.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func quoteName(name string) string { return pgx.Identifier{name}.Sanitize() }
