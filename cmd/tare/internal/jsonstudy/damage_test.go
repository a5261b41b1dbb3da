package jsonstudy

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestDamage: each kind of damage on one small document that has a place for all.
func TestDamage(t *testing.T) {
	const body = `{"a\"b":{"n":-1.5e2,"T":"x\"]","ok":true},"l":[null,[2]]}`
	want := map[string]string{
		"a cut-off end":              `{"a\"b":{"n":-1.5e2,"T":"x\"]","ok":true},"l":[null,[2]]`,
		"text after its end":         body + ` x`,
		"a key without quotes":       `{key:{"n":-1.5e2,"T":"x\"]","ok":true},"l":[null,[2]]}`,
		"an equals sign for a colon": `{"a\"b"={"n":-1.5e2,"T":"x\"]","ok":true},"l":[null,[2]]}`,
		"an array for an object":     `[1]`,
		"a trailing comma":           `{"a\"b":{"n":-1.5e2,"T":"x\"]","ok":true},"l":[null,[2]],}`,
		"every key twice":            body[:len(body)-1] + `,` + body[1:],
		"an object for an array":     `{"a\"b":{"n":-1.5e2,"T":"x\"]","ok":true},"l":{"a":1}}`,
		"null for an array":          `{"a\"b":{"n":-1.5e2,"T":"x\"]","ok":true},"l":null}`,
		"a number for a text":        `{"a\"b":{"n":-1.5e2,"T":1,"ok":true},"l":[null,[2]]}`,
		"null for a text":            `{"a\"b":{"n":-1.5e2,"T":null,"ok":true},"l":[null,[2]]}`,
		"a byte that is not UTF-8":   `{"a\"b":{"n":-1.5e2,"T":"` + "\xff" + `x\"]","ok":true},"l":[null,[2]]}`,
		"half a surrogate pair":      `{"a\"b":{"n":-1.5e2,"T":"\ud800x\"]","ok":true},"l":[null,[2]]}`,
		"an unknown escape":          `{"a\"b":{"n":-1.5e2,"T":"\xx\"]","ok":true},"l":[null,[2]]}`,
		"a control character":        `{"a\"b":{"n":-1.5e2,"T":"` + "\x01" + `x\"]","ok":true},"l":[null,[2]]}`,
		"a text for a number":        `{"a\"b":{"n":"1","T":"x\"]","ok":true},"l":[null,[2]]}`,
		"null for a number":          `{"a\"b":{"n":null,"T":"x\"]","ok":true},"l":[null,[2]]}`,
		"a fraction for a number":    `{"a\"b":{"n":1.5,"T":"x\"]","ok":true},"l":[null,[2]]}`,
		"a number beyond every type": `{"a\"b":{"n":1e999,"T":"x\"]","ok":true},"l":[null,[2]]}`,
		"a leading zero":             `{"a\"b":{"n":0-1.5e2,"T":"x\"]","ok":true},"l":[null,[2]]}`,
		"a text for a boolean":       `{"a\"b":{"n":-1.5e2,"T":"x\"]","ok":"true"},"l":[null,[2]]}`,
		"keys in upper case":         `{"a\"b":{"N":-1.5e2,"T":"x\"]","OK":true},"L":[null,[2]]}`,
	}
	for _, d := range damageDocument([]byte(body)) {
		if string(d.body) != want[d.damage] {
			t.Errorf("%s:\ngot  %s\nwant %s", d.damage, d.body, want[d.damage])
		}
		delete(want, d.damage)
	}
	for kind := range want {
		t.Errorf("no %s", kind)
	}
}

// FuzzDamage: the tokens of a document are where parseParts finds them, and no damage leaves a document
// as it is or breaks its line.
func FuzzDamage(f *testing.F) {
	for _, seed := range []string{`5`, `""`, `[]`, `{}`, `null`, `{"a":{"a":[{}]}}`, ` { "a" : [ 1 , "\\" ] , "b\\\"" : false } `, `["é","\u0022"]`, `[[],{},"",0]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) || !utf8.ValidString(text) || strings.ContainsAny(text, "\n\r") {
			t.Skip("the reader of documents refuses it, or changes its line ends")
		}
		for _, p := range parseParts([]byte(text)) {
			token := text[p.from:p.to]
			if _, isBracket := p.value.(json.Delim); isBracket {
				token = text[p.from:p.end]
			}
			if !json.Valid([]byte(token)) || strings.TrimSpace(token) != token {
				t.Errorf("%s: token %q", text, token)
			}
		}
		for _, d := range damageDocument([]byte(text)) {
			if string(d.body) == text || strings.ContainsAny(string(d.body), "\n\r") {
				t.Errorf("%s: %s: %s", text, d.damage, d.body)
			}
		}
	})
}

func TestDocumentsToDamage(t *testing.T) {
	large := `"` + strings.Repeat("x", maxDamagedBytes) + `"`
	larger := `"` + strings.Repeat("x", maxDamagedBytes+1) + `"`
	for name, tt := range map[string]struct {
		src  string
		want int
	}{
		"one":      {`{"a":1}`, 1},
		"large":    {large, 1},
		"some fit": {large + "\n1\n2\n", 2},
		"many":     {strings.Repeat("1\n", 100), maxDamaged},
	} {
		if got := chooseDamaged(docsOf(t, tt.src)); len(got) != tt.want {
			t.Errorf("%s: %d documents", name, len(got))
		}
	}
	if got := chooseDamaged(docsOf(t, larger+"\n"+large+"\n")); len(got) != 1 || string(got[0].Body) != large {
		t.Errorf("of two large documents: %d", len(got))
	}
}
