package counts

import (
	"maps"
	"os"
	"strings"
	"testing"
)

func TestReadCachegrind(t *testing.T) {
	f, err := os.Open("testdata/small.out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := ReadCachegrind(f)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]uint64{"example.com/shop.Price": 1600, "example.com/shop.(*Cart).Add[...]": 50, "runtime.mallocgc": 350, "???": 11}
	if got := p.Functions(); p.Total != 2011 || !maps.Equal(got, want) {
		t.Errorf("%d instructions, %v; want 2011, %v", p.Total, got, want)
	}
	if n := p.Places[Place{"example.com/shop.Price", "/src/shop/price.go", 13}]; n != 1200 {
		t.Errorf("line 13 of Price: %d, want 1200", n)
	}
}

func TestReadCachegrindRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "line 0: it ends without a summary: the program was stopped",
		"events: Ir\nfn=f\n1 2\n":        "line 3: it ends without a summary",
		"events: Ir\n1 2\nsummary: 3":    "line 3: its lines have 2 instructions, its summary 3",
		"events: Dr Ir\n1 2\nsummary: 2": "line 1: its first event is not Ir",
		"1 2\nsummary: 2":                "line 1: \"1 2\" is neither a heading nor a line with its count",
		"events: Ir\n1\nsummary: 0":      "line 2: \"1\" is neither",
		"events: Ir\n1 -2\nsummary: 0":   "line 2: \"1 -2\" is not a line with its count",
		"events: Ir\n-1 2\nsummary: 2":   "line 2: \"-1 2\" is not a line with its count",
		"events: Ir\n1 18446744073709551615\n1 1\nsummary: 0":      "line 3: more instructions than a number holds",
		"events: Ir\nsummary: many":                                "line 2: \"many\" is not a count",
		"events: Ir\nsummary:":                                     "line 2: an empty summary",
		"events: Ir\nfn=" + strings.Repeat("x", maxLine) + "\n1 2": "line 2: longer than 1048576 bytes",
	} {
		_, err := ReadCachegrind(strings.NewReader(text))
		if err == nil || !strings.HasPrefix(err.Error(), "cachegrind's output, "+want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

// Whatever a file says, its counts add up to its total, or it is refused in one line.
func FuzzReadCachegrind(f *testing.F) {
	small, err := os.ReadFile("testdata/small.out")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(small))
	f.Add("events: Ir\nfl=a\nfi=b\nfe=c\nfn=d\n1 2 3\n# x\n\r\nsummary: 2 3\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ReadCachegrind(strings.NewReader(text))
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("%q: an error of several lines: %q", text, err)
			}
			return
		}
		var sum uint64
		for _, n := range p.Functions() {
			sum += n
		}
		if sum != p.Total {
			t.Errorf("%q: the functions have %d of %d instructions", text, sum, p.Total)
		}
	})
}
