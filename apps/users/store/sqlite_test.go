package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users"
)

func TestSQLiteClosed(t *testing.T) {
	leavesNothingRunning(t, func() { closed(t, open(t, "sqlite:"+filepath.Join(t.TempDir(), "users.db"), 5)) })
}

// What was in a file is there again, and ids go on from where they were.
func TestSQLiteKeepsItsFile(t *testing.T) {
	ctx, name := t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "users.db")
	first := open(t, name, 2)
	last, err := first.Create(ctx, users.Draft{Name: "Ada Lund", Email: "ada@example.com"}, time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(first.Delete(ctx, last.ID), first.Delete(ctx, users.FirstID), first.Close()); err != nil {
		t.Fatal(err)
	}
	second := open(t, name, 100)
	found, total, err := second.List(ctx, "", 0, 10)
	if err != nil || total != 1 || found[0] != users.Seeded(1) {
		t.Errorf("opened again: %v, %d in all, error %v; want the second seeded user", found, total, err)
	}
	next, err := second.Create(ctx, users.Draft{Name: "Ada Lund", Email: "ada@example.com"}, time.Unix(1, 0))
	if err != nil || next.ID <= last.ID {
		t.Errorf("id %d, error %v; want one after %d", next.ID, err, last.ID)
	}
}

