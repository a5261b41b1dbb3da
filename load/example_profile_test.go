package load_test

import (
	"fmt"
	"time"

	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/load/hist"
)

// A rate that grows: the gaps between requests shrink from 100 ms to 10 ms.
func ExampleParseProfile() {
	p, err := load.ParseProfile("ramp:10/s..100/s", 10*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v: %.0f requests in 10 s\n", p, p.Mean(10*time.Second)*10)
	for next, i := p.Times(0), 0; i < 4; i++ {
		fmt.Println(next().Round(time.Millisecond))
	}
	// Output:
	// ramp:10/s..100/s: 550 requests in 10 s
	// 0s
	// 96ms
	// 185ms
	// 268ms
}

// A load generator that is busy has measured itself.
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
