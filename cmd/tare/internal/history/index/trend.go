package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/history"
)

// Trend returns the ratios of a study from run to run. It is empty if nothing matches the query, see
// [Index.Names].
func (x *Index) Trend(ctx context.Context, query history.Query) (history.Trend, error) {
	stored, unreadable, err := x.storedResults(ctx, query.Study)
	if err != nil {
		return history.Trend{}, err
	}
	t, err := history.NewTrend(query, stored, func(id int64, metric, against string) ([]history.Pair, error) {
		return x.queryPairs(ctx, id, metric, against)
	})
	t.Unreadable = unreadable
	return t, err
}

// storedResults returns the digests of a study, the oldest first, and a line for each unreadable
// result.
func (x *Index) storedResults(ctx context.Context, study string) (all []history.Stored, unreadable []string, err error) {
	err = x.forEachRow(ctx, func(rows *sql.Rows) error {
		var s history.Stored
		var started int64
		var text, why string
		if err := rows.Scan(&s.ID, &s.Path, &started, &text, &why); err != nil {
			return err
		}
		if why != "" {
			unreadable = append(unreadable, why)
			return nil
		}
		if err := json.Unmarshal([]byte(text), &s.Digest); err != nil {
			return fmt.Errorf("%w: %w", errNotIndex, err)
		}
		if started != 0 {
			s.Started = time.Unix(0, started).UTC()
		}
		s.Path = filepath.Join(x.results, filepath.FromSlash(s.Path))
		all = append(all, s)
		return nil
	}, "SELECT id, path, started_ns, digest, error FROM document WHERE study = ? ORDER BY started_ns, path", study)
	return all, unreadable, err
}

// queryPairs returns the pairs of a document with the contender against. It inverts some of them, so that
// against is the reference of all.
func (x *Index) queryPairs(ctx context.Context, document int64, metric, against string) (pairs []history.Pair, err error) {
	err = x.forEachRow(ctx, func(rows *sql.Rows) error {
		var p history.Pair
		var value, other sql.NullFloat64
		if err := rows.Scan(&p.Workload, &p.Metric, &p.Contender, &p.Against, &p.Ratio, &p.Low, &p.High, &p.Level, &p.Rounds, &p.Void, &value, &other); err != nil {
			return err
		}
		if value.Valid && other.Valid {
			p.Count = &history.Count{Value: value.Float64, Against: other.Float64}
		}
		if p.Against != against { // against is the contender
			p = p.Inverted()
		}
		pairs = append(pairs, p)
		return nil
	}, `SELECT workload, metric, contender, against, ratio, low, high, level, rounds, void, value, other FROM pair
		WHERE document = ? AND metric = ? AND (contender = ? OR against = ?)`, document, metric, against, against)
	return pairs, err
}

// Digests returns the digests of all results, by directory.
func (x *Index) Digests(ctx context.Context) (map[string]history.Digest, error) {
	all := map[string]history.Digest{}
	err := x.forEachRow(ctx, func(rows *sql.Rows) error {
		var path, text string
		var d history.Digest
		if err := rows.Scan(&path, &text, &d.Error); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(text), &d.Result); err != nil {
			return fmt.Errorf("%w: %w", errNotIndex, err)
		}
		all[filepath.Join(x.results, filepath.FromSlash(path))] = d
		return nil
	}, "SELECT path, digest, error FROM document")
	return all, err
}
