package history

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tarebench/tare"
)

// digest is what of a result is needed to list it and to hold it against
// others: who measured what, where, with which modules, and what came out.
func digest(r *tare.Result) *tare.Result {
	m := r.Machine
	d := &tare.Result{
		Study: r.Study, Started: r.Started, Seconds: r.Seconds, Seed: r.Seed, RoundsDone: r.RoundsDone, Stopped: r.Stopped, Tare: r.Tare, Metrics: r.Metrics,
		Machine: tare.Machine{OS: m.OS, Arch: m.Arch, Kernel: m.Kernel, CPU: m.CPU, Cores: m.Cores, Memory: m.Memory, Go: m.Go},
	}
	for _, c := range r.Contenders {
		d.Contenders = append(d.Contenders, tare.Contender{ID: c.ID, Role: c.Role, Name: c.Name, Version: c.Version, Go: c.Go, Modules: c.Modules})
	}
	for _, w := range r.Workloads {
		d.Workloads = append(d.Workloads, tare.Workload{ID: w.ID, SHA256: w.SHA256})
	}
	for _, v := range r.Verdicts {
		v.Sentence = ""
		d.Verdicts = append(d.Verdicts, v)
	}
	for _, f := range r.Findings {
		if f.Severity == tare.Void {
			f.Message, f.Advice = "", ""
			d.Findings = append(d.Findings, f)
		}
	}
	return d
}

// stamp is how a file looked when it was read.
type stamp struct {
	id       int64
	size     int64
	modified int64 // nanoseconds
}

// Refresh makes the index agree with the documents: those that are there for
// the first time or look different are read, those that are gone are taken out.
func (x *Index) Refresh(ctx context.Context) error {
	runs, err := Runs(x.results)
	if err != nil {
		return err
	}
	known, err := x.known(ctx)
	if err != nil {
		return err
	}
	return within(ctx, x.db, func(tx *sql.Tx) error {
		for _, run := range runs {
			info, err := os.Stat(run.Result())
			if !run.Whole || err != nil {
				continue
			}
			path, err := x.relative(run.Dir)
			if err != nil {
				return err
			}
			now := stamp{size: info.Size(), modified: info.ModTime().UnixNano()}
			then, ok := known[path]
			delete(known, path)
			if ok && then.size == now.size && then.modified == now.modified {
				continue
			}
			if ok {
				if err := forget(ctx, tx, then.id); err != nil {
					return err
				}
			}
			if err := add(ctx, tx, path, now, run); err != nil {
				return err
			}
		}
		for _, gone := range known {
			if err := forget(ctx, tx, gone.id); err != nil {
				return err
			}
		}
		return nil
	})
}

func (x *Index) relative(dir string) (string, error) {
	path, err := filepath.Rel(x.results, dir)
	return filepath.ToSlash(path), err
}

func (x *Index) known(ctx context.Context) (map[string]stamp, error) {
	rows, err := x.db.QueryContext(ctx, "SELECT path, id, size_bytes, modified_ns FROM document")
	if err != nil {
		return nil, unusable(err)
	}
	defer rows.Close()
	all := map[string]stamp{}
	for rows.Next() {
		var path string
		var s stamp
		if err := rows.Scan(&path, &s.id, &s.size, &s.modified); err != nil {
			return nil, unusable(err)
		}
		all[path] = s
	}
	return all, unusable(rows.Err())
}

func forget(ctx context.Context, tx *sql.Tx, id int64) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM document WHERE id = ?", id)
	return err
}

// add reads a run's result into the index. One that cannot be read is noted
// and fails nothing.
func add(ctx context.Context, tx *sql.Tx, path string, at stamp, run Run) error {
	r, sum, err := one(run.Result())
	if ctx.Err() != nil {
		return ctx.Err()
	}
	study, started, why := run.Study, run.Begun, ""
	if err != nil {
		r, why = &tare.Result{}, oneLine(err.Error())
	} else {
		study = r.Study
		if !r.Started.IsZero() {
			started = r.Started
		}
	}
	text, err := json.Marshal(digest(r))
	if err != nil {
		return err
	}
	row, err := tx.ExecContext(ctx, "INSERT INTO document (path, size_bytes, modified_ns, sha256, study, started_ns, digest, error) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		path, at.size, at.modified, sum, study, nanoseconds(started), string(text), why)
	if err != nil {
		return err
	}
	id, err := row.LastInsertId()
	if err != nil {
		return err
	}
	insert, err := tx.PrepareContext(ctx, "INSERT OR IGNORE INTO pair VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer insert.Close()
	for _, p := range pairsOf(r) {
		if _, err := insert.ExecContext(ctx, id, p.Workload, p.Metric, p.Contender, p.Against, p.Ratio, p.Low, p.High, p.Level, p.Rounds, p.Void); err != nil {
			return err
		}
	}
	return nil
}

// nanoseconds since 1970; zero where the time is not known.
func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// one reads the result in a file and sums its content.
func one(path string) (*tare.Result, string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, "", err
	}
	if info.Size() > MaxBytes {
		_, err := File(path) // says so
		return nil, "", err
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, "", err
	}
	results, err := Parse(path, src)
	if err != nil {
		return nil, "", err
	}
	_, sum, err := compact(src)
	return results[0], sum, err
}

// compact is a JSON document without insignificant space, and the sum of that.
func compact(src []byte) (text []byte, sum string, err error) {
	var b bytes.Buffer
	if err := json.Compact(&b, bytes.TrimPrefix(src, []byte("\ufeff"))); err != nil {
		return nil, "", fmt.Errorf("not JSON: %w", err)
	}
	h := sha256.Sum256(b.Bytes())
	return b.Bytes(), hex.EncodeToString(h[:]), nil
}
