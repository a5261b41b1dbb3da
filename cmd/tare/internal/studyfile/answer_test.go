package studyfile

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/judge"
	"github.com/tarebench/tare/report"
)

const root = "../../../.."

// kept is a real result that package report/html keeps for its tests.
func kept(t *testing.T, name string) *tare.Result {
	t.Helper()
	f, err := os.Open(filepath.Join(root, "report/html/testdata/results", name+".json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var r tare.Result
	if err := json.NewDecoder(z).Decode(&r); err != nil {
		t.Fatal(err)
	}
	return &r
}

func bundled(t *testing.T, name string) tare.Study {
	t.Helper()
	path := filepath.Join(root, "studies", name+".yaml")
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(path, src)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Each bundled study has an answer to its question for a kept result, and the
// report prints it instead of the generic headline.
func TestBundledStudiesAnswer(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "studies", "*.yaml"))
	if err != nil || len(files) < 13 {
		t.Fatalf("%d studies, %v", len(files), err)
	}
	names := []string{"ffi-full"}
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".yaml"))
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			s, r := bundled(t, strings.TrimSuffix(name, "-full")), kept(t, name)
			generic := report.Headline(r)
			r.Answer = judge.Answer(s, r)
			t.Logf("%s\n%s", s.Question, r.Answer)
			if r.Answer == "" || report.Headline(r) != r.Answer || r.Answer == generic {
				t.Errorf("headline %q, generic %q", report.Headline(r), generic)
			}
			if strings.ContainsAny(r.Answer, "{}\n") || !strings.Contains(r.Answer, "×") || !strings.HasSuffix(r.Answer, ".") {
				t.Errorf("%q has a placeholder, no figure or no end", r.Answer)
			}
		})
	}
}
