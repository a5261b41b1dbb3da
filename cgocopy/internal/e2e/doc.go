// Package e2e tests the complete command with real compilers. It builds and runs the generated code, and
// checks the results.
package e2e
