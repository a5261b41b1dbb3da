package figures

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// check fails if the findings or the error of a text cannot be printed: each is one line with
// a place in the text.
func check(t *testing.T, text string) {
	res, err := new(Files).Read("file", strings.NewReader(text))
	if err != nil {
		if strings.ContainsAny(err.Error(), "\r\n") || !strings.HasPrefix(err.Error(), "file:") {
			t.Fatalf("error %q", err)
		}
		return
	}
	lines := strings.Count(text, "\n") + strings.Count(text, "\r") + 1
	for _, f := range res.Findings {
		if f.Line < 0 || f.Line > lines {
			t.Fatalf("line %d of %d: %+v", f.Line, lines, f)
		}
		if f.What == "" || len(f.What) > 2000 || strings.ContainsFunc(f.What, func(r rune) bool { return unicode.IsControl(r) }) {
			t.Fatalf("%s: %q", f.Rule, f.What)
		}
	}
}

// addSeeds adds the examples of rules that have one of words, and planted faults that do.
func addSeeds(f *testing.F, words ...string) {
	add := func(text string) {
		for _, w := range words {
			if strings.Contains(text, w) && len(text) < 4000 {
				f.Add(text)
				return
			}
		}
	}
	for _, r := range Rules() {
		add(r.Bad)
		add(r.Good)
	}
	files, err := filepath.Glob("testdata/planted/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		add(string(text))
	}
}

// FuzzBenches reads the output of go test -bench and benchstat.
func FuzzBenches(f *testing.F) {
	addSeeds(f, "ns/op", "sec/op", "│")
	f.Add(`{"Action":"output","Package":"m","Output":"BenchmarkA-2 \t 10\t 5 ns/op\n"}` + "\n")
	f.Fuzz(check)
}

// FuzzReports reads the reports of load generators in text.
func FuzzReports(f *testing.F) {
	addSeeds(f, "Requests/sec", "Requests per second", "http_req", "Latencies", "Summary:")
	f.Fuzz(check)
}

// FuzzDocuments reads the reports of load generators in JSON.
func FuzzDocuments(f *testing.F) {
	f.Add(`{"latencies":{"mean":1738856,"50th":532817,"99th":29206545,"max":40816555,"min":113709},"duration":1995029977,"requests":400,"rate":200.4,"throughput":179.9,"success":0.8975}`)
	f.Add(`{"summary":{"requestsPerSec":10,"average":0.1,"total":3},"latencyPercentiles":{"p50":0.1,"p99.9":0.3},"statusCodeDistribution":{"200":30,"503":2},"errorDistribution":{"x":1}}`)
	f.Add(`{"count":200,"rps":10,"average":5,"total":7,"latencyDistribution":[{"percentage":99,"latency":4}],"options":{"concurrency":50},"details":[[[1]],{}]}`)
	f.Add(`{"metrics":{"http_req_duration":{"avg":1,"min":0,"max":3,"p(95)":2},"http_reqs":{"count":10,"rate":5},"http_req_failed":{"rate":0.1}}}`)
	f.Fuzz(func(t *testing.T, text string) { check(t, "{"+strings.TrimPrefix(text, "{")) })
}

// FuzzMarkdown reads pages in Markdown.
func FuzzMarkdown(f *testing.F) {
	addSeeds(f, "|---", "# ")
	f.Fuzz(check)
}

// FuzzHTML reads pages in HTML.
func FuzzHTML(f *testing.F) {
	addSeeds(f, "<html")
	f.Add("<html><h1>A</h1><pre>BenchmarkA 1 5 ns/op\n</pre><table><tr><th>a<th>ns/op</tr><tr><td>x</td><td>5</td></tr></table><p>a is 3x faster than b.")
	f.Fuzz(func(t *testing.T, text string) { check(t, "<html>"+text) })
}
