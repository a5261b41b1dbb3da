package report

import (
	"encoding/csv"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/internal/format"
)

// hostile is put before every text of a result.
const hostile = "=1+2 <script>a()</script> `x` ``y [a](b) ![c](//d) https://e www.f **hot** ~~h~~ |i|\r\n# j\n- k\n| l |\x1b[31m\u202e\u2028\u2029\u200b\xff\x00\u009b7m\t"

// tainted puts hostile before every text of r except those with a fixed set of values, and names of
// metrics. It returns r.
func tainted(r *tare.Result) *tare.Result {
	taint(reflect.ValueOf(r).Elem(), "")
	return r
}

func taint(v reflect.Value, key string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			taint(v.Elem(), key)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Type() != reflect.TypeFor[tare.Metric]() {
				name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
				taint(v.Field(i), name)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			taint(v.Index(i), key)
		}
	case reflect.Map:
		if set, ok := v.Interface().(map[string]string); ok && key == "set" {
			for k, x := range set {
				delete(set, k)
				set[hostile+k] = hostile + x
			}
		}
		if v.Type() == reflect.TypeFor[map[string]tare.Sample]() {
			for _, k := range v.MapKeys() {
				x := v.MapIndex(k)
				v.SetMapIndex(k, reflect.Value{})
				v.SetMapIndex(reflect.ValueOf(hostile+k.String()), x)
			}
		}
	case reflect.String:
		ours := slices.Contains([]string{"schema", "metric", "metrics", "unit", "stopped", "class"}, key) || v.Type() != reflect.TypeFor[string]()
		if s := v.String(); s != "" && !ours && s != tare.ControlID && s != tare.NullID {
			v.SetString(hostile + s)
		}
	}
}

func taintedCases(t *testing.T) map[string]*tare.Result {
	t.Helper()
	out := map[string]*tare.Result{}
	for name, r := range cases() {
		out[name] = tainted(tried(r))
	}
	return out
}

// No text of a result reaches a terminal with characters that do not print.
func TestHostileTextPrints(t *testing.T) {
	for name, r := range taintedCases(t) {
		for _, f := range Formats() {
			out := written(t, f.Name, r)
			if !utf8.ValidString(out) {
				t.Errorf("%s as %s is not UTF-8", name, f.Name)
			}
			i := strings.IndexFunc(out, func(r rune) bool {
				return r != '\n' && !unicode.IsPrint(r) && !(r == '\t' && f.Name == "benchfmt")
			})
			if i >= 0 {
				t.Errorf("%s as %s: %q", name, f.Name, out[max(i-40, 0):min(i+40, len(out))])
			}
			for _, line := range strings.Split(out, "\n") {
				if f.Name == "text" || f.Name == "brief" {
					break // folds texts, and has no marks
				}
				if strings.HasPrefix(line, "# j") || strings.HasPrefix(line, "- k") || strings.HasPrefix(line, "| l |") {
					t.Errorf("%s as %s: a text broke out of its line: %q", name, f.Name, line)
				}
			}
			if !strings.Contains(out, "1+2") {
				t.Errorf("%s as %s: nothing hostile was printed, so nothing was tried", name, f.Name)
			}
		}
	}
}

// live returns Markdown without its code spans and escaped characters.
func live(markdown string) string {
	var b strings.Builder
	for i := 0; i < len(markdown); {
		switch markdown[i] {
		case '\\':
			i += 2
		case '`':
			n := len(markdown[i:]) - len(strings.TrimLeft(markdown[i:], "`"))
			end := shut(markdown[i+n:], n)
			if end < 0 {
				b.WriteString(markdown[i : i+n]) // opens nothing
				i += n
				continue
			}
			i += n + end + n
		default:
			b.WriteByte(markdown[i])
			i++
		}
	}
	return b.String()
}

// shut returns the offset of the first fence of exactly n backticks, or -1 if there is none.
func shut(text string, n int) int {
	for _, at := range regexp.MustCompile("`+").FindAllStringIndex(text, -1) {
		if at[1]-at[0] == n {
			return at[0]
		}
	}
	return -1
}

