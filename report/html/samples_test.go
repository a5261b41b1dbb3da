package html

import (
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/report/html/htmltest"
)

// sample is a real result that is kept for tests; see htmltest/sample.
func sample(t *testing.T, name string) *tare.Result {
	t.Helper()
	return readResult(t, filepath.Join("testdata", "results", name+".json.gz"))
}

func readResult(t *testing.T, file string) *tare.Result {
	t.Helper()
	f, err := os.Open(file)
	assert.NoError(t, "open", err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	assert.NoError(t, "uncompress", err)
	var r tare.Result
	assert.NoError(t, "decode "+file, json.NewDecoder(z).Decode(&r))
	return &r
}

// Every bundled study has a sample result here, and the page of the sample has all its figures.
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
			if ratios, medians := checkFigures(t, r, page); ratios == 0 || medians == 0 {
				t.Errorf("%d ratios and %d medians", ratios, medians)
			}
			if size := besideResult(page); size > mostPage {
				t.Errorf("%d bytes beside the result, at most %d", size, mostPage)
			}
			if n := countWords(t, page); n > mostWords {
				t.Errorf("%d words unfolded, at most %d", n, mostWords)
			}
			for _, not := range []string{"ZgotmplZ", "%!", ">NaN<"} {
				if strings.Contains(strings.SplitN(page, `id="document"`, 2)[0], not) {
					t.Errorf("%q is in the page", not)
				}
			}
		})
	}
}

// Samples contain no path of the machine on which they were measured.
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

// A page is short before it is unfolded, and small beside its result.
const (
	mostWords = 800
	mostPage  = 120_000
)

var document = regexp.MustCompile(`(?s)<script type="application/json.*?</script>`)

// countWords returns the number of words that a reader sees before unfolding anything: the first
// panel of the chart, and the summary lines of what is folded.
func countWords(t *testing.T, page string) int {
	t.Helper()
	words, hidden, open := 0, 0, []string{} // hidden is how many of the open elements hide what is in them
	readTokens(t, page, func(token xml.Token) {
		switch x := token.(type) {
		case xml.StartElement:
			class, _ := attribute(x, "class")
			_, isHidden := attribute(x, "hidden")
			name := x.Name.Local
			switch {
			case isHidden || slices.Contains([]string{"head", "script"}, name) || class == "pt" || strings.HasPrefix(class, "panel p") && class != "panel p1",
				len(open) > 0 && open[len(open)-1] == "details" && name != "summary":
				name = "-" + name
				hidden++
			}
			open = append(open, name)
		case xml.EndElement:
			if strings.HasPrefix(open[len(open)-1], "-") {
				hidden--
			}
			open = open[:len(open)-1]
		case xml.CharData:
			if hidden == 0 {
				words += len(strings.Fields(string(x)))
			}
		}
	})
	return words
}

// keptRuns are the names of all results that are kept with the documentation: runs of whole studies.
func keptRuns(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "docs", "runs", "*.json.gz"))
	assert.NoError(t, "runs", err)
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".json.gz"))
	}
	assert.Equal(t, "runs", len(names) > 10, true)
	return names
}

// besideResult returns the size of a page without the document in it.
func besideResult(page string) int { return len(page) - len(document.FindString(page)) }

// largePages returns the sizes that pages of kept runs may have which are not yet as small as mostPage. They may only
// be lowered.
func largePages() map[string]int {
	return map[string]int{"users": 200_000, "ingest": 169_000, "ffi": 166_000, "tiny": 146_000, "routing": 134_500}
}

// The pages of runs of whole studies have all their figures, show few words before they are unfolded,
// and are small beside the result.
func TestPagesOfKeptRuns(t *testing.T) {
	all := 0 // ratios of all pages
	for _, name := range keptRuns(t) {
		r := readResult(t, filepath.Join("..", "..", "docs", "runs", name+".json.gz"))
		page := rendered(t, r, options())
		ratios, medians := checkFigures(t, r, page)
		all += ratios
		words, size := countWords(t, page), besideResult(page)
		t.Logf("%s: %d ratios, %d medians, %d words, %d bytes beside the result", name, ratios, medians, words, size)
		if most := max(mostPage, largePages()[name]); words > mostWords || size > most {
			t.Errorf("%s: %d words unfolded, at most %d; %d bytes, at most %d", name, words, mostWords, size, most)
		}
	}
	assert.Equal(t, "ratios", all > 3000, true)
}

