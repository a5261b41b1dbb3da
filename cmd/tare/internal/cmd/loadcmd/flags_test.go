package loadcmd

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

func TestSplitWords(t *testing.T) {
	for text, want := range map[string][]string{
		"./srv -port $PORT":              {"./srv", "-port", "$PORT"},
		"  a\tb\n c ":                    {"a", "b", "c"},
		`a 'b c' "d e" f\ g ""`:          {"a", "b c", "d e", "f g", ""},
		`a 'it'"'"'s' "\"x\" \y \$Z"`:    {"a", "it's", `"x" \y $Z`},
		"srv --addr=127.0.0.1:${PORT}":   {"srv", "--addr=127.0.0.1:${PORT}"},
		`sh -c 'a | b > c; $X'`:          {"sh", "-c", "a | b > c; $X"},
		`'\'`:                            {`\`},
		"docker run -p $PORT:80 nginx:1": {"docker", "run", "-p", "$PORT:80", "nginx:1"},
	} {
		got, err := splitWords(text)
		if err != nil || fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "without a command", "  ": "without a command", "'' a": "without a command", "a 'b": "not closed", `a "b\"`: "not closed", `a \`: "backslash",
		"a | b": `"|" means something`, "a > b": `">" means`, "a & b": `"&" means`, "a; b": `";" means`, "$HOME/a": `"$" means`, "a `b`": "\"`\" means",
	} {
		if got, err := splitWords(text); cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
}

// Words that are quoted are split into what they were.
func FuzzSplitWords(f *testing.F) {
	f.Add("./srv", "-port $PORT", "it's")
	f.Add("a", "", `\"`)
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if a == "" {
			return
		}
		var quoted []string
		for _, w := range []string{a, b, c} {
			quoted = append(quoted, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
		}
		got, err := splitWords(strings.Join(quoted, " "))
		if err != nil || len(got) != 3 || got[0] != a || got[1] != b || got[2] != c {
			t.Fatalf("%q: %q, %v", quoted, got, err)
		}
		_, _ = splitWords(a)
	})
}

func TestServers(t *testing.T) {
	for name, c := range map[string]struct {
		args, start []string
		want        string // id url, …
	}{
		"one":                      {[]string{"http://127.0.0.1:1/x"}, nil, "127.0.0.1:1 http://127.0.0.1:1/x"},
		"several":                  {[]string{":1", ":2"}, nil, "127.0.0.1:1 :1, 127.0.0.1:2 :2"},
		"the same twice":           {[]string{":1", ":1"}, nil, "127.0.0.1:1 :1, 127.0.0.1:1-2 :1"},
		"started":                  {nil, []string{"./srv $PORT"}, "srv http://127.0.0.1:$PORT/"},
		"started, a path":          {[]string{"/x?y"}, []string{"./srv $PORT"}, "srv http://127.0.0.1:$PORT/x?y"},
		"started, and where":       {[]string{"http://localhost:$PORT/x"}, []string{"./srv $PORT"}, "srv http://localhost:$PORT/x"},
		"started at a fixed port":  {[]string{":8080/x"}, []string{"./srv"}, "srv :8080/x"},
		"two started":              {[]string{"/x"}, []string{"./old/srv $PORT", "./new/srv $PORT"}, "srv http://127.0.0.1:$PORT/x, srv-2 http://127.0.0.1:$PORT/x"},
		"one started and a server": {[]string{"/x", ":8080/x"}, []string{"a $PORT"}, "a http://127.0.0.1:$PORT/x, 127.0.0.1:8080 :8080/x"},
		"one started and two more": {[]string{":1", ":2"}, []string{"a $PORT"}, "a http://127.0.0.1:$PORT/, 127.0.0.1:1 :1, 127.0.0.1:2 :2"},
	} {
		list, err := parseServers(c.args, c.start)
		var got []string
		for _, s := range list {
			got = append(got, s.id+" "+s.url)
		}
		if err != nil || strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
	for want, c := range map[string][2][]string{
		"needs a URL":           {nil, nil},
		"a path without":        {{"/x"}, nil},
		"more than one path":    {{"/x", "/y"}, {"a $PORT"}},
		"is not a URL to load":  {{"ftp://x"}, nil},
		"a quote is not closed": {{"/x"}, {"a '"}},
		"not exactly one":       {{"http://127.0.0.1:$PORT/"}, {"a", "b"}},
	} {
		if _, err := parseServers(c[0], c[1]); cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", c, err, want)
		}
	}
}

func TestParseBandwidth(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "70mbit": 70e6, "1gbit/s": 1e9, "56kbit": 56e3, "1.5mbit": 1.5e6, "9600bit": 9600} {
		if got, err := parseBandwidth(text); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"70", "70Mb", "70MB/s", "-1mbit", "0bit", "2000gbit", "fast", "1e3bit", strings.Repeat("9", 400) + "bit"} {
		if got, err := parseBandwidth(text); cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.Contains(err.Error(), "e.g. 70mbit") {
			t.Errorf("%.20s: %d, %v", text, got, err)
		}
	}
}

func TestSegment(t *testing.T) {
	for budget, want := range map[time.Duration]time.Duration{10 * time.Second: time.Second, 96 * time.Second: 2 * time.Second, time.Hour: 10 * time.Second} {
		if got := segmentLength(budget, 2); got != want {
			t.Errorf("%v: segments of %v, want %v", budget, got, want)
		}
	}
}

// TestFlagsOfLoadHaveUses: a flag without declared uses would be refused, although
// given rightly, in each comparison and with --on.
func TestFlagsOfLoadHaveUses(t *testing.T) {
	Command(cmdenv.Env{}).Flags().VisitAll(func(f *pflag.Flag) {
		if _, declared := f.Annotations[usesKey]; !declared {
			t.Errorf("--%s has no uses beside it", f.Name)
		}
	})
}
