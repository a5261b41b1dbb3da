package hosts

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tarebench/tare/internal/assert"
)

// Postgres is a server, run from the installed programs.
type Postgres struct {
	t    *testing.T
	bin  string // directory of the programs
	dir  string
	port int
	cmd  *exec.Cmd
}

func postgresPrograms() string {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.Sort(dirs)
	if len(dirs) == 0 {
		return ""
	}
	return dirs[len(dirs)-1]
}

// HasPostgres reports whether PostgreSQL is installed.
func HasPostgres() bool { return postgresPrograms() != "" }

// NewPostgres starts a server. If PostgreSQL is not installed, it skips the test.
func NewPostgres(t *testing.T) *Postgres {
	t.Helper()
	c := &Postgres{t: t, bin: postgresPrograms()}
	if c.bin == "" {
		t.Skip("PostgreSQL is not installed")
	}
	var err error
	c.dir, err = os.MkdirTemp("/tmp", "tare-postgres-")
	assert.NoError(t, "directory", err)
	t.Cleanup(func() { _ = os.RemoveAll(c.dir) })
	if os.Getuid() == 0 {
		assert.NoError(t, "chown", os.Chown(c.dir, nobodyUID, nobodyUID))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NoError(t, "port", err)
	c.port = l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	if out, err := c.newCommand("initdb", "-D", "data", "-U", "tare", "-A", "trust", "--no-sync", "--locale=C", "-E", "UTF8").CombinedOutput(); err != nil {
		t.Skipf("initdb: %v: %s", err, out)
	}
	c.Start()
	t.Cleanup(func() { c.Kill() })
	return c
}

// nobodyUID runs PostgreSQL if the test is root: PostgreSQL rejects root.
const nobodyUID = 65534

func (c *Postgres) newCommand(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.bin, name), args...)
	cmd.Dir = c.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobodyUID, Gid: nobodyUID}
	}
	return cmd
}

// Start starts the server, and waits until it accepts connections.
func (c *Postgres) Start() {
	c.cmd = c.newCommand("postgres", "-D", "data", "-p", fmt.Sprint(c.port), "-k", c.dir, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "max_connections=20", "-c", "shared_buffers=16MB")
	assert.NoError(c.t, "start", c.cmd.Start())
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		conn, err := pgx.Connect(context.Background(), c.URL())
		if err == nil {
			_ = conn.Close(context.Background())
			return
		}
		if time.Now().After(end) {
			c.t.Fatal(err)
		}
	}
}

// Kill ends all processes of the server immediately.
func (c *Postgres) Kill() {
	_ = c.cmd.Process.Signal(syscall.SIGQUIT) // no checkpoint: the next start recovers
	_ = c.cmd.Wait()
}

// URL returns the URL of the sink and of the database.
func (c *Postgres) URL() string {
	return fmt.Sprintf("postgres://tare@127.0.0.1:%d/postgres?sslmode=disable", c.port)
}

// Count returns the number of events.
func (c *Postgres) Count() (n int) {
	conn, err := pgx.Connect(context.Background(), c.URL())
	assert.NoError(c.t, "connect", err)
	defer conn.Close(context.Background())
	_ = conn.QueryRow(context.Background(), "SELECT count(*) FROM events").Scan(&n) // fails if there is no table yet
	return n
}

// Arrived returns the ids of the events, as JSON.
func (c *Postgres) Arrived() (events []string) {
	conn, err := pgx.Connect(context.Background(), c.URL())
	assert.NoError(c.t, "connect", err)
	defer conn.Close(context.Background())
	rows, err := conn.Query(context.Background(), "SELECT json_build_object('id', id)::text FROM events ORDER BY ctid")
	assert.NoError(c.t, "query", err)
	events, err = pgx.CollectRows(rows, pgx.RowTo[string])
	assert.NoError(c.t, "rows", err)
	return events
}
