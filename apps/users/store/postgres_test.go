package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/apps/users/store/postgrestest"
	"github.com/tarebench/tare/apps/users/userstest"
)

// The tests share a server, and most of them a store on it: making either takes
// longer than what is asked of it.
func TestPostgres(t *testing.T) {
	url := postgrestest.URL(t)
	r := open(t, temporary+url, 1000)
	t.Run("conforms", func(t *testing.T) {
		userstest.Repository(t, func(t *testing.T) users.Repository { return kept{r} })
	})
	t.Run("cancelled", func(t *testing.T) { cancelled(t, url, r) })
	t.Run("text that no server takes", func(t *testing.T) { strangeText(t, r) })
	t.Run("templates", func(t *testing.T) { oneTemplate(t, url) })
	t.Run("many users", func(t *testing.T) { manyUsers(t, url) })
	t.Run("migrations", func(t *testing.T) { migratesPostgres(t, url) })
	t.Run("left behind", func(t *testing.T) { leftBehind(t, url) })
	t.Run("named", func(t *testing.T) { namedIsKept(t, url) })
	t.Run("killed program", func(t *testing.T) { killedProgram(t, url) })
	t.Run("closed", func(t *testing.T) { databaseGoes(t, url, r) })
}

// temporary begins the names of stores that Close drops.
const temporary = users.Temporary + "postgres:"

// kept is a store that is not closed.
type kept struct{ users.Repository }

func (kept) Close() error { return nil }

// with is a URL with one more parameter.
func with(url, parameter string) string {
	if strings.Contains(url, "?") {
		return url + "&" + parameter
	}
	return url + "?" + parameter
}

