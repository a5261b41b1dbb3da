package postgres

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tarebench/tare/cmd/tare/internal/sink"
	"github.com/tarebench/tare/cmd/tare/internal/sink/sinktest"
	"github.com/tarebench/tare/cmd/tare/internal/sink/sinktest/hosts"
	"github.com/tarebench/tare/internal/assert"
)

func TestMain(m *testing.M) {
	os.Exit(sinktest.Main(m, func(t sink.Target) (sink.Sink, error) { return New(t) }))
}

func open(t testing.TB, url string) *Postgres {
	t.Helper()
	list, err := sink.ParseTargets(url)
	assert.NoError(t, "parse", err)
	p, err := New(list[0])
	assert.NoError(t, "open", err)
	return p
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
	c := hosts.NewPostgres(t)
	sinktest.Killed(t, c.URL(), sinktest.DefaultKills(), c.Kill, c.Start, c.Arrived)
}

func TestURLs(t *testing.T) {
	list, err := sink.ParseTargets("postgres://h/db?sslmode=nonsense&password=secret")
	assert.NoError(t, "parse", err)
	_, err = New(list[0])
	assert.ErrorContains(t, "URL", err, "none of PostgreSQL")
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
