// Package index stores digests, small extracts of result documents, in a database. So queries such as
// Trend need not read all results. The database is history.db in the data directory.
package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver" // the database driver

	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/machine"
)

// Name is the file name of the index in the data directory. A process locks lockName while it uses the
// index.
const (
	Name     = "history.db"
	lockName = "history.lock"
)

// lockTimeout is the longest wait for another process.
const lockTimeout = 10 * time.Second

// Index is a database of the digests of stored results. It is updated from the documents whenever it is
// opened, and built again if it is damaged.
type Index struct {
	Notes []string // one-line messages: the index was damaged, or cannot be stored

	db      *sql.DB // nil if closed
	results string  // directory of the documents
	unlock  func()  // releases the lock
}

// Open opens the index in the directory data, and updates it from the documents in data/results. If it
// cannot store the index there, it builds one in memory. Only one process at a time can open the index.
// SQLite's machine code is stored in the directory cache, if that exists. The first call in a process
// must have returned before the next one begins.
func Open(ctx context.Context, data, cache string) (*Index, error) {
	x := &Index{results: filepath.Join(data, "results"), unlock: func() {}}
	if err := startEngine(cache); err != nil {
		return nil, err
	}
	if !isDir(data) { // nothing was ever stored, and a query must not create the directory
		return x, x.buildInMemory(ctx)
	}
	lockCtx, cancel := context.WithTimeoutCause(ctx, lockTimeout, errors.New("waited too long"))
	defer cancel()
	unlock, err := machine.Lock(lockCtx, filepath.Join(data, lockName), nil)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		x.Notes = append(x.Notes, fmt.Sprintf("the index of results is not stored this time: %s", format.Line(err.Error(), 0)))
		return x, x.buildInMemory(ctx)
	}
	x.unlock = unlock
	path := filepath.Join(data, Name)
	if err = x.openFile(ctx, path); err == nil {
		return x, nil
	}
	_ = x.closeDB() // err is the error to report
	if err := x.rebuild(ctx, path, err); err != nil {
		x.Close()
		return nil, err
	}
	return x, nil
}

// rebuild builds the index again after err, in memory if it must.
func (x *Index) rebuild(ctx context.Context, path string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if unreadable := (*unreadableError)(nil); errors.As(err, &unreadable) {
		return fmt.Errorf("cannot read the results: %w", unreadable.error)
	}
	if errors.Is(err, errNotIndex) {
		x.Notes = append(x.Notes, fmt.Sprintf("%s was damaged; it was made again from the results", path))
	}
	if errors.Is(err, errOtherVersion) || errors.Is(err, errNotIndex) {
		if err = x.replaceFile(ctx, path); err == nil {
			return nil
		}
	}
	x.Notes = append(x.Notes, fmt.Sprintf("the index of results is not stored this time: cannot use %s: %s", path, format.Line(err.Error(), 0)))
	return x.buildInMemory(ctx)
}

func (x *Index) replaceFile(ctx context.Context, path string) error {
	if err := removeDatabase(path); err != nil {
		return err
	}
	err := x.openFile(ctx, path)
	if err != nil {
		_ = x.closeDB() // the first error is the one to report
	}
	return err
}

func removeDatabase(path string) error {
	for _, name := range []string{path, path + "-journal", path + "-wal", path + "-shm"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (x *Index) openFile(ctx context.Context, path string) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return errors.New("it is not a regular file")
	}
	if err := x.connect(ctx, path); err != nil {
		return err
	}
	return x.Refresh(ctx)
}

func (x *Index) buildInMemory(ctx context.Context) error {
	err := x.connect(ctx, ":memory:")
	if err == nil {
		err = x.Refresh(ctx)
	}
	if err != nil {
		_ = x.closeDB() // err is the error to report
		return fmt.Errorf("make the index of results: %w", err)
	}
	return nil
}

// connect opens the database at a path or :memory:, and creates missing tables.
func (x *Index) connect(ctx context.Context, source string) error {
	db, err := sql.Open("sqlite3", source)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1) // with :memory:, each connection would open a new database
	x.db = db
	return prepareTables(ctx, db)
}

// Close closes the index, so that another process can open it.
func (x *Index) Close() error {
	err := x.closeDB()
	x.unlock()
	return err
}

func (x *Index) closeDB() error {
	if x.db == nil {
		return nil
	}
	err := x.db.Close()
	x.db = nil
	return err
}
