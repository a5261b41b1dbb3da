// Package index stores the digests of results in a database, history.db in the data directory, so that
// queries such as Trend need not read all results.
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

// Name is the file name of the index in the data directory. lockName is the name of the file that a process
// locks while it uses the index.
const (
	Name     = "history.db"
	lockName = "history.lock"
)

// lockTimeout is the longest wait until another process releases the index.
const lockTimeout = 10 * time.Second

// Index is a database of the digests of stored results. The documents are authoritative: the index is built
// from them if it is missing, damaged or of another version, and updated whenever it is opened.
type Index struct {
	Notes []string // for the user, a line each: the index was damaged, or cannot be stored

	db      *sql.DB // nil if closed
	results string  // directory of the documents
	unlock  func()  // releases the lock
}

// Open opens the index in the data directory, and updates it from the documents in the directory
// results of data. If the index cannot be stored, it is built in memory, and Notes gives the reason.
// Only one process at a time can open it. SQLite's machine code is stored in the cache directory, if
// that exists. The first call in a process must have returned before the next one begins.
func Open(ctx context.Context, data, cache string) (*Index, error) {
	x := &Index{results: filepath.Join(data, "results"), unlock: func() {}}
	if err := startEngine(cache); err != nil {
		return nil, err
	}
	if !isDir(data) { // nothing was ever stored, and a query must not create the directory
		return x, x.inMemory(ctx)
	}
	lockCtx, cancel := context.WithTimeoutCause(ctx, lockTimeout, errors.New("waited too long"))
	defer cancel()
	unlock, err := machine.Lock(lockCtx, filepath.Join(data, lockName), nil)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		x.Notes = append(x.Notes, fmt.Sprintf("the index of results is not stored this time: %s", format.Line(err.Error(), 0)))
		return x, x.inMemory(ctx)
	}
	x.unlock = unlock
	path := filepath.Join(data, Name)
	if err = x.openFile(ctx, path); err == nil {
		return x, nil
	}
	_ = x.closeDB()
	if err := x.rebuild(ctx, path, err); err != nil {
		x.Close()
		return nil, err
	}
	return x, nil
}

// rebuild builds the index again after opening it has failed with why. If its file cannot be used,
// it builds the index in memory.
func (x *Index) rebuild(ctx context.Context, path string, why error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if unreadable := (*unreadableError)(nil); errors.As(why, &unreadable) {
		return fmt.Errorf("cannot read the results: %w", unreadable.error)
	}
	if errors.Is(why, errOtherVersion) || errors.Is(why, errNotIndex) {
		if errors.Is(why, errNotIndex) {
			x.Notes = append(x.Notes, fmt.Sprintf("%s was damaged; it was made again from the results", path))
		}
		if why = removeFiles(path); why == nil {
			if why = x.openFile(ctx, path); why == nil {
				return nil
			}
			_ = x.closeDB()
		}
	}
	x.Notes = append(x.Notes, fmt.Sprintf("the index of results is not stored this time: cannot use %s: %s", path, format.Line(why.Error(), 0)))
	return x.inMemory(ctx)
}

// removeFiles removes the files of a database.
func removeFiles(path string) error {
	for _, name := range []string{path, path + "-journal", path + "-wal", path + "-shm"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// openFile opens the database at path and updates it.
func (x *Index) openFile(ctx context.Context, path string) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return errors.New("it is not a regular file")
	}
	if err := x.connect(ctx, path); err != nil {
		return err
	}
	return x.Refresh(ctx)
}

// inMemory builds the index in memory.
func (x *Index) inMemory(ctx context.Context) error {
	if err := x.connect(ctx, ":memory:"); err != nil {
		return fmt.Errorf("make the index of results: %w", err)
	}
	if err := x.Refresh(ctx); err != nil {
		_ = x.closeDB()
		return fmt.Errorf("make the index of results: %w", err)
	}
	return nil
}

// connect opens the database source, a path or :memory:, and creates its tables if it is empty.
func (x *Index) connect(ctx context.Context, source string) error {
	db, err := sql.Open("sqlite3", source)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1) // each connection has its own database in memory
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
