package load_test

import (
	"fmt"
	"time"

	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/load/hist"
)

// A busy load generator has measured only itself.
func ExampleAssess() {
	latency := new(hist.Hist)
	for range 50_000 {
		latency.Record(int64(time.Millisecond))
	}
	r := &load.Result{
		Connections: 10, Threads: 1, Wall: 5 * time.Second, Sent: 50_000, Requests: 50_000, Concurrency: 10,
		Latency: latency, Service: latency, CPU: 4900 * time.Millisecond,
	}
	a := load.Assess(r, load.Facts{})
	fmt.Println(a.Limit, a.Capacity)
	fmt.Println(a.Why)
	// Output:
	// client false
	// the load generator used 98 % of its 1 processor
}
