package error_discarded

import (
	"strconv"
	"testing"
)

// wards has codes that no test checks.
var wards = []struct {
	name  string
	codes []string
}{
	{"general", []string{"10", "11"}},
	{"billing", []string{"1O", "II"}},
}

var code int

func TestParseOfWards(t *testing.T) {
	if _, err := strconv.ParseInt("10", 10, 64); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkWards(b *testing.B) {
	for _, w := range wards {
		b.Run(w.name, func(b *testing.B) {
			i := 0
			for b.Loop() {
				n, _ := strconv.ParseInt(w.codes[i%len(w.codes)], 10, 64) // want `no function that checks it reads wards`
				code = int(n)
				i++
			}
		})
	}
}

func BenchmarkTable(b *testing.B) {
	for _, tt := range []struct{ name, code string }{{"short", "1"}, {"billing", "1O"}} {
		b.Run(tt.name, func(b *testing.B) {
			for b.Loop() {
				n, _ := strconv.ParseInt(tt.code, 10, 64) // want `no function that checks it reads the texts of its table`
				code = int(n)
			}
		})
	}
}

// gaugeLines makes texts that no test checks.
func gaugeLines(n int) []string {
	var lines []string
	for i := range n {
		lines = append(lines, strconv.Itoa(i*i))
	}
	return lines
}

func BenchmarkLines(b *testing.B) {
	lines := gaugeLines(100)
	for b.Loop() {
		for _, line := range lines {
			n, _ := strconv.ParseInt(line, 10, 64) // want `no function that checks it reads what gaugeLines makes`
			code = int(n)
		}
	}
}

func BenchmarkNamedTable(b *testing.B) {
	cases := []struct{ name, code string }{{"short", "2"}, {"billing", "2O"}}
	for _, tt := range cases {
		b.Run(tt.name, func(b *testing.B) {
			for b.Loop() {
				n, _ := strconv.ParseInt(tt.code, 10, 64) // want `no function that checks it reads the texts of its table`
				code = int(n)
			}
		})
	}
}
