package figures

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// readDocument reads the file at path.
func readDocument(t *testing.T, path string) *document {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := readFile(path, f)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// The reports of each tool are read: those in testdata/outputs were printed by wrk, ab, hey
// and vegeta on a loopback server, and written in the form of oha, ghz, k6 and wrk2.
func TestReports(t *testing.T) {
	for file, want := range map[string]string{
		"wrk.txt":        "wrk c=10 n=35233 2.08s 16911/s mean=5.76ms max=126ms quantiles=4 errors=0",
		"wrk-errors.txt": "wrk c=10 n=33882 2.02s 16780/s mean=930µs max=43.2ms quantiles=0 errors=3352",
		"wrk2.txt":       "wrk2 c=100 n=59998 30s 2000/s mean=1.31ms max=9.81ms quantiles=5 errors=0 open",
		"ab-errors.txt":  "ab c=10 n=500 89ms 5646/s mean=2ms max=5ms quantiles=9 errors=53",
		"hey-errors.txt": "hey c=0 n=200 42.6ms 4692/s mean=5.6ms max=37.1ms quantiles=7 errors=17",
		"vegeta.txt":     "vegeta c=0 n=400 2s 180/s mean=1.74ms max=40.8ms quantiles=4 errors=41 open",
		"vegeta.json":    "vegeta c=0 n=400 2s 180/s mean=1.74ms max=40.8ms quantiles=4 errors=41 open",
		"oha.txt":        "oha c=0 n=147946 30s 4931/s mean=10.1ms max=1.2s quantiles=2 errors=13018",
		"oha.json":       "oha c=0 n=19820 20s 990/s mean=10.1ms max=410ms quantiles=6 errors=1982",
		"ghz.txt":        "ghz c=0 n=40000 8.1s 4938/s mean=9.9ms max=41.2ms quantiles=3 errors=0",
		"ghz.json":       "ghz c=10 n=5000 2.5s 2000/s mean=4.9ms max=41ms quantiles=3 errors=10",
		"k6.txt":         "k6 c=500 n=34266 0 ns 423/s mean=28.2ms max=1.27s quantiles=3 errors=62",
		"k6.json":        "k6 c=0 n=30000 0 ns 1000/s mean=12.5ms max=310ms quantiles=3 errors=300",
	} {
		d := readDocument(t, "testdata/outputs/"+file)
		if len(d.reports) != 1 {
			t.Errorf("%s: %d reports", file, len(d.reports))
			continue
		}
		l := d.reports[0]
		got := fmt.Sprintf("%s c=%.0f n=%.0f %s %.0f/s mean=%s max=%s quantiles=%d errors=%.0f", l.tool, l.connections.value, l.requests.value,
			strings.ReplaceAll(formatTime(l.duration.value), " ", ""), l.rate.value, strings.ReplaceAll(formatTime(l.meanLatency.value), " ", ""), strings.ReplaceAll(formatTime(l.maxLatency.value), " ", ""), len(l.quantiles), l.errorResponses.value)
		if l.isOpenLoop {
			got += " open"
		}
		if want = strings.ReplaceAll(want, "0 ns", "0ns"); got != want {
			t.Errorf("%s:\n%s, want\n%s", file, got, want)
		}
	}
}

// Benchmarks are read as go test prints them: with what the benchmark prints between, as
// events, and in runs.
func TestBenchmarks(t *testing.T) {
	const row = "BenchmarkA/x=1-8   \t 1000\t      1200 ns/op\t  64 B/op\t       2 allocs/op\n"
	for _, tt := range []struct{ text, want string }{
		{row + row, "A/x=1 1000×2 ns/op=1200 B/op=64 allocs/op=2"},
		{"BenchmarkA-2 \tlog line\n 10 5.5 ns/op\nok  \tm\t1s\n", "A 10×1 ns/op=5.5"},
		{"pkg: a\n" + row + "pkg: b\n" + row, "A/x=1 1000×1 ns/op=1200 B/op=64 allocs/op=2, A/x=1 1000×1 ns/op=1200 B/op=64 allocs/op=2"},
		{`{"Action":"output","Package":"m","Output":"BenchmarkA-2 \t"}` + "\n" + `{"Action":"output","Package":"m","Output":"10\t 5 ns/op\n"}` + "\n", "A 10×1 ns/op=5"},
		{"> ```\n> BenchmarkA-8 7 3 ns/op\n> ```\n", "A 7×1 ns/op=3"},
		{"BenchmarkA-16   32393 ns/op   402.40 MB/s   11965 B/op\n", "A 0×1 ns/op=32393 MB/s=402.4 B/op=11965"},
		{"BenchmarkA-32   1219080   142972   -88.27%\n", ""},
		{"Benchmarks are 3 times faster now\nBenchmarkA\n", ""},
	} {
		r := newReader("file")
		for line := range strings.Lines(tt.text) {
			if err := r.readLine(strings.TrimRight(line, "\n")); err != nil {
				t.Fatal(err)
			}
		}
		r.finishFile()
		var got []string
		for _, b := range r.doc.benches {
			one := fmt.Sprintf("%s %d×%d", b.name, b.iterations, b.runs)
			for _, v := range b.values {
				one += fmt.Sprintf(" %s=%v", v.unit, v.value)
			}
			got = append(got, one)
		}
		if got := strings.Join(got, ", "); got != tt.want {
			t.Errorf("%q:\n%s, want\n%s", tt.text, got, tt.want)
		}
	}
}

// Numbers keep their unit, their kind and the step of their last digit.
func TestParseQuantity(t *testing.T) {
	for text, want := range map[string]string{
		"91,882 ns": "9.1882e-05 1", "1.2ms": "0.0012 1", "0.05µs x": "5e-08 1", "44.4k": "44400 0", "2.5M ops/s": "2.5e+06 4", "450.23 [#/sec]": "450.23 4",
		"64 B/op": "64 2", "1.5 MiB": "1.57286e+06 2", "12 allocs/op": "12 3", "50%": "50 6", "2.02x": "2.02 7", "3×": "3 7", "1'000 req/s": "1000 4", "800 requests per second": "800 4",
		"7 apples": "7 0", "1.44MB/s": "1.44e+06 5",
	} {
		q, _, ok := parseQuantity(text)
		if got := fmt.Sprintf("%.6g %d", q.value, q.kind); !ok || got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"", "x", "-", "1,02", ".5"} {
		if q, _, ok := parseQuantity(text); ok {
			t.Errorf("%q: %+v", text, q)
		}
	}
}

// What is no text, or too much of one, is an error of one line with its place.
func TestHostile(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"BenchmarkA 1 5 ns/op\n\x00\x01", "file:2:1: not a text: it has a zero byte"},
		{"ok\n" + strings.Repeat("a", maxLine+1), "file:2:1: the line has more than 1048576 bytes"},
		{`{"a":` + strings.Repeat("[", 5000), "file:1:1: not a JSON document: it is nested more than 1000 deep"},
		{`{"a":"` + strings.Repeat("b", maxLine+10), "file:1:1: not a JSON document: a token of the JSON document has more than 1048576 bytes"},
		{"{\"a\":\n1", "file:2:1: the JSON document is cut off"},
		{"{a}", "file:1:1: not a JSON document: invalid character 'a'"},
		{"<html><p>" + strings.Repeat("b", maxLine+10), "file:1:1: a tag or text has more than 1048576 bytes"},
		{"\x1f\x8b\x08broken", "file: the file is damaged or cut off (gzip: unexpected EOF)"},
		{strings.Repeat("## x\n| a | b |\n|---|---|\n| 1 | 2 |\n\n", maxTables+2), "file:10005:1: more than 2000 tables; split the file"},
	} {
		_, err := new(Files).Read("file", strings.NewReader(tt.text))
		if err == nil || err.Error() != tt.want {
			t.Errorf("%.40q: %v, want %s", tt.text, err, tt.want)
		}
	}
	// What has no figures has no findings, and nothing is recognised.
	for _, text := range []string{"", "\n\n", "hello\n", "{}", `{"schema":"tare.result/1"}`, "# A heading\n\nText with 3 words.\n", "<html></html>", "package main\n\nfunc main() {}\n"} {
		if res, err := new(Files).Read("file", strings.NewReader(text)); err != nil || len(res.Findings) > 0 || len(res.Recognised) > 0 {
			t.Errorf("%q: %+v, %v", text, res, err)
		}
	}
}

