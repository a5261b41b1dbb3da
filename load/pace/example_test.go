package pace_test

import (
	"fmt"
	"time"

	"github.com/tarebench/tare/load/pace"
)

// A rate that increases: the gaps between requests shrink from 100 ms to 10 ms.
func ExampleParse() {
	p, err := pace.Parse("ramp:10/s..100/s", 10*time.Second)
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