// A file with the log of a program that was killed is recovered, and a reset of it
// does not take over the log.
func TestSQLiteAfterACrash(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	living := filepath.Join(dir, "living.db")
	r := open(t, "sqlite:"+living, 10)
	if err := r.Delete(ctx, users.FirstID); err != nil {
		t.Fatal(err)
	}
	crashed := filepath.Join(dir, "crashed.db")
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(living + suffix)
		if err != nil || len(b) == 0 {
			t.Fatalf("%d bytes of the file%s, error %v", len(b), suffix, err)
		}
		if err := os.WriteFile(crashed+suffix, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	again := open(t, "sqlite:"+crashed, 0)
	if _, err := again.Get(ctx, users.FirstID); !errors.Is(err, users.ErrNotFound) {
		t.Errorf("error %v of a user whose end is in the log, want ErrNotFound", err)
	}
	if err := again.Reset(ctx, 10); err != nil {
		t.Fatal(err)
	}
	if u, err := again.Get(ctx, users.FirstID); err != nil || u != users.Seeded(0) {
		t.Errorf("after a reset: %v, error %v", u, err)
	}
}

func TestSQLiteResetLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	r := open(t, "sqlite:"+filepath.Join(dir, "users.db"), 3)
	for _, n := range []int{3, 0, 250, 3} {
		if err := r.Reset(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		u, err := r.Create(t.Context(), users.Draft{Name: "Ada Lund", Email: "ada@example.com"}, time.Unix(1, 0))
		if err != nil || u.ID != users.FirstID+int64(n) {
			t.Errorf("the first id after a reset to %d: %d, error %v", n, u.ID, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Reset(ended, 7); !errors.Is(err, context.Canceled) {
		t.Errorf("reset with a context that has ended: %v", err)
	}
	if _, total, err := r.List(t.Context(), "", 0, 0); total != 4 || err != nil {
		t.Errorf("%d users, error %v; want 4", total, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "users.db" {
		t.Errorf("left behind: %v, error %v; want users.db", entries, err)
	}
}

// Stores that open at once build one template, and one that is of another schema or
// half a file is not taken.
func TestSQLiteTemplates(t *testing.T) {
	dir, templates := t.TempDir(), filepath.Join(t.TempDir(), "made", "here")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			r, err := Open(t.Context(), fmt.Sprintf("sqlite:%s/%d.db?template=%s", dir, i, templates), 500)
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			if u, err := r.Get(t.Context(), users.FirstID+499); err != nil || u != users.Seeded(499) {
				t.Errorf("the last user: %v, error %v", u, err)
			}
		})
	}
	all.Wait()
	built, err := filepath.Glob(filepath.Join(templates, "users-500-*"))
	if err != nil || len(built) != 1 {
		t.Fatalf("%v, error %v; want one template", built, err)
	}
	known, err := loadMigrations("sqlite")
	if err != nil {
		t.Fatal(err)
	}
	if a, b := fingerprint(known, 500), fingerprint(append(known, "ALTER TABLE users ADD x"), 500); a == b {
		t.Errorf("two schemas have the fingerprint %s", a)
	}
	if err := errors.Join(os.Rename(built[0], built[0]+".building"), os.Truncate(built[0]+".building", 5000)); err != nil {
		t.Fatal(err)
	}
	r := open(t, "sqlite:"+filepath.Join(dir, "after.db")+"?template="+templates, 500)
	if _, total, err := r.List(t.Context(), "", 0, 1); err != nil || total != 500 {
		t.Errorf("%d users, error %v; want 500", total, err)
	}
}

// A template that another program builds is waited for no longer than the context.
func TestSQLiteTemplateLocked(t *testing.T) {
	dir := t.TempDir()
	unlock, err := lockFile(t.Context(), filepath.Join(dir, "lock.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	r, err := Open(ctx, "sqlite:"+filepath.Join(t.TempDir(), "users.db")+"?template="+dir, 10)
	if err == nil {
		r.Close()
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that of the context", err)
	}
}

func TestSQLiteMigrates(t *testing.T) {
	file := filepath.Join(t.TempDir(), "some.db")
	db, err := openDB(file, "busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	first := []string{"CREATE TABLE a (x)"}
	both := append(first, "CREATE TABLE b (y); INSERT INTO b VALUES (1);")
	if err := migrateSQLite(t.Context(), db, first); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := migrateSQLite(t.Context(), db, both); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n, version := one(t, db, "SELECT count(*) FROM b"), one(t, db, "PRAGMA user_version"); n != 1 || version != 2 {
		t.Errorf("the second step was applied %d times, version %d; want once, 2", n, version)
	}
	if err := migrateSQLite(t.Context(), db, first); err == nil || !strings.Contains(err.Error(), "version 2, and this program knows of 1") {
		t.Errorf("a file of a newer program: error %v", err)
	}
	wrong := append(both, "CREATE TABLE c (z); CREATE TABLE a (x)")
	if err := migrateSQLite(t.Context(), db, wrong); err == nil || !strings.Contains(err.Error(), "migrate to version 3") {
		t.Errorf("a step that fails: error %v", err)
	}
	if n, version := one(t, db, "SELECT count(*) FROM sqlite_master WHERE name = 'c'"), one(t, db, "PRAGMA user_version"); n != 0 || version != 2 {
		t.Errorf("of a step that failed %d tables are left, version %d; want 0, 2", n, version)
	}
}

func one(t *testing.T, db *sql.DB, query string) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// 200 creators of 200 e-mails, while as many read, and another program writes.
func TestSQLiteIsNotLocked(t *testing.T) {
	name := "sqlite:" + filepath.Join(t.TempDir(), "users.db")
	r, other := open(t, name, 10), open(t, name, 10)
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			by := r
			if i%20 == 0 {
				by = other
			}
			u, err := by.Create(t.Context(), users.Draft{Name: "Ada Lund", Email: fmt.Sprintf("%d@example.com", i)}, time.Unix(1, 0))
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := r.Get(t.Context(), u.ID); err != nil {
				t.Error(err)
			}
			if _, _, err := r.List(t.Context(), "ada", 0, 10); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if _, total, err := r.List(t.Context(), "", 0, 1); err != nil || total != 210 {
		t.Errorf("%d users, error %v; want 210", total, err)
	}
}

// TestSQLiteFileIsPrivate: the files of a new store are for their owner only, with
// seeded users and without, and after a reset.
func TestSQLiteFileIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no modes")
	}
	for _, n := range []int{0, 3} {
		dir := t.TempDir()
		r := open(t, "sqlite:"+filepath.Join(dir, "users.db"), n)
		check := func(when string) {
			t.Helper()
			if _, err := r.Create(t.Context(), users.Draft{Name: "Ada Lund", Email: "ada@example.com"}, time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
			files, err := os.ReadDir(dir)
			if err != nil || len(files) < 2 { // the file and its log
				t.Fatalf("%d users, %s: %v, %v", n, when, files, err)
			}
			for _, f := range files {
				info, err := f.Info()
				if err != nil {
					t.Fatal(err)
				}
				if mode := info.Mode().Perm(); mode&0o077 != 0 {
					t.Errorf("%d users, %s: %s has mode %o, want 600", n, when, f.Name(), mode)
				}
			}
		}
		check("new")
		if err := r.Reset(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		check("reset")
	}
}