// The command of a finding has the address, the connections and the benchmark that it is about,
// if a shell takes them as they are.
func TestCommands(t *testing.T) {
	for _, tt := range []struct{ text, rule, want string }{
		{"Running 10s test @ https://shop.example/a?b=$(c)\n  2 threads and 10 connections\n    Latency     9.90ms    2.00ms  42.00ms   90.00%\n  10000 requests in 10.00s, 12.00MB read\n  Non-2xx or 3xx responses: 950\nRequests/sec:   1000.00\n", "errors-left-out", loadCommand},
		{"Running 10s test @ https://shop.example:8443/a-b/7\n  2 threads and 10 connections\n    Latency     9.90ms    2.00ms  42.00ms   90.00%\n  10000 requests in 10.00s, 12.00MB read\n  Non-2xx or 3xx responses: 950\nRequests/sec:   1000.00\n", "errors-left-out", "tare load -c 10 -d 30s --rate 1000/s https://shop.example:8443/a-b/7"},
		{"## a\n\nSummary:\n  Average:\t0.01 secs\n  Requests/sec:\t100.5\n\n## b\n\nSummary:\n  Average:\t0.01 secs\n  Requests/sec:\t101.5\n", "single-run", compareCommand},
		{"BenchmarkA/x-8 1000 1050 ns/op\nBenchmarkB-8 1100 1010 ns/op\n", "single-run", benchAllCommand},
		{"BenchmarkA/x-8 1000 1051 ns/op\nBenchmarkB-8 1000 1051 ns/op\n", "identical-figures", "tare bench --base main --bench '^BenchmarkB$'"},
		{"BenchmarkA/x-8 1000 1051 ns/op\nBenchmarkB';-8 1000 1051 ns/op\n", "identical-figures", benchCommand},
	} {
		found := ofRule(read(t, tt.text), tt.rule)
		if len(found) != 1 || found[0].Command != tt.want {
			t.Errorf("%.60q: %+v, want %s", tt.text, found, tt.want)
		}
	}
}

