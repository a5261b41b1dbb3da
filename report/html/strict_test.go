package html

import (
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/report/html/htmltest"
)

// raw matches the content of scripts and styles, which is neither markup nor text to read.
var raw = regexp.MustCompile(`(?s)(<(?:script|style)[^>]*>).*?(</(?:script|style)>)`)

// strictly parses a page as XML and calls see for every element. Void elements and attributes
// without a value, which HTML allows, are completed first.
func strictly(t *testing.T, page string, see func(xml.StartElement)) {
	t.Helper()
	readTokens(t, page, func(token xml.Token) {
		if e, ok := token.(xml.StartElement); ok {
			see(e)
		}
	})
}

// readTokens parses a page as XML, as strictly does, and calls see for every token.
func readTokens(t *testing.T, page string, see func(xml.Token)) {
	t.Helper()
	page = raw.ReplaceAllString(page, "$1$2")
	page = strings.Replace(page, "<!doctype html>", "", 1)
	page = openRows.ReplaceAllStringFunc(page, closeRows)
	page = regexp.MustCompile(`<(meta|input|img|br|wbr)\b([^>]*)>`).ReplaceAllString(page, "<$1$2/>")
	page = regexp.MustCompile(` (hidden|checked|selected)([ />])`).ReplaceAllString(page, ` $1="$1"$2`)
	d := xml.NewDecoder(strings.NewReader(page))
	d.Entity = xml.HTMLEntity
	for {
		token, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			line, col := d.InputPos()
			lines := strings.Split(page, "\n")
			t.Fatalf("%d:%d: %v: %.200s", line, col, err, lines[min(line, len(lines))-1])
		}
		see(token)
	}
}

// openRows matches tables whose rows have no closing tags.
var openRows = regexp.MustCompile(`(?s)<table class="t[ "].*?</table>`)

// closeRows adds the closing tags of fields and rows, as browsers do.
func closeRows(table string) string {
	var b strings.Builder
	field, row := "", false
	closeField := func() {
		if field != "" {
			b.WriteString("</" + field + ">")
		}
		field = ""
	}
	for _, token := range regexp.MustCompile(`<[^>]*>|[^<]+`).FindAllString(table, -1) {
		name, _, _ := strings.Cut(strings.Trim(token, "<>"), " ")
		switch name {
		case "tr", "/thead", "/tbody":
			closeField()
			if row {
				b.WriteString("</tr>")
			}
			row = name == "tr"
		case "td", "th":
			closeField()
			field = name
		}
		b.WriteString(token)
	}
	return b.String()
}

// isInner reports whether an element is a mark within a drawing.
func isInner(e xml.StartElement) bool {
	_, ok := attribute(e, "overflow")
	return ok
}

// text returns the text that a reader sees, with each run of white space as one space.
func text(t *testing.T, page string) string {
	t.Helper()
	page = raw.ReplaceAllString(page, "$1$2")
	return squeezed(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, "")))
}

func squeezed(s string) string { return strings.Join(strings.Fields(s), " ") }

func attribute(e xml.StartElement, name string) (string, bool) {
	i := slices.IndexFunc(e.Attr, func(a xml.Attr) bool { return a.Name.Local == name })
	if i < 0 {
		return "", false
	}
	return e.Attr[i].Value, true
}

// All elements are closed, ids are unique, each reference has its target in the page, and every
// picture is marked as an image or as hidden.
func TestPageIsWellFormed(t *testing.T) {
	for name, r := range map[string]*tare.Result{"whole": htmltest.Whole(), "synthetic": htmltest.Synthetic(5, 3, 12)} {
		ids, named := map[string]bool{}, []string{}
		headings := 0
		strictly(t, rendered(t, r, options()), func(e xml.StartElement) {
			if id, ok := attribute(e, "id"); ok {
				if ids[id] {
					t.Errorf("%s: two elements are called %s", name, id)
				}
				ids[id] = true
			}
			for _, by := range []string{"aria-labelledby", "for"} {
				if to, ok := attribute(e, by); ok {
					named = append(named, strings.Fields(to)...)
				}
			}
			if to, ok := attribute(e, "href"); ok {
				if !strings.HasPrefix(to, "#") { // of a link, or of a ground that rows refer to
					t.Errorf("%s: a link leaves the page: %s", name, to)
				}
				named = append(named, strings.TrimPrefix(to, "#"))
			}
			switch e.Name.Local {
			case "h1":
				headings++
			case "svg":
				role, _ := attribute(e, "role")
				hidden, _ := attribute(e, "aria-hidden")
				class, _ := attribute(e, "class")
				if role != "img" && hidden != "true" && class != "area" && !isInner(e) {
					t.Errorf("%s: a drawing without a text: %v", name, e.Attr)
				}
			case "th": // without a scope it is of its row, or in a row of heads of its column
				_, spans := attribute(e, "colspan")
				if scope, _ := attribute(e, "scope"); spans && scope == "" {
					t.Errorf("%s: a head of several columns without a scope", name)
				}
			}
		})
		assert.Equal(t, name+" h1", headings, 1)
		for _, to := range named {
			if !ids[to] {
				t.Errorf("%s: nothing is called %s", name, to)
			}
		}
	}
}

