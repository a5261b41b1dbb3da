package hist_test

import (
	"fmt"
	"time"

	"github.com/tarebench/tare/load/hist"
)

// Two threads record separately, and their histograms are merged.
func Example() {
	var a, b hist.Hist
	for i := range int64(100) {
		a.Record(i * int64(time.Microsecond))
		b.Record(i * int64(time.Millisecond))
	}
	a.Merge(&b)
	fmt.Println(a.Count(), "values, none above", time.Duration(a.Max()))
	fmt.Println("three quarters within", time.Duration(a.Quantile(0.75)).Round(time.Millisecond))
	fmt.Println("above 50 ms:", a.Above(int64(50*time.Millisecond)))
	// Output:
	// 200 values, none above 99ms
	// three quarters within 49ms
	// above 50 ms: 49
}
