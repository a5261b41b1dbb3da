package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users"
)

// untilFull creates users until that fails, and wants that all who were created are
// there, and nobody else.
func untilFull(t *testing.T, r users.Repository, n int) {
	t.Helper()
	var err error
	created := 0
	for err == nil {
		_, err = r.Create(t.Context(), users.Draft{Name: "Ada Lund", Email: fmt.Sprintf("full%d@example.com", created)}, time.Unix(1, 0))
		if err == nil {
			created++
		}
		if created > 1_000_000 {
			t.Fatal("the disk does not fill up")
		}
	}
	if errors.Is(err, users.ErrEmailTaken) || errors.Is(err, users.ErrNotFound) || !strings.Contains(err.Error(), "full") {
		t.Fatalf("error %v of a full disk", err)
	}
	t.Logf("after %d users: %v", created, err)
	if created == 0 {
		t.Error("no room for anybody")
	}
	if _, total, err := r.List(t.Context(), "", 0, 1); err != nil || total != int64(n+created) {
		t.Errorf("%d users, error %v; want %d", total, err, n+created)
	}
	if u, err := r.Get(t.Context(), users.FirstID+1); err != nil || u != users.Seeded(1) {
		t.Errorf("get: %v, error %v", u, err)
	}
}

func TestSQLiteFileFull(t *testing.T) {
	const n = 100
	r := open(t, "sqlite:"+filepath.Join(t.TempDir(), "users.db"), n)
	db := r.(*sqlite).db.writer // one connection, so that the limit is that of all writes
	if _, err := db.ExecContext(t.Context(), "PRAGMA max_page_count = 40"); err != nil {
		t.Fatal(err)
	}
	untilFull(t, r, n)
	if _, err := db.ExecContext(t.Context(), "PRAGMA max_page_count = 4000"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Create(t.Context(), users.Draft{Name: "Ada Lund", Email: "later@example.com"}, time.Unix(1, 0)); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

func TestSQLiteDiskFull(t *testing.T) {
	const n = 1000
	dir, templates := smallDisk(t), t.TempDir()
	file := filepath.Join(dir, "users.db")
	r := open(t, "sqlite:"+file+"?template="+templates, n)
	untilFull(t, r, n)

	// There is no room for a copy either, and the file stays what it was.
	_, before, err := r.List(t.Context(), "", 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Reset(t.Context(), 20*n); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("reset to more than the disk holds: error %v", err)
	}
	if _, total, err := r.List(t.Context(), "", 0, 1); err != nil || total != before {
		t.Errorf("after a reset that failed %d users, error %v; want %d", total, err, before)
	}
	if left, _ := filepath.Glob(file + ".new-*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := os.Remove(filepath.Join(dir, "ballast")); err != nil {
		t.Fatal(err)
	}
	if err := r.Reset(t.Context(), n); err != nil {
		t.Errorf("reset with room again: %v", err)
	}
	if _, err := r.Create(t.Context(), users.Draft{Name: "Ada Lund", Email: "later@example.com"}, time.Unix(1, 0)); err != nil {
		t.Errorf("create with room again: %v", err)
	}
}