// Memory does not grow with the runs of a benchmark or with prose.
func TestBoundedMemory(t *testing.T) {
	r := newReader("file")
	for i := range 50_000 {
		if err := r.readLine(fmt.Sprintf("BenchmarkA-8 1000 %d ns/op", i%977)); err != nil {
			t.Fatal(err)
		}
		if err := r.readLine("The log says that request 7 was slower by 3 ms than the one before it, which is no news."); err != nil {
			t.Fatal(err)
		}
		if err := r.readLine(""); err != nil {
			t.Fatal(err)
		}
	}
	r.finishFile()
	if len(r.doc.benches) != 1 || r.doc.benches[0].runs != 50_000 || len(r.doc.sentences) > maxSentences {
		t.Errorf("%d benchmarks, %d statements", len(r.doc.benches), len(r.doc.sentences))
	}
}

// Rules ask for each table and each sentence whether the page has a text; the page is searched once for each
// pattern.
func TestPageIsSearchedOnce(t *testing.T) {
	page := strings.Repeat("| a | time |\n|---|---|\n| x | 1 ms |\n\nThe time of x is 1 ms.\n\n", 50)
	doc, err := readFile("file", strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	doc.applyRules()
	patterns := len(doc.textMatches)
	doc.hasText(confidenceRE)
	if patterns == 0 || len(doc.textMatches) != patterns {
		t.Errorf("%d patterns are known, %d after one of them was asked for again", patterns, len(doc.textMatches))
	}
}
