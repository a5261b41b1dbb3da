package suggest

import (
	"strings"
	"testing"
)

func TestHint(t *testing.T) {
	known := []string{"encoding-json", "jsoniter-fastest", "jsoniter-compatible", "null", "sonic"}
	for got, want := range map[string]string{
		"encodng-json":       "did you mean encoding-json?",
		"Encoding-JSON":      "did you mean encoding-json?",
		"jsoniter":           "did you mean jsoniter-fastest or jsoniter-compatible?",
		"jsoniter-fastets":   "did you mean jsoniter-fastest?",
		"nul":                "did you mean null?",
		"completely-else":    "known: encoding-json, jsoniter-fastest, jsoniter-compatible, null, sonic",
		"":                   "known: encoding-json, jsoniter-fastest, jsoniter-compatible, null, sonic",
		"sonic-1.14-fastest": "did you mean sonic?",
	} {
		if h := Hint(got, known); h != want {
			t.Errorf("%q: %q, want %q", got, h, want)
		}
	}
	if h := Hint("zzzzzzzz", strings.Split(strings.Repeat("abcdefghi ", 20), " ")); h != "" {
		t.Errorf("too many names to list: %q", h)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"metric", "metrics", 1}, {"ab", "ba", 1}} {
		if got := editDistance(c.a, c.b); got != c.want || editDistance(c.b, c.a) != c.want {
			t.Errorf("%q to %q: %d, want %d both ways", c.a, c.b, got, c.want)
		}
	}
}
