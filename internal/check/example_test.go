package check_test

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/check"
	"github.com/tarebench/tare/internal/evidence"
)

// A contender whose binary lacks a function it claims is void.
func ExampleRun() {
	in := check.Input{Evidence: evidence.Evidence{Contenders: []tare.Contender{{
		ID: "fast", Role: tare.RoleContender,
		Declared: tare.Declared{Identity: tare.Identity{ClaimedSymbols: []string{"MarshalFast"}, MissingSymbols: []string{"MarshalFast"}}},
	}}}}
	for _, f := range check.Run(in) {
		fmt.Println(f.Severity, f.Check, f.Contender+":", f.Message)
	}
	// Output: void identity fast: the binary lacks a function named like MarshalFast, which it is claimed to contain
}
