package index

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/history"
)

// Export writes the results of studies, one document per line, the oldest first. If studies is empty,
// it writes all. The output depends only on the results, not on their directories. It has each document
// once. The list unreadable describes documents that it skips.
func (x *Index) Export(ctx context.Context, w io.Writer, studies []string) (exported []history.DocumentInfo, unreadable []string, err error) {
	out := bufio.NewWriter(w)
	seen := map[string]bool{} // hashes of exported documents
	err = x.forEachRow(ctx, func(rows *sql.Rows) error {
		var k history.DocumentInfo
		var why string
		if err := rows.Scan(&k.Path, &k.Study, &k.SHA256, &why); err != nil {
			return err
		}
		isOther := len(studies) > 0 && !slices.Contains(studies, k.Study)
		switch {
		case isOther:
			return nil
		case why != "":
			unreadable = append(unreadable, why)
			return nil
		case seen[k.SHA256]:
			return nil
		}
		seen[k.SHA256] = true
		k.Path = filepath.Join(x.results, filepath.FromSlash(k.Path))
		exported = append(exported, k)
		return writeDocument(out, k)
	}, "SELECT path, study, sha256, error FROM document ORDER BY started_ns, study, sha256, path")
	if err != nil {
		return nil, nil, err
	}
	return exported, unreadable, out.Flush()
}

// writeDocument writes the document k as a line. It fails if the file has changed since it was indexed.
func writeDocument(w io.Writer, k history.DocumentInfo) error {
	path := filepath.Join(k.Path, history.ResultName)
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text, sum, err := history.Compact(src)
	if err != nil || sum != k.SHA256 {
		return fmt.Errorf("%s changed while it was being read; export again", path)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// Has returns the directory of a readable document with this hash, or "".
func (x *Index) Has(ctx context.Context, sum string) (path string, err error) {
	list, err := x.queryTexts(ctx, "SELECT path FROM document WHERE sha256 = ? AND error = '' ORDER BY path LIMIT 1", sum)
	if err != nil || len(list) == 0 {
		return "", err
	}
	return filepath.Join(x.results, filepath.FromSlash(list[0])), nil
}
