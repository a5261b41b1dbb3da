package report

import (
	"bytes"
	"encoding/csv"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/internal/golden"
)

// tried adds trials to a result that has none: three rounds, a round at eight times the slice
// length, and a failed trial. The samples scatter around the values.
func tried(r *tare.Result) *tare.Result {
	if slices.ContainsFunc(r.Trials, func(t tare.Trial) bool { return t.Samples != nil }) {
		return r // it brings its own
	}
	r.Trials = nil
	for round := 1; round <= 4; round++ {
		tau := 1
		if round == 4 {
			tau = 8
		}
		for _, c := range r.Contenders {
			samples := map[string]tare.Sample{}
			for _, v := range r.Values {
				if v.Contender != c.ID {
					continue
				}
				if samples[v.Workload] == nil {
					samples[v.Workload] = tare.Sample{"ops": 16000, "errors": 0, "gc_cycles": 20, "size_bytes_per_op": 11598}
				}
				x := v.Value
				if findMetric(v.Metric).PerSlice {
					x *= 1 + float64(round-2)/100
				}
				samples[v.Workload][findMetric(v.Metric).Key] = x
			}
			t := tare.Trial{Round: round, Tau: tau, Contender: c.ID, Seconds: 1, Samples: samples, Evidence: tare.Evidence{GOMAXPROCS: 1}}
			if round == 3 && c.ID == "segmentio" {
				t.Error = &tare.TrialError{Class: tare.ErrDeadline, Message: "no reply to slice\nwithin 5s"}
			}
			if len(samples) > 0 {
				r.Trials = append(r.Trials, t)
			}
		}
	}
	return r
}

func written(t *testing.T, format string, r *tare.Result) string {
	t.Helper()
	f, ok := FormatNamed(format)
	if !ok {
		t.Fatalf("no format %s", format)
	}
	var b bytes.Buffer
	assert.NoError(t, format, f.Write(&b, r, Style{}))
	return b.String()
}

func TestFormats(t *testing.T) {
	for _, c := range []struct{ format, suffix string }{
		{"brief", ".txt"}, {"md", ".md"}, {"csv", ".csv"}, {"benchfmt", ".txt"}, {"research", ".md"},
	} {
		for name, r := range cases() {
			if c.format == "benchfmt" {
				r = tried(r)
			}
			t.Run(c.format+"/"+name, func(t *testing.T) {
				golden.Check(t, c.format+"/"+name+c.suffix, []byte(written(t, c.format, r)))
			})
		}
	}
}

func TestFormatTable(t *testing.T) {
	var names []string
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	assert.Equal(t, "names", strings.Join(names, ", "), "text, brief, md, json, benchfmt, csv, research")
	if _, ok := FormatNamed("html"); ok {
		t.Error("html is no format yet")
	}
	for _, f := range Formats() {
		if f.Summary == "" || strings.Contains(f.Summary, "\n") {
			t.Errorf("%s: %q says nothing", f.Name, f.Summary)
		}
		assert.ErrorIs(t, f.Name, f.Write(broken{}, tried(base()), Style{}), errBroken)
		if f.Next == nil {
			assert.Equal(t, "the format that needs a list", f.Name, "json")
			continue
		}
		assert.ErrorIs(t, f.Name, f.Next(broken{}, tried(base()), Style{}), errBroken)
		var b bytes.Buffer
		assert.NoError(t, f.Name, f.Next(&b, base(), Style{}))
		if f.Name != "csv" && f.Name != "brief" && !strings.HasPrefix(b.String(), "\n") {
			t.Errorf("%s: a second result is not set apart", f.Name)
		}
	}
}

