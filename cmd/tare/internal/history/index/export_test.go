package index

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/history"
)

func export(t *testing.T, data string, studies ...string) (string, []history.DocumentInfo) {
	t.Helper()
	var b bytes.Buffer
	x := open(t, data)
	defer x.Close()
	kept, left, err := x.Export(t.Context(), &b, studies)
	if err != nil || len(left) > 0 {
		t.Fatal(err, left)
	}
	return b.String(), kept
}

// carry keeps what is in an archive and says how many it did not have.
func carry(t *testing.T, data, archive string) (taken int) {
	t.Helper()
	x := open(t, data)
	defer x.Close()
	err := history.Scan("x", strings.NewReader(archive), func(k history.DocumentInfo, text []byte) error {
		if path, err := x.Has(t.Context(), k.SHA256); err != nil || path != "" {
			return err
		}
		taken++
		_, err := history.ImportDocument(filepath.Join(data, "results", k.Study), k, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return taken
}

func TestAnArchiveComesBack(t *testing.T) {
	other := measured(5, 0.5, 0.1)
	other.Study, other.Seed = "other", "../../../etc"
	data := keepAll(t, measured(1, 0.6, 0.1), measured(0, 0.5, 0.1))
	write(t, filepath.Join(data, "results", "other", "20260301T120500Z-1", history.ResultName), document(t, other))
	first, kept := export(t, data)
	if len(kept) != 3 || strings.Count(first, "\n") != 3 || kept[0].Study != "s" || kept[2].Study != "other" {
		t.Fatalf("%+v", kept)
	}
	elsewhere := t.TempDir()
	if n := carry(t, elsewhere, first); n != 3 {
		t.Errorf("%d taken in", n)
	}
	if n := carry(t, elsewhere, first); n != 0 {
		t.Errorf("%d taken in again", n)
	}
	again, kept := export(t, elsewhere)
	if again != first {
		t.Errorf("another archive:\n%s\n%s", first, again)
	}
	if dir := filepath.Dir(kept[2].Path); dir != filepath.Join(elsewhere, "results", "other") {
		t.Errorf("kept in %s", dir)
	}
	if one, kept := export(t, data, "other"); len(kept) != 1 || !strings.HasSuffix(first, one) {
		t.Errorf("one study: %d", len(kept))
	}
	// A list counts as its first result, by whose hash the archive and the index know it.
	list := append(append(append(append([]byte("\ufeff["), document(t, measured(1, 0.6, 0.1))...), ','), document(t, other)...), ']')
	write(t, filepath.Join(data, "results", "s", "list", history.ResultName), list)
	if listed, _ := export(t, data); listed != first {
		t.Errorf("a list changed the archive:\n%s\n%s", listed, first)
	}
	// The same document twice is written once.
	write(t, filepath.Join(data, "results", "s", "by-hand", history.ResultName), document(t, measured(0, 0.5, 0.1)))
	if twice, _ := export(t, data); twice != first {
		t.Error("a copy changed the archive")
	}
}
