package cmdenv

import (
	"strings"
	"testing"
	"time"
)

// TestWrap: lines fit into a terminal of any width, but for words that do not.
func TestWrap(t *testing.T) {
	text := "eins zwei drei " + strings.Repeat("x", 50) + " µµµµ " + strings.Repeat("y ", 60)
	for _, c := range []struct{ columns, used, want int }{{40, 0, 40}, {50, 14, 36}, {60, 2, 58}, {80, 14, 66}, {0, 0, 96}, {0, 14, 96}, {10, 14, 20}} {
		got, longest := Wrap(text, c.columns, c.used), 0
		for _, l := range got {
			n := len([]rune(l))
			if n > c.want && strings.Contains(l, " ") {
				t.Errorf("%d columns less %d: %q", c.columns, c.used, l)
			}
			if strings.Contains(l, "y") {
				longest = max(longest, n)
			}
		}
		if longest < c.want-1 {
			t.Errorf("%d columns less %d: lines of %d at most", c.columns, c.used, longest)
		}
		if strings.Join(strings.Fields(strings.Join(got, " ")), " ") != strings.Join(got, " ") {
			t.Errorf("spaces: %q", got)
		}
	}
}

func TestBytesText(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 999949: "999.9 kB", 999999: "1.0 MB", 13400000: "13.4 MB", 8589934592: "8.6 GB"} {
		if got := BytesText(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 1234 * time.Millisecond: "1.23s", 12340 * time.Millisecond: "12s", 60 * time.Second: "1m",
		200 * time.Second: "3m20s", time.Hour: "1h", 3 * time.Millisecond: "0s",
	} {
		if got := Seconds(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
