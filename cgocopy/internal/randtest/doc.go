// Package randtest compares the generator with the C compiler: it declares
// random structs, C fills them with known values, and the generated Go code must
// find the same values.
package randtest
