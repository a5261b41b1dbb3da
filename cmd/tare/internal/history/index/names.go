package index

import (
	"context"
	"fmt"
	"slices"
)

// Names contains the names in the results of a study.
type Names struct {
	Metrics    []string // in the order of the newest run
	Contenders []string // sorted, like Workloads
	Workloads  []string
}

// Names returns the names that queries about a study can use.
func (x *Index) Names(ctx context.Context, study string) (Names, error) {
	var n Names
	for _, column := range []struct {
		query string
		names *[]string
	}{
		{"SELECT DISTINCT contender FROM pair JOIN document ON document.id = pair.document WHERE study = ?1 UNION SELECT DISTINCT against FROM pair JOIN document ON document.id = pair.document WHERE study = ?1", &n.Contenders},
		{"SELECT DISTINCT workload FROM pair JOIN document ON document.id = pair.document WHERE study = ?1", &n.Workloads},
	} {
		list, err := x.queryTexts(ctx, column.query, study)
		if err != nil {
			return n, err
		}
		slices.Sort(list)
		*column.names = list
	}
	stored, _, err := x.storedResults(ctx, study)
	for _, r := range slices.Backward(stored) {
		for _, m := range r.Digest.Metrics {
			if !slices.Contains(n.Metrics, m) {
				n.Metrics = append(n.Metrics, m)
			}
		}
	}
	return n, err
}

// Studies lists the studies with stored results, sorted. The names are those in the results; names of
// directories lack some characters.
func (x *Index) Studies(ctx context.Context) ([]string, error) {
	return x.queryTexts(ctx, "SELECT DISTINCT study FROM document WHERE study <> '' ORDER BY study")
}

// queryTexts returns the first column of a query.
func (x *Index) queryTexts(ctx context.Context, query string, args ...any) ([]string, error) {
	rows, err := x.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, classifyError(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, fmt.Errorf("read the index of results: %w", classifyError(err))
		}
		out = append(out, text)
	}
	return out, classifyError(rows.Err())
}
