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
	p, err := readOutput(cachegrind, f)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]uint64{"example.com/shop.Price": 1600, "example.com/shop.(*Cart).Add[...]": 50, "runtime.mallocgc": 350, "???": 11}
	if got := sumFunctions(p); p.Total != 2011 || !maps.Equal(got, want) {
		t.Errorf("%d instructions, %v; want 2011, %v", p.Total, got, want)
	}
	if n := p.Places[Place{"example.com/shop.Price", "/src/shop/price.go", 13}]; n != 1200 {
		t.Errorf("line 13 of Price: %d, want 1200", n)
	}
}

// The count at a call site is that of the called functions: it is in no line of the caller. The
// lines of a file of callgrind have the counts that those of cachegrind have.
func TestReadCallgrind(t *testing.T) {
	f, err := os.Open("testdata/calls.out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := readOutput(callgrind, f)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]uint64{"example.com/shop.Price": 1600, "example.com/shop.(*Cart).Add[...]": 50, "runtime.mallocgc": 350, "???": 11}
	if got := sumFunctions(p); p.Total != 2011 || !maps.Equal(got, want) {
		t.Errorf("%d instructions, %v; want 2011, %v", p.Total, got, want)
	}
	calls := map[Call]uint64{
		{Place{"example.com/shop.Price", "/src/shop/price.go", 13}, "runtime.mallocgc"}:                  3,
		{Place{"example.com/shop.Price", "/src/shop/price.go", 14}, "example.com/shop.(*Cart).Add[...]"}: 2,
	}
	if !maps.Equal(p.Calls, calls) {
		t.Errorf("calls %v, want %v", p.Calls, calls)
	}
}

func TestReadCallgrindRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"events: Ir\ncfn=f\ncalls=x 1\n":                `line 3: "calls=x 1" is no number of calls of a function`,
		"events: Ir\ncalls=1 1\n":                       `line 2: "calls=1 1" is no number of calls of a function`,
		"events: Ir\nsummary: 3\ncfn=f\ncalls=1 1\n1 3": "line 5: its lines have 0 instructions, its summary 3",
	} {
		_, err := readOutput(callgrind, strings.NewReader(text))
		if err == nil || !strings.HasPrefix(err.Error(), "callgrind's output, "+want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
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
		"events: Ir\ncfn=f\ncalls=1 1\n1 2\nsummary: 0":            "line 3: \"calls=1 1\" is no number of calls",
		"events: Ir\nfn=" + strings.Repeat("x", maxLine) + "\n1 2": "line 2: longer than 1048576 bytes",
	} {
		_, err := readOutput(cachegrind, strings.NewReader(text))
		if err == nil || !strings.HasPrefix(err.Error(), "cachegrind's output, "+want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

// Whatever a file says, its counts add up to its total, or it is refused in one line.
func FuzzReadOutput(f *testing.F) {
	for _, file := range []string{"testdata/small.out", "testdata/calls.out"} {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), file == "testdata/calls.out")
	}
	f.Add("events: Ir\nfl=a\nfi=b\nfe=c\nfn=d\n1 2 3\n# x\n\r\nsummary: 2 3\n", false)
	f.Fuzz(func(t *testing.T, text string, hasCalls bool) {
		tool := cachegrind
		if hasCalls {
			tool = callgrind
		}
		p, err := readOutput(tool, strings.NewReader(text))
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("%q: an error of several lines: %q", text, err)
			}
			return
		}
		var sum uint64
		for _, n := range sumFunctions(p) {
			sum += n
		}
		if sum != p.Total {
			t.Errorf("%q: the functions have %d of %d instructions", text, sum, p.Total)
		}
	})
}

// sumFunctions returns the counts by function.
func sumFunctions(p *Profile) map[string]uint64 {
	all := map[string]uint64{}
	for place, n := range p.Places {
		all[place.Function] += n
	}
	return all
}
