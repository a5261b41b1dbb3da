package format_test

import (
	"strings"
	"testing"

	"github.com/tarebench/tare/internal/format"
)

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 rounds", 1: "1 round", 2: "2 rounds", 1200: "1200 rounds"} {
		if got := format.Count(n, "round"); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{0: "0 %", 0.0456: "4.6 %", 0.664: "66 %", 0.04: "4 %", 0.0996: "10 %", 1.5: "150 %", 0.000123: "0.012 %"} {
		if got := format.Percent(share); got != want {
			t.Errorf("Percent(%v) = %q, want %q", share, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"  one\r\n\n  two\tthree \n": "one two three",
		"\x1b[31mred\x1b[0m":         "\uFFFD[31mred\uFFFD[0m",
		"a\xffb":                     "a\uFFFDb",
		"":                           "",
	} {
		if got := format.Line(text, 0); got != want {
			t.Errorf("Line(%q) = %q, want %q", text, got, want)
		}
	}
	if got := format.Line(strings.Repeat("ü", 300), format.LineLimit); got != strings.Repeat("ü", 200)+"…" {
		t.Errorf("%d bytes", len(got))
	}
}

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int64{"0B": 0, "512B": 512, "200MB": 200e6, "1.5 GiB": 3 << 29, "2kB": 2000, "3KiB": 3072, "0.5MiB": 512 << 10} {
		if n, err := format.ParseBytes(text); err != nil || n != want {
			t.Errorf("%q: %d, %v; want %d", text, n, err, want)
		}
	}
	for _, text := range []string{"", "x", "512", "1TB", "-1MB", "200mb", "1e9", "1 000", "1MB ", "NaN", "99999999999GB", "1.GB"} {
		if n, err := format.ParseBytes(text); err == nil {
			t.Errorf("%q is taken as %d", text, n)
		}
	}
}

func TestRatio(t *testing.T) {
	for x, want := range map[float64]string{0.4816: "0.482", 1: "1.000", 12.34: "12.3", 123.4: "123", 0.001234: "0.0012"} {
		if got := format.Ratio(x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
}

func TestKeepUnits(t *testing.T) {
	const text, want = "p50 39.6 µs, 2 sides, 84 % (78 MB); 3 s", "p50 39.6\u00a0µs, 2 sides, 84\u00a0% (78\u00a0MB); 3\u00a0s"
	if got := format.KeepUnits(text); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
