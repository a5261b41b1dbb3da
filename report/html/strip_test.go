package html

import (
	"regexp"
	"strings"
	"testing"

	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/report/html/htmltest"
)

// Benchmarks without a change are drawn as bars by the change that they could have shown, if there are
// enough of them and several such changes. Otherwise a table names them.
func TestStripOfUnchangedBenchmarks(t *testing.T) {
	for name, c := range map[string]struct {
		benchmarks, sizes int
		drawn             bool
	}{
		"two rows":       {5, 1, false},
		"two of one row": {5, 2, false},
		"one size":       {20, 1, false},
		"two sizes":      {20, 2, true},
	} {
		r := htmltest.Bench(c.benchmarks)
		for i := range r.Comparisons {
			if x := &r.Comparisons[i]; c.sizes > 1 && x.Workload == r.Workloads[4].ID {
				x.Low, x.High = 0.8*x.Ratio, 1.25*x.Ratio
			}
		}
		quiet := regexp.MustCompile(`(?s)<section class="quiet".*?</section>`).FindString(rendered(t, r, Options{}))
		assert.Equal(t, name+" drawn", strings.Contains(quiet, `class="bar"`), c.drawn)
		assert.Contains(t, name+" named", quiet, r.Workloads[3].ID)
		assert.Equal(t, name+" heads", strings.Count(quiet, "benchmarks</th>"), 1)
	}
}

// The key of the first chart has the marks that the chart has, with what each means.
func TestKeyExplainsMarks(t *testing.T) {
	page := rendered(t, sample(t, "users"), Options{})
	chart := regexp.MustCompile(`(?s)<section class="hero".*?</section>`).FindString(page)
	key := regexp.MustCompile(`(?s)<ul class="key">.*?</ul>`).FindString(chart)
	for mark, means := range map[string]string{"#ma": "asked: limit of a criterion", "#mp": "published: in "} {
		if !strings.Contains(strings.ReplaceAll(chart, key, ""), `href="`+mark+`"`) {
			t.Errorf("%s is not in the chart, so nothing was tried", mark)
		}
		assert.Contains(t, mark+" in the key", key, `href="`+mark+`"`)
		assert.Contains(t, mark+" explained", key, means)
	}
	asked := rendered(t, sample(t, "json-heap"), Options{})
	assert.Equal(t, "published ratios, where there are none", strings.Contains(asked, "published: the ratio in"), false)
}

// Names of columns are strings of the style sheet: none ends the string or the style element.
func TestColumnNamesAreQuoted(t *testing.T) {
	assert.Equal(t, "plain", quoteCSS("µs/op, 95 %"), `"µs/op, 95 %"`)
	assert.Equal(t, "hostile", quoteCSS(`"}</style>\`), `"\22 \7D \3C /style\3E \5C "`)
}
