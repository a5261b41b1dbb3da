package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/internal/format"
)

// stamp identifies the version of a document in the index. If size or time differ, the document must be
// read again.
type stamp struct {
	id       int64 // row; 0 if the document is not in the index
	size     int64 // bytes
	modified int64 // ns since 1970; 0 if the document must be read again
}

// Refresh reads new and changed documents into the index, and removes documents that no longer exist.
func (x *Index) Refresh(ctx context.Context) error {
	runs, err := history.Runs(x.results)
	if err != nil {
		return &unreadableError{err}
	}
	known, err := x.knownFiles(ctx)
	if err != nil {
		return err
	}
	return inTransaction(ctx, x.db, func(tx *sql.Tx) error {
		for _, run := range runs {
			if !run.Whole {
				continue // it has no result
			}
			info, err := os.Stat(run.Result())
			if errors.Is(err, fs.ErrNotExist) { // it was removed since the directory was listed
				continue
			}
			if err != nil {
				return &unreadableError{err}
			}
			path, err := x.relativePath(run.Dir)
			if err != nil {
				return err
			}
			current := stamp{size: info.Size(), modified: info.ModTime().UnixNano()}
			indexed, ok := known[path]
			delete(known, path)
			isUnchanged := indexed.size == current.size && indexed.modified == current.modified
			if ok && isUnchanged {
				continue
			}
			if ok { // replace it
				if err := deleteDocument(ctx, tx, indexed.id); err != nil {
					return err
				}
			}
			if err := addDocument(ctx, tx, path, current, run); err != nil {
				return err
			}
		}
		for _, gone := range known { // known now contains only documents that no longer exist
			if err := deleteDocument(ctx, tx, gone.id); err != nil {
				return err
			}
		}
		return nil
	})
}

// unreadableError means that the index must keep the entries of some documents.
type unreadableError struct{ error }

func (e *unreadableError) Unwrap() error { return e.error }

func (x *Index) relativePath(dir string) (string, error) {
	path, err := filepath.Rel(x.results, dir)
	return filepath.ToSlash(path), err
}

func (x *Index) knownFiles(ctx context.Context) (map[string]stamp, error) {
	all := map[string]stamp{}
	err := x.forEachRow(ctx, func(rows *sql.Rows) error {
		var path string
		var s stamp
		err := rows.Scan(&path, &s.id, &s.size, &s.modified)
		all[path] = s
		return err
	}, "SELECT path, id, size_bytes, modified_ns FROM document")
	return all, err
}

func deleteDocument(ctx context.Context, tx *sql.Tx, id int64) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM document WHERE id = ?", id)
	return err
}

// addDocument reads the result of a run into the index. If the document is not a valid result, its row
// contains the reason. After an error of the disk, the next Refresh reads it again.
func addDocument(ctx context.Context, tx *sql.Tx, path string, version stamp, run history.Run) error {
	r, sum, err := history.ReadFirst(run.Result())
	if ctx.Err() != nil {
		return ctx.Err()
	}
	study, started, why := run.Study, run.Begun, ""
	if err != nil {
		r, why = &tare.Result{}, format.Line(err.Error(), 0)
		if invalid := (*history.Error)(nil); !errors.As(err, &invalid) { // an error of the operating system
			version.modified = 0
		}
	} else {
		study = r.Study
		if !r.Started.IsZero() {
			started = r.Started
		}
	}
	text, err := json.Marshal(history.DigestOf(r))
	if err != nil {
		return err
	}
	row, err := tx.ExecContext(ctx, "INSERT INTO document (path, size_bytes, modified_ns, sha256, study, started_ns, digest, error) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		path, version.size, version.modified, sum, study, unixNanos(started), string(text), why)
	if err != nil {
		return err
	}
	id, err := row.LastInsertId()
	if err != nil {
		return err
	}
	insert, err := tx.PrepareContext(ctx, "INSERT OR IGNORE INTO pair VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer insert.Close()
	for _, p := range history.PairsOf(r) {
		var value, other sql.NullFloat64
		if p.Count != nil {
			value, other = sql.NullFloat64{Float64: p.Count.Value, Valid: true}, sql.NullFloat64{Float64: p.Count.Against, Valid: true}
		}
		if _, err := insert.ExecContext(ctx, id, p.Workload, p.Metric, p.Contender, p.Against, p.Ratio, p.Low, p.High, p.Level, p.Rounds, p.Void, value, other); err != nil {
			return err
		}
	}
	return nil
}

// unixNanos returns ns since 1970, or 0 for the zero time, which means unknown.
func unixNanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
