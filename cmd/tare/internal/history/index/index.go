// Package index stores the digests of results in a database, so that questions about many of them
// need not read them all.
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

// Name is the file name of the index in the data directory, and lockName that of the file that at
// most one tare at a time locks while it uses it.
const (
	Name     = "history.db"
	lockName = "history.lock"
)

// lockTimeout bounds the wait for another tare to release the index.
const lockTimeout = 10 * time.Second

// Index is a database of the digests of stored results, so that a question about many of them need
// not read them all. The documents are authoritative: the index is made from them if it is missing,
// damaged or of another version, and updated whenever it is opened.
type Index struct {
	Notes []string // for the user, a line each: that it was damaged, or cannot be written

	db      *sql.DB
	results string // directory of the documents
	unlock  func()
}

// Open opens the index in the data directory, and updates it to the documents in its results
// directory. If the index cannot be stored it is made in memory, which Notes reports. Only one
// process at a time has it open. SQLite's machine code is stored in the cache directory, if that
// exists. The first call in a process must have returned before the next one.
func Open(ctx context.Context, data, cache string) (*Index, error) {
	x := &Index{results: filepath.Join(data, "results"), unlock: func() {}}
	if err := startEngine(cache); err != nil {
		return nil, err
	}
	if !isDir(data) { // nothing was ever stored, and a query stores nothing
		return x, x.inMemory(ctx)
	}
	waiting, cancel := context.WithTimeoutCause(ctx, lockTimeout, errors.New("waited too long"))
	defer cancel()
	unlock, err := machine.Lock(waiting, filepath.Join(data, lockName), nil)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		x.Notes = append(x.Notes, fmt.Sprintf("the index of results is not kept this time: %s", format.Line(err.Error(), 0)))
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

// rebuild makes the index from scratch after it could not be used, in memory if need be.
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
	x.Notes = append(x.Notes, fmt.Sprintf("the index of results is not kept this time: cannot use %s: %s", path, format.Line(why.Error(), 0)))
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

// connect opens the database of source and makes its tables if it is empty.
func (x *Index) connect(ctx context.Context, source string) error {
	db, err := sql.Open("sqlite3", source)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1) // a database in memory is in one connection
	x.db = db
	return prepareTables(ctx, db)
}

// Close releases the index for the next tare.
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
