package postgres

import (
	"context"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tarebench/tare/apps/ingest/spool"
	"github.com/tarebench/tare/cmd/tare/internal/sink"
	"github.com/tarebench/tare/cmd/tare/internal/sink/sinktest"
	"github.com/tarebench/tare/cmd/tare/internal/sink/sinktest/hosts"
	"github.com/tarebench/tare/internal/assert"
)

func TestMain(m *testing.M) {
	os.Exit(sinktest.Main(m, Kind()))
}

func open(t testing.TB, url string) *Postgres {
	t.Helper()
	return sinktest.Open[*Postgres](t, url, Kind())
}

func TestConformance(t *testing.T) {
	sinktest.Run(t, func(t *testing.T) sinktest.Subject {
		c := hosts.NewPostgres(t)
		return sinktest.Subject{
			Open:    func(t testing.TB) sink.Sink { return open(t, c.URL()) },
			Arrived: c.Arrived,
			Away:    c.Kill, Back: c.Start,
			Refuse: func(text string) {
				conn, err := pgx.Connect(context.Background(), c.URL())
				assert.NoError(t, "connect", err)
				defer conn.Close(context.Background())
				_, err = conn.Exec(context.Background(), "CREATE TABLE events (id text CHECK (id NOT LIKE '%"+text+"%'), timestamp timestamptz, metadata jsonb)")
				assert.NoError(t, "table", err)
			},
			Once: true,
		}
	})
}

func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	c := hosts.NewPostgres(t)
	sinktest.Killed(t, c.URL(), sinktest.DefaultKills(), c.Kill, c.Start, c.Arrived)
}

// An attempt that failed for the client may still commit. The next attempt waits for it, even for
// the first batch of a spool.
func TestFirstBatchWaitsForAnEarlierAttempt(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	c := hosts.NewPostgres(t)
	p := open(t, c.URL())
	defer p.Close()
	b := sink.Batch{Spool: spool.ID{7}, Events: []sink.Event{{Line: []byte(sinktest.Line("a"))}}}
	other, err := pgx.Connect(t.Context(), c.URL())
	assert.NoError(t, "connect", err)
	defer other.Close(context.Background())
	assert.NoError(t, "tables", p.connect(t.Context()))
	earlier, err := other.Begin(t.Context())
	assert.NoError(t, "begin", err)
	_, err = earlier.Exec(t.Context(), `INSERT INTO tare_spool VALUES ($1, $2, 1)`, b.Spool.String(), p.target.Name())
	assert.NoError(t, "the earlier attempt's row", err)

	sent := make(chan error, 1)
	go func() {
		_, err := p.Send(t.Context(), b)
		sent <- err
	}()
	watch, err := pgx.Connect(t.Context(), c.URL())
	assert.NoError(t, "connect", err)
	defer watch.Close(context.Background())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for waits := 0; waits == 0; time.Sleep(time.Millisecond) {
		err := watch.QueryRow(ctx, `SELECT count(*) FROM pg_locks WHERE NOT granted`).Scan(&waits)
		assert.NoError(t, "who waits", err)
	}
	assert.NoError(t, "commit", earlier.Commit(t.Context()))
	assert.NoError(t, "send", <-sent)
	assert.Equal(t, "events written again", c.Count(), 0)
}

// An event that exceeds a limit of the server, such as the size of an index row, is refused.
// Otherwise it would be sent for ever.
func TestEventBeyondALimitIsRefused(t *testing.T) {
	c := hosts.NewPostgres(t)
	p := open(t, c.URL())
	defer p.Close()
	assert.NoError(t, "tables", p.connect(t.Context()))
	_, err := p.conn.Exec(t.Context(), `CREATE INDEX ON events (id)`)
	assert.NoError(t, "index", err)
	random := make([]byte, 10_000) // so that it does not become small when compressed
	_, _ = rand.NewChaCha8([32]byte{1}).Read(random)
	_, err = p.Send(t.Context(), sink.Batch{Events: []sink.Event{{Line: []byte(sinktest.Line(hex.EncodeToString(random)))}}})
	var refused *sink.Refused
	if !errors.As(err, &refused) {
		t.Fatalf("%v is no refusal", err)
	}
	assert.Contains(t, "reason", refused.Reason, "54000")
	_, err = p.Send(t.Context(), sink.Batch{Spool: spool.ID{1}, Events: []sink.Event{{Line: []byte(sinktest.Line("a"))}}})
	assert.NoError(t, "the next", err)
}

func TestURLs(t *testing.T) {
	_, err := sinktest.Parse(t, "postgres://h/db?sslmode=nonsense&password=secret", Kind()).Open(sink.Settings{})
	assert.ErrorContains(t, "URL", err, "not a PostgreSQL URL")
	p := open(t, "postgres://u:secret@127.0.0.1:1/db#table=a.b&timeout=1s")
	text := p.Promise().String()
	assert.Contains(t, "table", text, `table "a"."b"`)
	if strings.Contains(text, "secret") {
		t.Errorf("%q", text)
	}
	_, err = p.Send(t.Context(), sink.Batch{Events: []sink.Event{{Line: []byte(sinktest.Line("a"))}}})
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	_, err = p.Send(t.Context(), sink.Batch{Events: []sink.Event{{Line: []byte("no JSON")}}})
	assert.ErrorContains(t, "no JSON", err, "no event")
}
