package postgres

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tarebench/tare/cmd/tare/internal/sink"
	"github.com/tarebench/tare/cmd/tare/internal/sink/sinktest"
	"github.com/tarebench/tare/internal/assert"
)

func TestMain(m *testing.M) {
	os.Exit(sinktest.Main(m, func(t sink.Target) (sink.Sink, error) { return New(t) }))
}

// cluster is a PostgreSQL that is installed here.
type cluster struct {
	t    *testing.T
	bin  string
	dir  string
	port int
	cmd  *exec.Cmd
}

// installed is the directory of PostgreSQL's programs; empty: there are none.
func installed() string {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.Sort(dirs)
	if len(dirs) == 0 {
		return ""
	}
	return dirs[len(dirs)-1]
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, bin: installed()}
	if c.bin == "" {
		t.Skip("PostgreSQL is not installed")
	}
	var err error
	c.dir, err = os.MkdirTemp("/tmp", "tare-postgres-")
	assert.NoError(t, "directory", err)
	t.Cleanup(func() { _ = os.RemoveAll(c.dir) })
	if os.Getuid() == 0 {
		assert.NoError(t, "chown", os.Chown(c.dir, nobody, nobody))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NoError(t, "port", err)
	c.port = l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	if out, err := c.command("initdb", "-D", "data", "-U", "tare", "-A", "trust", "--no-sync", "--locale=C", "-E", "UTF8").CombinedOutput(); err != nil {
		t.Skipf("initdb: %v: %s", err, out)
	}
	c.start()
	t.Cleanup(func() { c.kill() })
	return c
}

const nobody = 65534 // PostgreSQL refuses to run as root

func (c *cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.bin, name), args...)
	cmd.Dir = c.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	return cmd
}

func (c *cluster) start() {
	c.cmd = c.command("postgres", "-D", "data", "-p", fmt.Sprint(c.port), "-k", c.dir, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "max_connections=20", "-c", "shared_buffers=16MB")
	assert.NoError(c.t, "start", c.cmd.Start())
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		conn, err := pgx.Connect(context.Background(), c.dsn())
		if err == nil {
			_ = conn.Close(context.Background())
			return
		}
		if time.Now().After(end) {
			c.t.Fatal(err)
		}
	}
}

// kill ends all of its processes at once.
func (c *cluster) kill() {
	_ = c.cmd.Process.Signal(syscall.SIGQUIT) // ends without a checkpoint: the next start recovers
	_ = c.cmd.Wait()
}

func (c *cluster) dsn() string {
	return fmt.Sprintf("postgres://tare@127.0.0.1:%d/postgres?sslmode=disable", c.port)
}

func (c *cluster) arrived() (events []string) {
	conn, err := pgx.Connect(context.Background(), c.dsn())
	assert.NoError(c.t, "connect", err)
	defer conn.Close(context.Background())
	rows, err := conn.Query(context.Background(), "SELECT json_build_object('id', id)::text FROM events ORDER BY ctid")
	assert.NoError(c.t, "query", err)
	events, err = pgx.CollectRows(rows, pgx.RowTo[string])
	assert.NoError(c.t, "rows", err)
	return events
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
	if installed() == "" {
		t.Skip("PostgreSQL is not installed")
	}
	sinktest.Run(t, func(t *testing.T) sinktest.Subject {
		c := newCluster(t)
		return sinktest.Subject{
			Open:    func(t testing.TB) sink.Sink { return open(t, c.dsn()) },
			Arrived: c.arrived,
			Away:    c.kill, Back: c.start,
			Refuse: func(text string) {
				conn, err := pgx.Connect(context.Background(), c.dsn())
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
	c := newCluster(t)
	sinktest.Killed(t, c.dsn(), sinktest.DefaultKills(), c.kill, c.start, c.arrived)
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
