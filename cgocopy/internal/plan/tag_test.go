package plan

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseTag(t *testing.T) {
	for text, want := range map[string]Tag{
		"-":                                {Skip: true},
		"":                                 {},
		"items":                            {Name: "items"},
		",len=n":                           {Len: "n"},
		"items, len=n , max=0x10":          {Name: "items", Len: "n", Max: 16},
		",utf8=error,string":               {UTF8: Refuse, String: true},
		",utf8=keep":                       {},
		",utf8=replace,bytes":              {UTF8: Replace, Bytes: true},
		",union=kind:0:i,1:f":              {On: "kind", Cases: map[int64]string{0: "i", 1: "f"}},
		",union=kind:-1:i, 0x2:f ,depth=3": {On: "kind", Cases: map[int64]string{-1: "i", 2: "f"}, Depth: 3},
		",opaque,enum":                     {Opaque: true, Enum: true},
		",free=list_free":                  {Free: "list_free"},
	} {
		got, err := ParseTag(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"len=n":               "begins with the name of a C member, or with a comma",
		",len":                "len without the member that counts",
		",len=":               "len without",
		",max=0":              "want a number above zero",
		",max=x":              "want a number above zero",
		",depth=-1":           "want a number above zero",
		",string=yes":         "string takes no value",
		",string,bytes":       "has both string and bytes",
		",utf8=maybe":         "want keep, replace or error",
		",union=kind":         "want the discriminant, a value and a member",
		",union=kind:x:i":     "is no value and member",
		",union=kind:0:":      "is no value and member",
		",union=kind:1:a,1:b": "value 1 is given twice",
		",wrong":              `unknown word "wrong"`,
		",free=":              "free without a C function",
	} {
		if _, err := ParseTag(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestParseCall(t *testing.T) {
	for text, want := range map[string]CallSpec{
		"f()":                                {C: "f"},
		" list ( out , len ) error ":         {C: "list", Params: []string{"out", "len"}, Result: Error},
		"f(x) error=why free=g(out, 1) as=F": {C: "f", Params: []string{"x"}, Result: Error, Text: "why", Free: "g", With: []string{"out", "1"}, As: "F"},
		"f(out)len free=free":                {C: "f", Params: []string{"out"}, Result: Len, Free: "free"},
		"f() ok":                             {C: "f", Result: OK},
		"f() out":                            {C: "f", Result: Out},
	} {
		got, err := ParseCall(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":                  "want FUNCTION(PARAMETER",
		"f":                 "want FUNCTION(PARAMETER",
		"f(out":             "want FUNCTION(PARAMETER",
		"1f()":              "want FUNCTION(PARAMETER",
		"f(a b)":            `"a b" is no name`,
		"f(,)":              `"" is no name`,
		"f() error ok":      `second word "ok"`,
		"f() wrong":         `word "wrong"`,
		"f() free=":         `word "free="`,
		"f() free=g(out":    "the bracket is not closed",
		"f() free=g;h":      "want a C function",
		"f() as=1":          `word "as=1"`,
		"f() error=system(": `word "error=system("`,
	} {
		if _, err := ParseCall(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// FuzzParseTag: no text brings it down, and what it understands is whole.
func FuzzParseTag(f *testing.F) {
	for _, text := range []string{"-", "items,len=n", ",union=kind:0:i,1:f,depth=2", ",utf8=error", ",max=9999999999999999999", "=,=,"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tag, err := ParseTag(text)
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Error("an error that says nothing")
			}
			return
		}
		if tag.Max < 0 || tag.Depth < 0 || tag.String && tag.Bytes || (tag.On == "") != (len(tag.Cases) == 0) || tag.Skip && text != "-" {
			t.Errorf("%q: %+v", text, tag)
		}
	})
}

// FuzzParseCall: no text brings it down, and names are such that C can have.
func FuzzParseCall(f *testing.F) {
	for _, text := range []string{"f(out, len) error=g free=h(out,1) as=F", "f()", "f(()", "f() free=g((", "ä(ö)"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCall(text)
		if err != nil {
			return
		}
		if !isIdentifier(c.C) || c.Free != "" && !isIdentifier(c.Free) || c.Text != "" && !isIdentifier(c.Text) {
			t.Errorf("%q: %+v", text, c)
		}
	})
}
