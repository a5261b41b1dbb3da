package index

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tarebench/tare/cmd/tare/internal/history"
)

// Export writes the results of studies, of all where none is named, one
// document a line, the oldest first. The same results give the same bytes,
// wherever they are kept; one that is there twice is written once. Documents
// that cannot be read are left out and named in left.
func (x *Index) Export(ctx context.Context, w io.Writer, studies []string) (kept []history.Kept, left []string, err error) {
	rows, err := x.db.QueryContext(ctx, "SELECT path, study, sha256, error FROM document ORDER BY started_ns, study, sha256, path")
	if err != nil {
		return nil, nil, unusable(err)
	}
	defer rows.Close()
	wanted := map[string]bool{}
	for _, s := range studies {
		wanted[s] = true
	}
	seen := map[string]bool{}
	out := bufio.NewWriter(w)
	for rows.Next() {
		var k history.Kept
		var why string
		if err := rows.Scan(&k.Path, &k.Study, &k.SHA256, &why); err != nil {
			return nil, nil, unusable(err)
		}
		if len(wanted) > 0 && !wanted[k.Study] || why == "" && seen[k.SHA256] {
			continue
		}
		if why != "" {
			left = append(left, why)
			continue
		}
		k.Path = filepath.Join(x.results, filepath.FromSlash(k.Path))
		src, err := os.ReadFile(filepath.Join(k.Path, history.ResultName))
		if err != nil {
			return nil, nil, err
		}
		text, sum, err := history.Compact(src)
		if err != nil || sum != k.SHA256 {
			return nil, nil, fmt.Errorf("%s changed while it was being read; export again", filepath.Join(k.Path, history.ResultName))
		}
		seen[sum] = true
		kept = append(kept, k)
		if _, err := out.Write(append(text, '\n')); err != nil {
			return nil, nil, err
		}
	}
	if err := rows.Err(); err != nil {
		return nil, nil, unusable(err)
	}
	return kept, left, out.Flush()
}

// Has reports where a document with that sum is kept; empty where it is not.
func (x *Index) Has(ctx context.Context, sum string) (path string, err error) {
	list, err := x.texts(ctx, "SELECT path FROM document WHERE sha256 = ? AND error = '' ORDER BY path LIMIT 1", sum)
	if err != nil || len(list) == 0 {
		return "", err
	}
	return filepath.Join(x.results, filepath.FromSlash(list[0])), nil
}
