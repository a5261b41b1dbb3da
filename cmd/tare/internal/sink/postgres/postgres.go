// Package postgres copies events into a table of PostgreSQL. The events come from a spool, a queue on disk.
package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tarebench/tare/cmd/tare/internal/sink"
)

// Postgres is a sink that copies events into a table.
type Postgres struct {
	target  sink.Target
	config  *pgx.ConnConfig
	table   pgx.Identifier
	timeout time.Duration
	conn    *pgx.Conn // nil if not connected
}

// Kind describes the sink for the command line and the documentation.
func Kind() sink.Kind {
	return sink.Kind{
		Form: "postgres://HOST/DATABASE", Help: "COPY; table=events",
		Options: []string{"timeout", "table", "hold=on"},
		// Events that PostgreSQL rejects however often they are sent.
		Poison: "rejected by a type, a constraint or a limit, such as that of a row of an index",
		Open:   openTable,
	}
}

// openTable opens postgres://HOST/DATABASE#table=NAME. The default name is events. Send creates a missing
// table.
func openTable(t sink.Target, s sink.Settings) (sink.Sink, error) {
	p := &Postgres{target: t, table: pgx.Identifier{"events"}, timeout: s.Timeout}
	if name := t.Options["table"]; name != "" {
		p.table = strings.Split(name, ".")
	}
	var err error
	if p.config, err = pgx.ParseConfig(t.URL.String()); err != nil {
		return nil, fmt.Errorf("sink %s: not a PostgreSQL URL", t.Name())
	}
	return p, nil
}

// rejectedClasses are classes of SQLSTATE (the first two digits of a code) for errors of the rows. They are
// data exceptions (22), constraint violations (23) and limits of the server (54).
var rejectedClasses = []string{"22", "23", "54"}

// connect connects and creates the tables, unless there is a connection.
func (p *Postgres) connect(ctx context.Context) error {
	if p.conn != nil && !p.conn.IsClosed() {
		return nil
	}
	conn, err := pgx.ConnectConfig(ctx, p.config)
	if err != nil {
		return hideURL(err)
	}
	p.conn = conn
	// Once per connection, because these statements can fail, too.
	_, err = conn.Exec(ctx, `CREATE TABLE IF NOT EXISTS `+p.table.Sanitize()+` (id text NOT NULL, timestamp timestamptz NOT NULL, metadata jsonb NOT NULL)`)
	if err == nil {
		_, err = conn.Exec(ctx, `CREATE TABLE IF NOT EXISTS tare_spool (spool text, sink text, position numeric NOT NULL, PRIMARY KEY (spool, sink))`)
	}
	if err != nil {
		p.closeConn()
		return fmt.Errorf("make the tables: %w", err)
	}
	return nil
}

func (p *Postgres) closeConn() {
	if p.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = p.conn.Close(ctx)
		p.conn = nil
	}
}

type row struct {
	ID        string          `json:"id"`
	Timestamp time.Time       `json:"timestamp"`
	Metadata  json.RawMessage `json:"metadata"`
}

// Send copies a batch in one transaction. The transaction also stores, in table tare_spool, the number of the
// event after the batch. If Send is repeated, because the reply to a commit was lost, it copies only events
// from that number on.
func (p *Postgres) Send(ctx context.Context, b sink.Batch) (result sink.Result, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	rows := make([]row, len(b.Events))
	for i, e := range b.Events {
		if err := json.Unmarshal(e.Line, &rows[i]); err != nil {
			return result, &sink.Refused{Reason: "no event: " + err.Error()}
		}
	}
	if err := p.connect(ctx); err != nil {
		return result, err
	}
	err = p.insertRows(ctx, b, rows)
	if err == nil {
		return result, nil
	}
	var reported *pgconn.PgError
	if isServerError := errors.As(err, &reported); !isServerError {
		p.closeConn()
		return result, hideURL(err)
	}
	class := reported.Code[:min(2, len(reported.Code))]
	if slices.Contains(rejectedClasses, class) {
		return result, &sink.Refused{Reason: reported.Code + " " + reported.Message}
	}
	return result, hideURL(err)
}

// insertRows copies the rows from the stored position on, and advances the position.
func (p *Postgres) insertRows(ctx context.Context, b sink.Batch, rows []row) error {
	tx, err := p.conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }() // does nothing after a commit
	spool, name := b.Spool.String(), p.target.Name()
	// SELECT FOR UPDATE cannot lock a missing row. This INSERT waits for the end of an earlier attempt that
	// inserts the row, even if its commit is in flight.
	if _, err := tx.Exec(ctx, `INSERT INTO tare_spool VALUES ($1, $2, 0) ON CONFLICT DO NOTHING`, spool, name); err != nil {
		return err
	}
	var position uint64 // number of the first event that is not copied yet
	err = tx.QueryRow(ctx, `SELECT position::text::bigint FROM tare_spool WHERE spool = $1 AND sink = $2 FOR UPDATE`, spool, name).Scan(&position)
	if err != nil {
		return err
	}
	var copied [][]any
	last := position
	for i, e := range b.Events {
		if e.Number >= position {
			copied = append(copied, []any{rows[i].ID, rows[i].Timestamp, rows[i].Metadata})
			last = e.Number + 1
		}
	}
	if len(copied) == 0 {
		return nil // an earlier attempt has copied all of them
	}
	if _, err := tx.CopyFrom(ctx, p.table, []string{"id", "timestamp", "metadata"}, pgx.CopyFromRows(copied)); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `UPDATE tare_spool SET position = $3::text::numeric WHERE spool = $1 AND sink = $2`, spool, name, fmt.Sprint(last)); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// hideURL replaces an error with parts of the URL, which may be secret.
func hideURL(err error) error {
	var parse *pgconn.ParseConfigError
	var escape *url.Error
	if errors.As(err, &parse) || errors.As(err, &escape) {
		return errors.New("not a PostgreSQL URL")
	}
	return err
}

// Promise returns the guarantee of the transaction: exactly once.
func (p *Postgres) Promise() sink.Promise {
	return sink.Promise{
		To:   p.target.String() + " table " + p.table.Sanitize(),
		Sent: "committed",
		Once: "the position in table tare_spool, which is committed with the events",
	}
}

// Close closes the connection.
func (p *Postgres) Close() error {
	p.closeConn()
	return nil
}