// A page grows by few bytes with each value and each row of load, so that a study with more workloads
// than any kept one has a small page, too.
func TestPageGrowsSlowly(t *testing.T) {
	const (
		perField = 60  // bytes of a ratio with its interval and its median
		perRow   = 130 // bytes of a contender's row of load
	)
	size := func(workloads int, withLoad bool) int {
		r := htmltest.Synthetic(10, workloads, 6)
		for i := range r.Workloads {
			r.Workloads[i].Traffic = &tare.Traffic{Connections: 10}
		}
		if withLoad {
			addLoad(r)
		}
		return besideResult(rendered(t, r, Options{}))
	}
	r := htmltest.Synthetic(10, 1, 6)
	fields := 0 // of a workload
	for _, v := range r.Values {
		if v.Workload == r.Workloads[0].ID {
			fields++
		}
	}
	const few, many = 12, 24
	grown := float64(size(many, false)-size(few, false)) / (many - few)
	t.Logf("%.0f bytes a workload of %d values", grown, fields)
	if grown > perField*float64(fields) {
		t.Errorf("%.1f bytes a value, at most %d", grown/float64(fields), perField)
	}
	rows := len(r.Contenders) - 1 // without the control
	load := float64(size(many, true)-size(few, true))/(many-few) - grown
	t.Logf("%.0f bytes of load a workload of %d rows", load, rows)
	if load > perRow*float64(rows) {
		t.Errorf("%.1f bytes a row of load, at most %d", load/float64(rows), perRow)
	}
}

// addLoad adds figures of load to all samples, which differ between contenders.
func addLoad(r *tare.Result) {
	for i, trial := range r.Trials {
		for _, sample := range trial.Samples {
			x := float64(i + 1)
			for key, value := range map[string]float64{
				tare.KeyRequests: 1000 + x, tare.KeyConcurrency: 9 + x/100, tare.KeyConnects: 10 + x, tare.KeyBytesSent: 170 + x/10, tare.KeyBytesReceived: 330 + x/10,
				tare.KeyOutput: 90 + x, tare.KeyLayers: 2 + x, tare.KeyServerCPU: 7e8 + 2e7*x, tare.KeyServerCores: 2, tare.KeyWall: 1e9, tare.KeyClientCPU: 5e8 + 2e7*x, tare.KeyClientCores: 2,
			} {
				sample[key] = value
			}
		}
	}
}

// Each figure of load is on the page: in its field, or behind the name of the workload if all contenders
// share it.
func TestLoadIsOnThePage(t *testing.T) {
	r := htmltest.Synthetic(5, 2, 3)
	for i := range r.Workloads {
		r.Workloads[i].Traffic = &tare.Traffic{Connections: 10}
	}
	addLoad(r)
	for _, trial := range r.Trials {
		trial.Samples[r.Workloads[0].ID][tare.KeyLayers] = 7
		delete(trial.Samples[r.Workloads[1].ID], tare.KeyOutput)
	}
	page := rendered(t, r, Options{})
	table := regexp.MustCompile(`(?s)<table class="t drives.*?</table>`).FindString(page)
	var heads []string
	rows := map[string][]string{} // fields by workload and contender
	workload, shared := "", 0
	for i, row := range strings.Split(table, "<tr")[1:] {
		cells := regexp.MustCompile(`<t[hd]\b`).Split(row, -1)[1:]
		for j := range cells {
			cells[j] = text(t, "<td"+cells[j])
		}
		switch {
		case i == 0:
			heads = cells
		case len(cells) == 1:
			workload, _, _ = strings.Cut(cells[0], " (")
			shared += strings.Count(cells[0], ": layers 7 calls/req")
		default:
			rows[workload+" "+cells[0]] = cells
		}
	}
	assert.Equal(t, "columns", len(heads), 10)
	assert.Equal(t, "rows", len(rows), 2*4)
	assert.Equal(t, "values behind names of workloads", shared, 1)
	output := slices.IndexFunc(heads, func(h string) bool { return strings.HasPrefix(h, "output") })
	layers := slices.IndexFunc(heads, func(h string) bool { return strings.HasPrefix(h, "layers") })
	for name, cells := range rows {
		isFirst := strings.HasPrefix(name, r.Workloads[0].ID)
		assert.Equal(t, name+" shared", cells[layers] == "", isFirst)
		assert.Equal(t, name+" not recorded", cells[output] == "", !isFirst)
		for j, cell := range cells {
			if cell == "" && j != layers && j != output {
				t.Errorf("%s has no %s", name, heads[j])
			}
		}
	}
}

// The answer is the headline of the page, and its figures follow. A long answer, as an earlier
// release wrote it, stands among the criteria instead, and the headline has at most fifteen words.
func TestPageBeginsWithTheAnswer(t *testing.T) {
	r := sample(t, "users")
	r.Answer, r.Figures = "No <b>: it takes 1.2× the time.", "Create 1.24× (1.19–1.30)."
	page := rendered(t, r, Options{})
	headline := strings.Index(page, "<h1>No &lt;b&gt;: it takes 1.2× the time.</h1>")
	if figures := strings.Index(page, r.Figures); headline < 0 || figures < headline {
		t.Errorf("the headline is at %d, its figures at %d", headline, figures)
	}
	r.Answer, r.Figures = strings.Repeat("There is more to say. ", 9)+"No.", ""
	page = rendered(t, r, Options{})
	if !strings.Contains(page, r.Answer) {
		t.Error("a paragraph is not on the page")
	}
	for _, line := range strings.Split(page, "\n") {
		if h1, ok := strings.CutPrefix(line, "<h1>"); ok && len(strings.Fields(h1)) > 15 {
			t.Errorf("a headline of %d words: %s", len(strings.Fields(h1)), h1)
		}
	}
}