// direct is a connection to a database of the server.
func direct(t *testing.T, url, database string) *pgx.Conn {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	if database != "" {
		config.Database = database
	}
	c, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// databases counts those of the server whose names are like that.
func databases(t *testing.T, c *pgx.Conn, like string) (n int) {
	t.Helper()
	if err := c.QueryRow(t.Context(), "SELECT count(*) FROM pg_database WHERE datname LIKE $1", like).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// An open and a close leave nothing, here and there.
func databaseGoes(t *testing.T, url string, r users.Repository) {
	c := direct(t, url, "")
	names := []string{r.(*postgres).name}
	closed(t, r)
	leavesNothingRunning(t, func() {
		again := open(t, temporary+url, 1000)
		names = append(names, again.(*postgres).name)
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, name := range names {
		if n := databases(t, c, name); n != 0 {
			t.Errorf("%s is there after Close", name)
		}
	}
}

// Stores that open at once share a template, and nothing else. It is built anew
// where a program was killed that built it.
func oneTemplate(t *testing.T, url string) {
	known, err := loadMigrations("postgres")
	if err != nil {
		t.Fatal(err)
	}
	c := direct(t, url, "")
	building := fmt.Sprintf("tare_users_77_%s_building", fingerprint(known, 77))
	if err := execAll(t.Context(), c, "CREATE DATABASE "+building+" IS_TEMPLATE true"); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			r, err := Open(t.Context(), temporary+url, 77)
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			if u, err := r.Create(t.Context(), users.Draft{Name: "Ada Lund", Email: "ada@example.com"}, time.Unix(1, 0)); err != nil || u.ID != users.FirstID+77 {
				t.Errorf("create: id %d, error %v", u.ID, err)
			}
			if _, total, err := r.List(t.Context(), "", 0, 1); err != nil || total != 78 {
				t.Errorf("%d users, error %v; want 78", total, err)
			}
		})
	}
	all.Wait()
	for like, want := range map[string]int{`tare\_users\_77\_%`: 1, building: 0} {
		if n := databases(t, c, like); n != want {
			t.Errorf("%d databases like %s, want %d", n, like, want)
		}
	}
}

// More users than are kept in a second table, and than the store had before, are
// copied with their database.
func manyUsers(t *testing.T, url string) {
	const n = fewUsers + 1
	r := open(t, temporary+url, 1000)
	for range 2 {
		if err := r.Reset(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		found, total, err := r.List(t.Context(), "", n-1, 10)
		if err != nil || total != n || len(found) != 1 || found[0] != users.Seeded(n-1) {
			t.Errorf("%v of %d, error %v", found, total, err)
		}
		if err := r.Delete(t.Context(), users.FirstID); err != nil {
			t.Fatal(err)
		}
	}
	if n := databases(t, direct(t, url, ""), r.(*postgres).name); n != 1 {
		t.Errorf("%d databases", n)
	}
}

func migratesPostgres(t *testing.T, url string) {
	const name = "tare_test_migrations"
	server := direct(t, url, "")
	if err := execAll(t.Context(), server, "DROP DATABASE IF EXISTS "+name, "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := execAll(context.Background(), server, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	c := direct(t, url, name)
	first := []string{"CREATE TABLE a (x int)"}
	both := append(first, "CREATE TABLE b (y int); INSERT INTO b VALUES (1);")
	if err := migratePostgres(t.Context(), c, first); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		other := direct(t, url, name)
		all.Go(func() {
			if err := migratePostgres(t.Context(), other, both); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	var rows, version int
	if err := c.QueryRow(t.Context(), "SELECT (SELECT count(*) FROM b), (SELECT max(version) FROM migrations)").Scan(&rows, &version); err != nil || rows != 1 || version != 2 {
		t.Errorf("the second step was applied %d times, version %d, error %v; want once, 2", rows, version, err)
	}
	if err := migratePostgres(t.Context(), c, first); err == nil || !strings.Contains(err.Error(), "version 2, and this program knows of 1") {
		t.Errorf("a database of a newer program: error %v", err)
	}
	wrong := append(both, "CREATE TABLE c (z int); CREATE TABLE a (x int)")
	if err := migratePostgres(t.Context(), c, wrong); err == nil || !strings.Contains(err.Error(), "migrate to version 3") {
		t.Errorf("a step that fails: error %v", err)
	}
	if err := execAll(t.Context(), c, "SELECT 1 / (1 - count(*)) FROM pg_class WHERE relname = 'c'"); err != nil {
		t.Error("of a step that failed a table is left")
	}
}

// Databases that were left behind go when their program has ended, or, where that
// cannot be seen from here, when they are old and nobody is there.
func leftBehind(t *testing.T, url string) {
	c := direct(t, url, "")
	gone := osexec.Command(os.Args[0], "-test.run=^$")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	of := func(change func(*owner)) string {
		o := thisOwner()
		change(&o)
		return o.newName("29990101")
	}
	const old, used = "tare_store_20200101_0123456789ab", "tare_store_20200101_ba9876543210"
	left := map[string]int{
		old: 0, used: 1, "tare_store_29990101_0123456789ab": 1, "tare_store_29990101_a_b_c_d": 1,
		of(func(*owner) {}): 1,
		of(func(o *owner) { o.process = gone.Process.Pid }):                     0,
		of(func(o *owner) { o.host, o.process = "01234567", gone.Process.Pid }): 1,
	}
	if runtime.GOOS == "linux" { // where a number that was given to another process is seen
		left[of(func(o *owner) { o.started = "1" })] = 0
	}
	for name := range left {
		if len(name) > 63 {
			t.Errorf("%s is longer than a name may be", name)
		}
		if err := execAll(t.Context(), c, "CREATE DATABASE "+name); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := execAll(context.Background(), c, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
				t.Error(err)
			}
		})
	}
	direct(t, url, used)
	open(t, temporary+url, 1000)
	for name, want := range left {
		if n := databases(t, c, name); n != want {
			t.Errorf("%s: %d databases, want %d", name, n, want)
		}
	}
}

// envStore has the test binary open that store, say so, and wait to be killed.
const envStore = "TARE_TEST_STORE"

func TestMain(m *testing.M) {
	if name := os.Getenv(envStore); name != "" {
		r, err := Open(context.Background(), name, 1000)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(r.(*postgres).name)
		_, _ = io.Copy(io.Discard, os.Stdin) // should the test be killed itself
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// The database of a program that was killed goes when the next store opens.
func killedProgram(t *testing.T, url string) {
	program := osexec.Command(os.Args[0])
	program.Env = append(os.Environ(), envStore+"="+temporary+url)
	stdin, err := program.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	name, err := bufio.NewReader(stdout).ReadString('\n')
	killed := errors.Join(program.Process.Kill(), program.Wait())
	if name = strings.TrimSpace(name); err != nil || !strings.HasPrefix(name, ownedPrefix) {
		t.Fatalf("it said %q, error %v, and ended with %v", name, err, killed)
	}
	c := direct(t, url, "")
	if n := databases(t, c, name); n != 1 {
		t.Fatalf("%d databases of the killed program, want 1", n)
	}
	open(t, temporary+url, 1000)
	if n := databases(t, c, name); n != 0 {
		t.Errorf("%s is there after another store was opened", name)
	}
}

// A call whose context ends while the server is at it has done nothing.
func cancelled(t *testing.T, url string, r users.Repository) {
	if err := r.Reset(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	c := direct(t, url, r.(*postgres).name)
	if err := execAll(t.Context(), c, "BEGIN", "LOCK TABLE users"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, created := r.Create(ctx, users.Draft{Name: "Ada Lund", Email: "ada@example.com"}, time.Unix(1, 0))
	for call, err := range map[string]error{"create": created, "delete": r.Delete(ctx, users.FirstID), "reset": r.Reset(ctx, 1)} {
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: error %v, want that of the context", call, err)
		}
	}
	if err := execAll(t.Context(), c, "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if found, total, err := r.List(t.Context(), "", 0, 10); err != nil || total != 3 || found[0] != users.Seeded(0) {
		t.Errorf("%v of %d, error %v; want the seeded ones", found, total, err)
	}
}

func strangeText(t *testing.T, r users.Repository) {
	if err := r.Reset(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"a\x00", "\xff"} {
		if found, total, err := r.List(t.Context(), text, 0, 10); err != nil || total != 0 || found == nil || len(found) != 0 {
			t.Errorf("%q: %v of %d, error %v", text, found, total, err)
		}
		if _, err := r.Create(t.Context(), users.Draft{Name: text, Email: "ada@example.com"}, time.Unix(1, 0)); err == nil {
			t.Errorf("a user of the name %q was created", text)
		}
	}
	if _, err := r.Get(t.Context(), users.FirstID); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
