package index

import (
	"context"
	"database/sql"
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

// Studies lists the ids of the studies with stored results, sorted. The names of directories lack some
// characters of ids.
func (x *Index) Studies(ctx context.Context) ([]string, error) {
	return x.queryTexts(ctx, "SELECT DISTINCT study FROM document WHERE study <> '' ORDER BY study")
}

func (x *Index) queryTexts(ctx context.Context, query string, args ...any) (texts []string, err error) {
	err = x.forEachRow(ctx, func(rows *sql.Rows) error {
		var text string
		err := rows.Scan(&text)
		texts = append(texts, text)
		return err
	}, query, args...)
	return texts, err
}

// forEachRow calls read for each row of a query, up to the first error.
func (x *Index) forEachRow(ctx context.Context, read func(rows *sql.Rows) error, query string, args ...any) error {
	rows, err := x.db.QueryContext(ctx, query, args...)
	if err != nil {
		return classifyError(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := read(rows); err != nil {
			return classifyError(err)
		}
	}
	return classifyError(rows.Err())
}
