package plan_test

import (
	"fmt"

	"github.com/tarebench/tare/internal/plan"
)

// Each of four contenders is once in each position and once after each other.
func ExampleWilliams() {
	for _, row := range plan.Williams(4) {
		fmt.Println(row)
	}
	// Output:
	// [0 1 3 2]
	// [1 2 0 3]
	// [2 3 1 0]
	// [3 0 2 1]
}