func TestHostileTextIsNoMarkup(t *testing.T) {
	markup := regexp.MustCompile("<[a-zA-Z/!?]|\\]\\(|\\]\\[|://|www\\.|`|\\*\\*hot|~~h")
	for name, r := range taintedCases(t) {
		for _, format := range []string{"md", "research"} {
			out := written(t, format, r)
			for _, line := range strings.Split(out, "\n") {
				if at := markup.FindStringIndex(live(line)); at != nil {
					t.Errorf("%s as %s: %q is live in %q", name, format, live(line)[at[0]:at[1]], line)
					break
				}
			}
			tablesHold(t, name+" as "+format, out)
		}
	}
	for markdown, want := range map[string]string{"a `<b>` c": "a  c", `\<b>`: "b>", "``a`<b>`` `": " `"} {
		assert.Equal(t, markdown, live(markdown), want)
	}
}

// tablesHold requires the same number of fields in every line of a table.
func tablesHold(t *testing.T, what, markdown string) {
	t.Helper()
	bar := regexp.MustCompile(`(^|[^\\])\|`)
	columns := 0
	for _, line := range strings.Split(markdown, "\n") {
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		n := len(bar.FindAllString(line, -1))
		if columns != 0 && n != columns {
			t.Errorf("%s: %d bars, the table has %d: %s", what, n, columns, line)
		}
		columns = n
	}
}

// No text field of a CSV file is a formula, and no field spans lines.
func TestHostileTextIsNoFormula(t *testing.T) {
	for name, r := range taintedCases(t) {
		out := written(t, "csv", r)
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		assert.NoError(t, name, err)
		assert.Equal(t, name+" lines", strings.Count(out, "\n"), len(rows))
		guarded := 0
		for _, row := range rows {
			for _, field := range row {
				if _, err := strconv.ParseFloat(field, 64); err != nil && field != "" && strings.ContainsRune("=+-@\t\r", rune(field[0])) {
					t.Errorf("%s: %q", name, field)
				}
				if strings.HasPrefix(field, "'=1+2") {
					guarded++
				}
			}
		}
		if guarded == 0 {
			t.Errorf("%s: no field was hostile", name)
		}
	}
}

// JSON keeps texts unchanged, except for bytes that are not UTF-8.
func TestHostileTextInJSON(t *testing.T) {
	r := tainted(six())
	var back tare.Result
	assert.NoError(t, "JSON", json.Unmarshal([]byte(written(t, "json", r)), &back))
	assert.Equal(t, "study", back.Study, strings.ToValidUTF8(r.Study, "\ufffd"))
	assert.Equal(t, "says", back.Semantics[1].Differences[0].Says, strings.ToValidUTF8(r.Semantics[1].Differences[0].Says, "\ufffd"))
	assert.Equal(t, "beyond 16 bits", string(escapeJSON([]byte("a\U000E0001\u007fé😀"))), `a\udb40\udc01\u007fé😀`)
}

func TestLegible(t *testing.T) {
	const text = " a\t\u00a0b\n\x1b\u2028\xff\u202e é "
	assert.Equal(t, "one line", oneLine(text), "a b ⟨U+001B⟩ ⟨ff⟩⟨U+202E⟩ é")
	assert.Equal(t, "literal", showLiteral(text), " a⟨U+0009⟩⟨U+00A0⟩b⟨U+000A⟩⟨U+001B⟩⟨U+2028⟩⟨ff⟩⟨U+202E⟩ é ")
	assert.Equal(t, "short", format.Clip("äöü", 3), "äöü")
	assert.Equal(t, "shortened", format.Clip("äöüß", 3), "äö…")
	for text, want := range map[string]string{"": "", "a=1": "a=1", "=a": "'=a", "+a": "'+a", "-a": "'-a", "@a": "'@a"} {
		assert.Equal(t, text, guardFormula(text), want)
	}
}
