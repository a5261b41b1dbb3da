package parallel_latency

import "testing"

func BenchmarkAck(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() { // want `ns/op of a parallel loop is not a latency`
			acknowledge()
		}
	})
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns-to-ack")
}

func BenchmarkAcks(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			acknowledge()
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "acks/s")
}

//go:noinline
func acknowledge() {}