// No renderer fails on an odd result, such as an empty one or one whose names are not declared.
func TestFormatsOfOddResults(t *testing.T) {
	odd := base()
	odd.Contenders = nil
	headless := tried(base())
	headless.Metrics, headless.Machine = nil, tare.Machine{}
	for name, r := range map[string]*tare.Result{"empty": {}, "nobody": odd, "no metrics": headless} {
		for _, f := range Formats() {
			var b bytes.Buffer
			assert.NoError(t, name+" as "+f.Name, f.Write(&b, r, Style{}))
		}
	}
	assert.Contains(t, "empty", written(t, "research", &tare.Result{}), "None: nothing was measured.")
	assert.Contains(t, "empty", written(t, "md", &tare.Result{}), noVerdict)
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"time ratio <= 0.5":            "time ratio <= 0.5",
		"a <b> & c &amp; d":            `a \<b> & c \&amp; d`,
		"snake_case and _this_":        `snake_case and \_this\_`,
		"2*3*4 `x` ~y~ \\ $z$":         "2\\*3\\*4 \\`x\\` \\~y\\~ \\\\ \\$z\\$",
		"[0.447, 0.480]":               `\[0.447, 0.480]`,
		"ratio [a](b)":                 `ratio [a\](b)`,
		"# no heading":                 `\# no heading`,
		"- no item":                    `\- no item`,
		"12. no list":                  `12\. no list`,
		"1.5 is":                       "1.5 is",
		"two\nlines\x1b[31m and\ttabs": "two lines⟨U+001B⟩[31m and tabs",
		"":                             "",
		"by @somebody, a@b.c":          "by @\u200bsomebody, a@\u200bb.c",
		"fixes #12, not # 12":          `fixes \#12, not # 12`,
		"merges !7 ![x]":               `merges \!7 \![x]`,
		"/close a/b":                   `\/close a/b`,
	} {
		assert.Equal(t, text, escapeText(text), want)
	}
	assert.Equal(t, "code", formatCode("a`b``c"), "``` a`b``c ```")
	assert.Equal(t, "code", formatCode("a@b.c"), "`a@b.c`")
}

// A cell cannot break its table, whatever text it has.
func TestMarkdownTablesHold(t *testing.T) {
	r := traps()
	r.Contenders[1].ID = "x|y\n`z`"
	for i := range r.Values {
		if r.Values[i].Contender == "jsoniter-fastest" {
			r.Values[i].Contender = r.Contenders[1].ID
		}
	}
	r.Claims[0].Statement = "faster | better"
	for _, format := range []string{"md", "research"} {
		tablesHold(t, format, written(t, format, r))
	}
}

// Markdown has the criteria, findings and claims of a result, and no figure that the text report
// lacks.
func TestMarkdownSaysWhatTextSays(t *testing.T) {
	for name, r := range cases() {
		md := strings.NewReplacer("\\", "", "~~", "", "`", "").Replace(written(t, "md", r))
		for _, v := range r.Verdicts {
			if v.Criterion != "" && !hasManyRulings(r) {
				assert.Contains(t, name, md, strings.TrimSuffix(v.Sentence, "."))
			}
		}
		for _, f := range r.Findings {
			assert.Contains(t, name, md, f.Message)
		}
		for _, c := range r.Claims {
			assert.Contains(t, name, md, c.Why)
			assert.Contains(t, name, md, c.Statement)
		}
		figure := regexp.MustCompile(`[0-9][0-9.,]*[0-9]`)
		plainText := text(t, r, Style{Width: 400})
		for _, s := range r.Semantics { // each lists a few of many, though not the same few
			for _, d := range s.Differences {
				plainText += " " + d.Says
			}
		}
		for _, x := range figure.FindAllString(md, -1) {
			if x != "12.3" {
				assert.Contains(t, name, plainText, x)
			}
		}
	}
}

func TestCSV(t *testing.T) {
	for name, r := range cases() {
		rows, err := csv.NewReader(strings.NewReader(written(t, "csv", r))).ReadAll() // as many fields in every row
		assert.NoError(t, name, err)
		column := map[string]int{}
		for i, c := range rows[0] {
			column[c] = i
		}
		values := 0
		for _, row := range rows[1:] {
			if row[column["section"]] != csvFigure {
				continue
			}
			if row[column["value"]] != "" {
				values++
			}
			c, _ := r.Contender(row[column["contender"]])
			assert.Equal(t, name+" role", row[column["role"]], string(c.Role))
			if len(r.Voids(c.ID, row[column["workload"]])) > 0 && row[column["void_by"]] == "" {
				t.Errorf("%s: %v does not say that it is void", name, row)
			}
			if c.Role == tare.RoleTrap && row[column["value"]] != "" && row[column["struck"]] != "true" {
				t.Errorf("%s: a trap is not struck: %v", name, row)
			}
		}
		assert.Equal(t, name+" values", values, len(r.Values))
	}
	var b bytes.Buffer
	csvFormat, _ := FormatNamed("csv")
	assert.NoError(t, "first", csvFormat.Write(&b, base(), Style{}))
	assert.NoError(t, "second", csvFormat.Next(&b, exploring(), Style{}))
	assert.Equal(t, "headers", strings.Count(b.String(), "study,started"), 1)
}
