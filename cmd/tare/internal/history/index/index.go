// Package index keeps what the stored results say in a database, so that
// questions about many of them need not read them all.
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

// Name is the file name of the index in the data directory, and lockName
// that of the file that at most one tare at a time holds while it uses it.
const (
	Name     = "history.db"
	lockName = "history.lock"
)

// patience is how long the index waits for another tare to be done with it.
const patience = 10 * time.Second

// Index is a database of what the kept results say, so that a question about
// many of them need not read them all. The documents stay the truth: the index
// is made from them where it is missing, damaged or of another version, and
// brought up to date whenever it is opened.
type Index struct {
	Notes []string // what its user should know, a line each: that it was damaged, or cannot be written

	db      *sql.DB
	results string // directory of the documents
	unlock  func()
}

// Open opens the index in the data directory, which agrees with the documents
// in its results directory afterwards. Where the index cannot be kept it is
// made in memory, which Notes says. Only one process at a time has it open.
// SQLite's machine code is kept in the cache directory, if that is there. The
// first call in a process must have come back before there is another.
func Open(ctx context.Context, data, cache string) (*Index, error) {
	x := &Index{results: filepath.Join(data, "results"), unlock: func() {}}
	if err := engine(cache); err != nil {
		return nil, err
	}
	if !there(data) { // nothing was ever kept, and asking keeps nothing
		return x, x.inMemory(ctx)
	}
	waiting, cancel := context.WithTimeoutCause(ctx, patience, errors.New("waited too long"))
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
	if err = x.open(ctx, path); err == nil {
		return x, nil
	}
	_ = x.shut()
	if err := x.again(ctx, path, err); err != nil {
		x.Close()
		return nil, err
	}
	return x, nil
}

// again makes the index anew after it could not be used, in memory if need be.
func (x *Index) again(ctx context.Context, path string, why error) error {
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
		if why = discard(path); why == nil {
			if why = x.open(ctx, path); why == nil {
				return nil
			}
			_ = x.shut()
		}
	}
	x.Notes = append(x.Notes, fmt.Sprintf("the index of results is not kept this time: cannot use %s: %s", path, format.Line(why.Error(), 0)))
	return x.inMemory(ctx)
}

// discard takes the files of a database away.
func discard(path string) error {
	for _, name := range []string{path, path + "-journal", path + "-wal", path + "-shm"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// open opens the database at path and brings it up to date.
func (x *Index) open(ctx context.Context, path string) error {
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
		_ = x.shut()
		return fmt.Errorf("make the index of results: %w", err)
	}
	return nil
}

// connect opens the database that source names and makes its tables where it
// is empty.
func (x *Index) connect(ctx context.Context, source string) error {
	db, err := sql.Open("sqlite3", source)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1) // what is in memory is in one connection
	x.db = db
	return prepare(ctx, db)
}

// Close lets the next tare have the index.
func (x *Index) Close() error {
	err := x.shut()
	x.unlock()
	return err
}

func (x *Index) shut() error {
	if x.db == nil {
		return nil
	}
	err := x.db.Close()
	x.db = nil
	return err
}
