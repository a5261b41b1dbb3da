package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBeside(t *testing.T) {
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "a.txt")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	published := write("BenchmarkA_X-8 1000 45.15 ns/op 64 B/op 1 allocs/op\nBenchmarkB-8 10 9 ns/op\n")
	var out strings.Builder
	in := "goos: linux\nBenchmarkA_X-2 5 10 ns/op 192 B/op 2 allocs/op\nBenchmarkA_X-2 5 30 ns/op 192 B/op 2 allocs/op\nBenchmarkA_X-2 5 20 ns/op 192 B/op 2 allocs/op\nPASS\n"
	if err := printTables(published, nil, strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	want := in + "\n" + `benchmark             ns/op  B/op  allocs/op
A_X        published  45.15  64    1
           here       20     192   2
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	out.Reset()
	if err := printTables(published, []string{"with tests=" + write(in), "alone=" + write("BenchmarkC 1 7 ns/op\n")}, nil, &out); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"           with tests  20     192   2\n", "B          published   9      –     –\n", "C          alone       7      –     –\n"} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("no %q in\n%s", line, out.String())
		}
	}
	for in, why := range map[string]string{
		"FAIL\nBenchmarkA 1 2 ns/op\n": "the run failed",
		"PASS\n":                       "no line of a benchmark",
		"BenchmarkA 1 x ns/op\n":       `"x" is no figure of BenchmarkA`,
	} {
		if err := printTables(published, nil, strings.NewReader(in), &out); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %q", in, err, why)
		}
	}
	if err := printTables(published, []string{"alone"}, nil, &out); err == nil || !strings.Contains(err.Error(), "LABEL=FILE") {
		t.Error(err)
	}
}
