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

// Export writes the results of studies, or of all studies if none are named, one document per line, the oldest
// first. The output depends only on the results, not on their directories; duplicates are written once. left
// describes unreadable documents, which Export skips.
func (x *Index) Export(ctx context.Context, w io.Writer, studies []string) (exported []history.DocumentInfo, left []string, err error) {
	rows, err := x.db.QueryContext(ctx, "SELECT path, study, sha256, error FROM document ORDER BY started_ns, study, sha256, path")
	if err != nil {
		return nil, nil, classifyError(err)
	}
	defer rows.Close()
	wanted := map[string]bool{}
	for _, s := range studies {
		wanted[s] = true
	}
	seen := map[string]bool{}
	out := bufio.NewWriter(w)
	for rows.Next() {
		var k history.DocumentInfo
		var why string
		if err := rows.Scan(&k.Path, &k.Study, &k.SHA256, &why); err != nil {
			return nil, nil, classifyError(err)
		}
		isOther := len(wanted) > 0 && !wanted[k.Study]
		isDuplicate := why == "" && seen[k.SHA256]
		if isOther || isDuplicate {
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
		exported = append(exported, k)
		if _, err := out.Write(append(text, '\n')); err != nil {
			return nil, nil, err
		}
	}
	if err := rows.Err(); err != nil {
		return nil, nil, classifyError(err)
	}
	return exported, left, out.Flush()
}

// Has returns the directory of a readable document with this hash, or "" if the index has no such document.
func (x *Index) Has(ctx context.Context, sum string) (path string, err error) {
	list, err := x.queryTexts(ctx, "SELECT path FROM document WHERE sha256 = ? AND error = '' ORDER BY path LIMIT 1", sum)
	if err != nil || len(list) == 0 {
		return "", err
	}
	return filepath.Join(x.results, filepath.FromSlash(list[0])), nil
}
