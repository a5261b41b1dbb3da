package html

import (
	"compress/gzip"
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/report"
)

// sample is a real result that is kept for tests; see htmltest/sample.
func sample(t *testing.T, name string) *tare.Result {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "results", name+".json.gz"))
	assert.NoError(t, "open", err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	assert.NoError(t, "uncompress", err)
	var r tare.Result
	assert.NoError(t, "decode "+name, json.NewDecoder(z).Decode(&r))
	return &r
}

// Every bundled study has a result here, and a page with each of its sections.
func TestPagesOfBundledStudies(t *testing.T) {
	studies, err := filepath.Glob(filepath.Join("..", "..", "studies", "*.yaml"))
	assert.NoError(t, "studies", err)
	assert.Equal(t, "studies", len(studies) > 10, true)
	for _, file := range studies {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			r := sample(t, name)
			assert.Equal(t, "study", r.Study, name)
			page := rendered(t, r, Options{})
			for _, s := range report.Outline(r) {
				if s.Key != report.KeyReading && !strings.Contains(page, ">"+html.EscapeString(s.Heading)+"</h") {
					t.Errorf("no part %q", s.Heading)
				}
			}
			for _, not := range []string{"ZgotmplZ", "%!", ">NaN<"} {
				if strings.Contains(strings.SplitN(page, `id="document"`, 2)[0], not) {
					t.Errorf("%q is in the page", not)
				}
			}
		})
	}
}

// Samples hold no path of the machine they were measured on.
func TestSamplesNameNoPath(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "results", "*.json.gz"))
	assert.NoError(t, "samples", err)
	for _, file := range files {
		r := sample(t, strings.TrimSuffix(filepath.Base(file), ".json.gz"))
		assert.Equal(t, file+" directory", r.Asked.Dir, "")
		for _, c := range r.Contenders {
			for _, m := range c.Modules {
				assert.Equal(t, file+" "+m.Path, filepath.IsAbs(m.Replace), false)
			}
		}
		info, err := os.Stat(file)
		assert.NoError(t, "size", err)
		assert.Equal(t, file+" is small", info.Size() < 300_000, true)
	}
}

// The answer is the headline of the page, and what came of the criteria follows.
func TestPageBeginsWithTheAnswer(t *testing.T) {
	r := sample(t, "users")
	r.Answer = ""
	before, _ := report.Headline(r)
	r.Answer = "No <b>, it takes 1.24× (1.19 to 1.30)."
	page := rendered(t, r, Options{})
	at := strings.Index(page, "</span>No &lt;b&gt;, it takes 1.24× (1.19 to 1.30).</p>")
	second := strings.Index(page, `<p class="second">`+html.EscapeString(before))
	if at < 0 || second < at {
		t.Errorf("the answer is at %d, the criteria at %d", at, second)
	}
}
