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

// Trend returns the history of a study. It is empty if the study has no results, and also if the query has an
// unknown metric, contender or workload, which the caller can check with [Index.Names].
func (x *Index) Trend(ctx context.Context, q history.Query) (history.Trend, error) {
	stored, left, err := x.storedResults(ctx, q.Study)
	if err != nil {
		return history.Trend{}, err
	}
	t, err := history.NewTrend(q, stored, func(id int64, metric, against string) ([]history.Pair, error) {
		return x.queryPairs(ctx, id, metric, against)
	})
	t.Left = left
	return t, err
}

// storedResults returns the readable results of a study, the oldest first, and a line for each unreadable
// result.
func (x *Index) storedResults(ctx context.Context, study string) (all []history.Stored, left []string, err error) {
	rows, err := x.db.QueryContext(ctx, "SELECT id, path, started_ns, digest, error FROM document WHERE study = ? ORDER BY started_ns, path", study)
	if err != nil {
		return nil, nil, classifyError(err)
	}
	defer rows.Close()
	for rows.Next() {
		var s history.Stored
		var started int64
		var text, why string
		if err := rows.Scan(&s.ID, &s.Path, &started, &text, &why); err != nil {
			return nil, nil, classifyError(err)
		}
		if why != "" {
			left = append(left, why)
			continue
		}
		if err := json.Unmarshal([]byte(text), &s.Digest); err != nil {
			return nil, nil, fmt.Errorf("%w: %w", errNotIndex, err)
		}
		if started != 0 {
			s.Started = time.Unix(0, started).UTC()
		}
		s.Path = filepath.Join(x.results, filepath.FromSlash(s.Path))
		all = append(all, s)
	}
	return all, left, classifyError(rows.Err())
}

// queryPairs returns the pairs of a document in which against takes part, turned so that it is the reference.
func (x *Index) queryPairs(ctx context.Context, document int64, metric, against string) ([]history.Pair, error) {
	rows, err := x.db.QueryContext(ctx, `SELECT workload, metric, contender, against, ratio, low, high, level, rounds, void, value, other FROM pair
		WHERE document = ? AND metric = ? AND (contender = ? OR against = ?)`, document, metric, against, against)
	if err != nil {
		return nil, classifyError(err)
	}
	defer rows.Close()
	var out []history.Pair
	for rows.Next() {
		var p history.Pair
		var value, other sql.NullFloat64
		if err := rows.Scan(&p.Workload, &p.Metric, &p.Contender, &p.Against, &p.Ratio, &p.Low, &p.High, &p.Level, &p.Rounds, &p.Void, &value, &other); err != nil {
			return nil, classifyError(err)
		}
		if value.Valid && other.Valid {
			p.Count = &history.Count{Value: value.Float64, Against: other.Float64}
		}
		if p.Against != against {
			p = p.Inverted()
		}
		out = append(out, p)
	}
	return out, classifyError(rows.Err())
}

// Digests returns the digests of all results, by directory.
func (x *Index) Digests(ctx context.Context) (map[string]history.Digest, error) {
	rows, err := x.db.QueryContext(ctx, "SELECT path, digest, error FROM document")
	if err != nil {
		return nil, classifyError(err)
	}
	defer rows.Close()
	all := map[string]history.Digest{}
	for rows.Next() {
		var path, text string
		var d history.Digest
		if err := rows.Scan(&path, &text, &d.Error); err != nil {
			return nil, classifyError(err)
		}
		if err := json.Unmarshal([]byte(text), &d.Result); err != nil {
			return nil, fmt.Errorf("%w: %w", errNotIndex, err)
		}
		all[filepath.Join(x.results, filepath.FromSlash(path))] = d
	}
	return all, classifyError(rows.Err())
}
