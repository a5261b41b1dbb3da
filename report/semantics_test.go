package report

import (
	"encoding/csv"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
)

// told returns the text report as one line, so that folded sentences can be found.
func told(t *testing.T, r *tare.Result) string {
	t.Helper()
	return strings.Join(strings.Fields(text(t, r, Style{})), " ")
}

// The formats for people name every difference in a value; the formats for programs name every
// difference.
func TestEveryDifferenceIsShown(t *testing.T) {
	for name, r := range map[string]*tare.Result{"six": six(), "twelve": twelve(), "binary": binary()} {
		out := map[string]string{"text": told(t, r)}
		for _, format := range []string{"md", "research", "csv", "json"} {
			out[format] = written(t, format, r)
		}
		for _, s := range r.Semantics {
			for _, d := range s.Differences {
				for _, format := range []string{"text", "md", "research"} {
					if d.Class == tare.DiffersInValue {
						assert.Contains(t, name+" as "+format, out[format], escapeText(showLiteral(d.Says)))
					}
				}
				for _, format := range []string{"csv", "json"} {
					assert.Contains(t, name+" as "+format, out[format], quotedFor(format, d.Says))
				}
			}
		}
	}
}

func quotedFor(format, text string) string {
	if format == "csv" {
		return strings.ReplaceAll(showLiteral(text), `"`, `""`)
	}
	return string(escapeJSON([]byte(strings.ReplaceAll(text, `"`, `\"`))))
}

func TestDifferencesInText(t *testing.T) {
	got := told(t, six())
	for _, want := range []string{
		"Outside of the timing each was asked 101 to 131 cases made to find differences, and its answers were compared with encoding/json go1.26.8.",
		"As the reference: encoding-json in every case.",
		"jsoniter-fastest differs in 13 of 131 cases value writes 1.5e-9 as 0; writes 3.141592653589793 as 3.141593; keeps invalid UTF-8; does not match keys of another case acceptance accepts a trailing comma;",
		"go-json-experiment differs in 4 of 101 cases; not asked: roundtrip value",
		"accepts 1.; accepts comments; accepts single quotes; accepts a raw tab in a text; accepts what follows the document; accepts 10,001 levels of nesting; and 5 more form leaves",
		"⟨ff⟩ for a byte",
	} {
		assert.Contains(t, "six", got, want)
	}
	got = told(t, twelve())
	assert.Contains(t, "nothing asked", got, "Nothing could be asked of simdjson-go.")
	assert.Contains(t, "least of those that were asked", got, "each was asked 71 to 131 cases")
	assert.Contains(t, "void", got, "goccy differs in 3 of 131 cases; void by identity")
	assert.Contains(t, "a trap", got, "ffjson† differs in 3 of 71 cases; not asked: any and roundtrip")
	assert.Contains(t, "in part", told(t, binary()), "cbor in what it could be asked (not marshal, unmarshal and any).")
	if strings.Contains(told(t, base()), "DIFFERENTLY") {
		t.Error("nobody was asked, yet there is a section on it")
	}
	r := six()
	for i := range r.Semantics {
		r.Semantics[i].Differences = nil
	}
	got = told(t, r)
	assert.Contains(t, "nobody differs", got, "As the reference: encoding-json, jsoniter-fastest, goccy, sonic-default and sonic-std in every case; go-json-experiment in what it could be asked (not roundtrip).")
	if strings.Contains(written(t, "md", r), "| property |") {
		t.Error("a table of differences that nobody has")
	}
	r = six()
	r.Semantics[1].Differences[0].Class, r.Semantics[1].Differences[1].Says = "of-the-future", ""
	got = told(t, r)
	assert.Contains(t, "a class nobody knows comes last", got, "writes map keys in random order of-the-future writes 1.5e-9 as 0")
	assert.Contains(t, "no words", got, "value makes 3.141593 of 3.141592653589793;")
}

func TestMatrix(t *testing.T) {
	r := twelve()
	rows := map[string]string{}
	for _, line := range strings.Split(written(t, "md", r), "\n") {
		if name, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " |"); ok && strings.HasPrefix(line, "| ") {
			rows[name] += line + "\n"
		}
	}
	assert.Contains(t, "heads", rows["property"], "| property | at worst | encoding-json (baseline) | jsoniter-fastest | goccy | sonic-default, sonic-fastest | sonic-std |\n")
	assert.Contains(t, "digits", rows["float digits"], "| float digits | value | = | writes 1.5e-9 as 0; writes 3.141592653589793 as 3.141593; writes 1e21 as 1000000000000000000000 (form) | = | = |")
	assert.Contains(t, "too many for a field", rows["number syntax"], "| accepts 1.; accepts NaN; accepts 0x10; and 3 more |")
	assert.Contains(t, "not asked", rows["comments"], "| comments | acceptance | = | = | = | – | – |")
	assert.Contains(t, "graver elsewhere", rows["duplicate keys"], "refuses duplicate keys (acceptance)")
	if strings.Contains(rows["property"], "simdjson") {
		t.Error("who could not be asked has a column")
	}
	md := written(t, "md", r)
	if at := func(row string) int { return strings.Index(md, "\n| "+row+" |") }; at("key case") > at("comments") || at("comments") > at("HTML escaping") {
		t.Error("rows are not in the order of their gravity")
	}
}

func TestDifferencesInCSV(t *testing.T) {
	r := twelve()
	rows, err := csv.NewReader(strings.NewReader(written(t, "csv", r))).ReadAll()
	assert.NoError(t, "csv", err)
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	count := map[string]int{}
	for _, row := range rows[1:] {
		if row[column["section"]] != "semantics" {
			continue
		}
		count[row[column["metric"]]]++
		if row[column["contender"]] == "goccy" {
			assert.Equal(t, "void by", row[column["void_by"]], "identity")
		}
		if row[column["contender"]] == "jsoniter-fastest" && row[column["case"]] == "float digits of 1.5e-9" {
			for name, want := range map[string]string{"property": "float digits", "op": "marshal", "class": "value", "asked": "1.5e-9", "reference_answer": "1.5e-9", "answer": "0", "text": "writes 1.5e-9 as 0", "against": reference, "value": "", "rounds": ""} {
				assert.Equal(t, name, row[column[name]], want)
			}
			count["found"]++
		}
	}
	all := 0
	for _, s := range r.Semantics {
		all += len(s.Differences)
	}
	assert.Equal(t, "differences", count["difference"], all)
	assert.Equal(t, "contenders", count["cases"], len(r.Semantics))
	assert.Equal(t, "unsupported", count["unsupported"], 8)
	assert.Equal(t, "the one", count["found"], 1)
}

func TestOwnDocumentsAreNotMadeToFindDifferences(t *testing.T) {
	r := &tare.Result{Kind: kindCodec, Design: tare.Design{Workloads: []tare.Workload{{ID: "any/decode", File: "orders.ndjson", Op: "any"}}}}
	asked := []behaviour{{tare.Contender{ID: "a"}, tare.Semantics{Contender: "a", Reference: "encoding/json", Cases: 12}}}
	assert.Contains(t, "own", explainSemantics(r, asked), "12 cases made of the documents that were given")
	assert.Contains(t, "what is asked", describeOp(r, r.Workloads[0]), "decoding orders.ndjson into any")
	r.Workloads = append(r.Workloads, tare.Workload{ID: "devices/marshal", Fixture: "devices", Op: "marshal"})
	assert.Contains(t, "mixed", explainSemantics(r, asked), "12 cases made to find differences")
	assert.Equal(t, "what is asked", describeOp(r, r.Workloads[1]), "marshal of devices")
}
