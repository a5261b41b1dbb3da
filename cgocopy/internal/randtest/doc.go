// Package randtest compares the generator with the C compiler: structs are
// declared at random, C fills them with known values, and generated Go has to
// find the same ones.
package randtest
