package gobench

import (
	"strings"

	"golang.org/x/tools/go/analysis/unitchecker"
)

// This file lets the program run as a tool of go vet. After go vet -vettool=$(which tare) ./...,
// the go command calls tare once for each package, with the path of a file vet.cfg. The rules then
// report their findings as go vet does.

// IsVetCall reports whether the go command calls this program for go vet -vettool.
func IsVetCall(args []string) bool {
	return len(args) > 0 && (args[0] == "-V=full" || args[0] == "-flags" || strings.HasSuffix(args[len(args)-1], "vet.cfg"))
}

// RunVet runs the rules as go vet -vettool requires (see [IsVetCall]), and ends the process.
func RunVet() { unitchecker.Main(newAnalyzers()...) }
