// Package e2e holds the command as a whole, as its users run it, against real
// compilers: what is generated is built, run and looked at.
package e2e