// hostile is put before every text of a result.
const hostile = `</script><script>a()</script></style></svg></title>"'><img src=x onerror=a()> onload=a() {{.Held}} <!-- ` + "]]> \x1b\u202e\u2028\xff\x00 &lt;b&gt; `"

// taint puts hostile before every text of v except those with a fixed set of values. The key is the
// JSON name of the field that holds v.
func taint(v reflect.Value, key string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			taint(v.Elem(), key)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
				taint(v.Field(i), name)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			taint(v.Index(i), key)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			x := v.MapIndex(k)
			if key == "samples" || key == "histograms" || key == "set" {
				v.SetMapIndex(k, reflect.Value{})
				v.SetMapIndex(reflect.ValueOf(hostile+k.String()), x)
			}
		}
	case reflect.String:
		ours := slices.Contains([]string{"schema", "metric", "metrics", "stopped", "flame"}, key) || v.Type() != reflect.TypeFor[string]()
		if s := v.String(); s != "" && !ours && s != tare.ControlID && s != tare.NullID {
			v.SetString(hostile + s)
		}
	}
}

// Every text of a result is shown as text; none becomes markup.
func TestHostileTextIsNoMarkup(t *testing.T) {
	clean := htmltest.Whole()
	count := map[string]int{}
	strictly(t, rendered(t, clean, options()), func(e xml.StartElement) { count[e.Name.Local]++ })
	r := htmltest.Whole()
	taint(reflect.ValueOf(r).Elem(), "")
	o := options()
	o.Explain = func(check string) string { return hostile + check }
	page := rendered(t, r, o)
	strictly(t, page, func(e xml.StartElement) {
		for _, a := range e.Attr {
			if strings.HasPrefix(a.Name.Local, "on") {
				t.Errorf("%s has %s", e.Name.Local, a.Name.Local)
			}
		}
		if e.Name.Local == "img" {
			if src, _ := attribute(e, "src"); !strings.HasPrefix(src, "data:") {
				t.Errorf("a picture from %s", src)
			}
		}
		count[e.Name.Local+" tainted"]++
	})
	for _, name := range []string{"script", "style", "img", "title", "symbol", "table", "figure"} {
		assert.Equal(t, name, count[name+" tainted"], count[name])
	}
	if n := strings.Count(page, "</script>"); n != 2 {
		t.Errorf("%d ends of scripts", n)
	}
	if i := strings.IndexAny(raw.ReplaceAllString(page, ""), "\x1b\x00\u202e\u2028"); i >= 0 {
		t.Errorf("a character that does not print: %q", page[max(i-80, 0):i+20])
	}
	if !strings.Contains(text(t, page), "<script>a()</script>") {
		t.Error("nothing hostile is shown, so nothing was tried")
	}
}

// Even the page of a large study stays small.
func TestSize(t *testing.T) {
	const most = 3_000_000
	sizes := []int{12} // control and null among them
	if os.Getenv("TARE_SOAK") == "1" {
		sizes = append(sizes, 14) // or besides, so that the document is shortened
	}
	for _, n := range sizes {
		r := htmltest.Synthetic(n, 12, 80)
		page := rendered(t, r, Options{})
		t.Logf("%d contenders, 12 workloads, 80 rounds: %s bytes", n, fmt.Sprint(len(page)))
		if len(page) >= most {
			t.Errorf("%d contenders: %d bytes, at most %d", n, len(page), most)
		}
	}
}

// Only the figures of rounds lose digits, and no digit that is printed changes.
func TestRounding(t *testing.T) {
	r := htmltest.Synthetic(4, 1, 8)
	short := roundResult(r)
	assert.Equal(t, "values", reflect.DeepEqual(short.Values, r.Values) && reflect.DeepEqual(short.Comparisons, r.Comparisons), true)
	worst := 0.0
	for i, e := range r.Rounds {
		for j, x := range e.Effects {
			if x == 0 {
				continue
			}
			worst = max(worst, math.Abs(short.Rounds[i].Effects[j]-x)/math.Abs(x))
		}
	}
	assert.Equal(t, "rounded", worst > 0 && worst < 1e-8, true)
	assert.Equal(t, "whole numbers", roundValue(12345678901234), 12345678901234.0)
	assert.Equal(t, "digits", roundValue(0.123456789123), 0.123456789)
}
