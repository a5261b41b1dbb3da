package history

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

func export(t *testing.T, data string, studies ...string) (string, []Kept) {
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
	err := Scan("x", strings.NewReader(archive), func(k Kept, text []byte) error {
		if path, err := x.Has(t.Context(), k.SHA256); err != nil || path != "" {
			return err
		}
		taken++
		_, err := Keep(filepath.Join(data, "results", k.Study), k, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return taken
}

func TestAnArchiveComesBack(t *testing.T) {
	other := weighed(5, 0.5, 0.1)
	other.Study, other.Seed = "other", "../../../etc"
	data := keepAll(t, weighed(1, 0.6, 0.1), weighed(0, 0.5, 0.1))
	write(t, filepath.Join(data, "results", "other", "20260301T120500Z-1", ResultName), document(t, other))
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
	// The same document twice is written once.
	write(t, filepath.Join(data, "results", "s", "by-hand", ResultName), document(t, weighed(0, 0.5, 0.1)))
	if twice, _ := export(t, data); twice != first {
		t.Error("a copy changed the archive")
	}
}

func TestScanTakesWhatHoldsResults(t *testing.T) {
	doc := string(document(t, sample()))
	if n := carry(t, t.TempDir(), ""); n != 0 {
		t.Errorf("%d in an empty archive", n)
	}
	for name, archive := range map[string]string{
		"a document": doc, "two": doc + doc, "a list": "[" + doc + "," + doc + "]", "lines": strings.ReplaceAll(strings.ReplaceAll(doc, "\n", ""), "  ", "") + "\n\n" + doc,
	} {
		n := 0
		if err := Scan("x", strings.NewReader(archive), func(Kept, []byte) error { n++; return nil }); err != nil || n != max(1, strings.Count(archive, "tare.result/1")) {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
}

func TestScanRefusesWhatIsForeign(t *testing.T) {
	doc := strings.ReplaceAll(string(document(t, sample())), "\n", "") + "\n"
	for archive, want := range map[string]string{
		"hello\n":                              "x:1:1: no result document: not JSON: ",
		doc + "hello\n":                        "x:2:1: no result document: not JSON: ",
		doc + "{\"a\": 1}\n":                   `x:2:1: no result: it has no "schema"; `,
		doc + doc + "{\"a\": \n":               "x:3:1: the document that begins here ends in the middle",
		"[]":                                   "x:1:1: an empty list of results",
		"[1]":                                  "x:1:1: it is a JSON number, but must be an object",
		"7":                                    "x:1:1: it is a JSON number, but must be an object",
		`{"schema": "tare.result/9"}`:          "x:1:1: schema tare.result/9 is newer than this tare reads",
		`{"head":{"format":"tare.journal/1"}}`: "x:1:1: a run's journal, not its result; ",
		doc + doc + "{\"schema\": \"tare.result/1\", \"study\": \"s\",\n \"rounds_done\": \"x\"}": "x:4:",
	} {
		err := Scan("x", strings.NewReader(archive), func(Kept, []byte) error { return nil })
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.80q:\n got %v\nwant %s", archive, err, want)
		}
	}
}

// FuzzScan: whatever an archive holds, the answer is results whose compact form
// is read again as the same, or an error in one line.
func FuzzScan(f *testing.F) {
	f.Add(string(document(f, sample())))
	f.Add("{} [] x")
	f.Add("[{\"schema\":\"tare.result/1\",\"study\":\"a\"},null]")
	f.Fuzz(func(t *testing.T, src string) {
		err := Scan("f", strings.NewReader(src), func(k Kept, text []byte) error {
			return Scan("g", bytes.NewReader(text), func(again Kept, _ []byte) error {
				if again != k {
					t.Errorf("%+v and %+v", k, again)
				}
				return nil
			})
		})
		if err != nil && strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("%q", err)
		}
	})
}
