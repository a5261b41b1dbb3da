package parallel_latency

import "testing"

var callRate int

// BenchmarkCallRate is the throughput of all goroutines; for the time of a single call see BenchmarkCall.
func BenchmarkCallRate(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		n := 0
		for pb.Next() {
			n += len("call")
		}
		callRate = n
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}
