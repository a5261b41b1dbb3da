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
	// cancelDelay limits the wait of a call whose context has ended, until the server reports its effect.
	cancelDelay = time.Second

	// fewUsers limits the second table, seeded, that Reset copies. More users are faster as files of a new
	// database.
	fewUsers = 20_000

	// lockKey is the key of the advisory lock for building templates and migrating: "tareuser" in ASCII.
	lockKey = 0x7461726575736572

	// staleAge is the age after which a temporary database without connections is dropped. It matters if this
	// machine does not know whether the program has ended. The age counts from the day in the name.
	staleAge = 48 * time.Hour
)

// server creates and drops databases. Each time it connects to the database of its URL.
type server struct{ config *pgxpool.Config }

// newServer returns the server at url, and does not connect.
func newServer(url string) (*server, error) {
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	// A cancel request makes the server report whether the call took effect.
	c.ConnConfig.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: cancelDelay}
	}
	// cancelDelay was enough for a cancelled call. pgx would wait up to 15 s more before it replaces the
	// connection.
	c.BeforeClose = func(conn *pgx.Conn) {
		if conn.IsClosed() {
			_ = conn.PgConn().Conn().Close()
		}
	}
	return &server{c}, nil
}

// createDatabase makes a temporary database with n seeded users.
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
		var day string // server's date: clients' clocks differ
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

// attachNamed connects to the database of the URL and migrates it. A database that never had a user gets n.
func (s *server) attachNamed(ctx context.Context, n int) (*pgxpool.Pool, error) {
	known, err := loadMigrations("postgres")
	if err != nil {
		return nil, err
	}
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		var name string // the URL may omit it
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

// newPool returns a pool of connections, after it has connected once.
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

// seedNew inserts n users if no id was ever used. Programs may call it concurrently.
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

// copyStrategy returns an option of CREATE DATABASE. From version 15 on servers copy through the write-ahead
// log. For many users, copying files is faster. Older servers always do.
func copyStrategy(version, n int) string {
	if n > fewUsers && version >= 15_00_00 {
		return " STRATEGY file_copy"
	}
	return ""
}

func (s *server) dropDatabase(ctx context.Context, name string) error {
	return s.withConn(ctx, func(c *pgx.Conn) error {
		return execAll(ctx, c, "DROP DATABASE IF EXISTS "+quoteName(name)+" WITH (FORCE)")
	})
}

func (s *server) withConn(ctx context.Context, f func(*pgx.Conn) error) error {
	c, err := pgx.ConnectConfig(ctx, s.config.ConnConfig.Copy())
	if err != nil {
		return err
	}
	err = f(c)
	// Close would wait for a server without a response.
	closeCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelDelay)
	defer cancel()
	return errors.Join(err, c.Close(closeCtx))
}

// ensureTemplate returns the template with n users. It may build it, under a lock, and renames it when
// complete.
func (s *server) ensureTemplate(ctx context.Context, c *pgx.Conn, steps []string, n int) (string, error) {
	name := fmt.Sprintf("tare_users_%d_%s", n, fingerprint(steps, n))
	if exists, err := isTemplate(ctx, c, name); exists || err != nil {
		return name, err
	}
	if _, err := c.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(lockKey)); err != nil { // the lock ends with the connection
		return "", err
	}
	if exists, err := isTemplate(ctx, c, name); exists || err != nil { // another program has built it meanwhile
		return name, err
	}
	building := name + "_building"
	isLeft, err := isTemplate(ctx, c, building) // a killed program has not renamed it
	if err != nil {
		return "", err
	}
	if isLeft { // PostgreSQL does not drop templates
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

// insertSeeded inserts n users. c is a connection or a transaction.
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

// fillTemplate inserts n users into a template. It creates the table seeded if n is small.
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

// restartIDs returns a statement that makes the next id follow those of n seeded users.
func restartIDs(n int) string {
	return fmt.Sprintf("ALTER TABLE users ALTER COLUMN id RESTART WITH %d", users.FirstID+int64(n))
}

// migratePostgres applies missing steps, each in a transaction with a lock. So programs can migrate
// concurrently.
func migratePostgres(ctx context.Context, c *pgx.Conn, steps []string) error {
	for isComplete := false; !isComplete; {
		err := pgx.BeginFunc(ctx, c, func(tx pgx.Tx) (err error) {
			isComplete, err = migrateServerOnce(ctx, tx, steps)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// migrateServerOnce applies the first missing migration. It returns true if none is missing.
func migrateServerOnce(ctx context.Context, tx pgx.Tx, steps []string) (isComplete bool, err error) {
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(lockKey)); err != nil {
		return false, err
	}
	if err := execAll(ctx, tx, "CREATE TABLE IF NOT EXISTS migrations (version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())"); err != nil {
		return false, err
	}
	var version int
	if err := tx.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM migrations").Scan(&version); err != nil {
		return false, err
	}
	switch {
	case version == len(steps):
		return true, nil
	case version > len(steps):
		return false, errNewer(version, len(steps))
	}
	if err := execAll(ctx, tx, steps[version]); err != nil {
		return false, fmt.Errorf("migrate to version %d: %w", version+1, err)
	}
	_, err = tx.Exec(ctx, "INSERT INTO migrations (version) VALUES ($1)", version+1)
	return false, err
}

// dropStale drops temporary databases of killed programs, and old ones without connections.
func dropStale(ctx context.Context, c *pgx.Conn) error {
	// tare_store_ (11 characters), the day and more, see ownedPrefix.
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
		if o, ok := parseOwner(name); ok && o.hasEnded() { // FORCE: connections may not be closed yet
			drop = append(drop, "DROP DATABASE IF EXISTS "+quoteName(name)+" WITH (FORCE)")
		} else if old {
			drop = append(drop, "DROP DATABASE IF EXISTS "+quoteName(name))
		}
		return nil
	})
	for _, statement := range drop {
		_ = execAll(ctx, c, statement) // fails if it belongs to another user, or is in use
	}
	return err
}

// isTemplate reports whether the database is marked as a template.
func isTemplate(ctx context.Context, c *pgx.Conn, name string) (exists bool, err error) {
	err = c.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1 AND datistemplate)", name).Scan(&exists)
	return exists, err
}

// execAll executes statements without arguments. c is a connection or a transaction.
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
