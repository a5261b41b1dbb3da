// Package e2e tests the complete command as its users run it, with real compilers: it builds and runs
// the generated code, and checks the results.
package e2e
